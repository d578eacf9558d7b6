import { identifier, type LakeConnection } from './lake.ts'
import type { Column, LakeRow, LakeTable } from './tables.ts'

/** Rows that DuckDB takes in one chunk. */
const CHUNK_ROWS = 2_048

/** Integers pass as doubles, exact below 2^53, so that no value becomes a BigInt on the way. */
const STAGED = { INTEGER: 'INTEGER', BIGINT: 'DOUBLE', DOUBLE: 'DOUBLE', VARCHAR: 'VARCHAR', DATE: 'INTEGER' } as const satisfies Record<
  Column['type'],
  string
>

/**
 * Brings rows into the engine's memory, outside any transaction of the lake: an INSERT … SELECT then takes them in one statement, and
 * an attempt that failed finds them still there.
 */
export class Staging {
  readonly #connection: LakeConnection
  readonly #table: LakeTable
  readonly #name: string
  #ready = false

  constructor(connection: LakeConnection, table: LakeTable, owner: string) {
    this.#connection = connection
    this.#table = table
    this.#name = `staged_${table.name}_${owner}`
  }

  async fill(rows: readonly LakeRow[]): Promise<void> {
    const name = `memory.main.${identifier(this.#name)}`
    if (!this.#ready) {
      const columns = this.#table.columns.map((column) => `${identifier(column.name)} ${STAGED[column.type]}`)
      await this.#connection.run(`CREATE OR REPLACE TABLE ${name} (${columns.join(', ')})`)
      this.#ready = true
    } else await this.#connection.run(`TRUNCATE ${name}`)
    const appender = await this.#connection.duckdb.createAppender(this.#name, 'main', 'memory')
    try {
      const { engine } = this.#connection
      const types = this.#table.columns.map((column) => engine[STAGED[column.type]])
      for (let start = 0; start < rows.length; start += CHUNK_ROWS) {
        const part = rows.slice(start, start + CHUNK_ROWS)
        const chunk = engine.DuckDBDataChunk.create(types, part.length)
        for (let k = 0; k < types.length; k += 1) chunk.setColumnValues(k, columnValues(part, k))
        appender.appendDataChunk(chunk)
      }
      appender.flushSync()
    } finally {
      appender.closeSync()
    }
  }

  /** The statement that takes the staged rows into the lake. */
  insertStatement(lake: string): string {
    const names = this.#table.columns.map((column) => identifier(column.name))
    const values = this.#table.columns.map(({ name, type }) =>
      type === 'DATE' ? `DATE '1970-01-01' + ${identifier(name)}` : `${identifier(name)}::${type}`,
    )
    return (
      `INSERT INTO ${lake}.${identifier(this.#table.name)} (${names.join(', ')}) ` +
      `SELECT ${values.join(', ')} FROM memory.main.${identifier(this.#name)}`
    )
  }

  async empty(): Promise<void> {
    if (this.#ready) await this.#connection.run(`TRUNCATE memory.main.${identifier(this.#name)}`)
  }
}

function columnValues(rows: readonly LakeRow[], index: number): (string | number | null)[] {
  return rows.map((row) => row[index] ?? null)
}
