import { LakeNotInstalledError } from './errors.ts'

export type Engine = typeof import('@duckdb/node-api')

/**
 * DuckDB, loaded when the lake is opened and not before: programs that only may need it start without its 70 MB, and on machines for which
 * there is no binary.
 */
export async function loadEngine(): Promise<Engine> {
  try {
    return await import('@duckdb/node-api')
  } catch (error) {
    throw new LakeNotInstalledError(
      `DuckDB has no binary for this machine (${process.platform}-${process.arch}), or it was not installed: ` +
        `${error instanceof Error ? error.message : String(error)}. Everything else runs without the lake.`,
    )
  }
}
