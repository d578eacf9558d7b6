import { randomUUID } from 'node:crypto'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { DELTA_LOG_FILE, type DeltaFile, deltaLog } from './delta.ts'
import { identifier, LAKE, type Lake, type LakeConnection, literal } from './lake.ts'
import { flushInlined } from './maintenance.ts'
import { LAKE_TABLES, type LakeTable } from './tables.ts'

export interface ExportOptions {
  readonly table: LakeTable
  readonly format: 'parquet' | 'csv' | 'delta'
  /** Event time, `[fromMs, toMs)`; of dead letters arrival time. */
  readonly fromMs: number
  readonly toMs: number
  /** File to write, of `delta` folder; must not exist, the folder that holds it must. */
  readonly path: string
  /** Version of the lake; absent: the newest. */
  readonly snapshot?: number
}

export interface Exported {
  readonly rows: number
  /** Exactly the files that hold the rows, absolute. */
  readonly files: readonly string[]
}

/** Writes rows of a range: one file, or a Delta table with a file or more a day. */
export async function exportRows(lake: Lake, options: ExportOptions): Promise<Exported> {
  const { format, path } = options
  return lake.use(async (connection) => {
    if (format === 'delta') return exportDelta(connection, options)
    const layout = format === 'parquet' ? 'FORMAT parquet, COMPRESSION zstd' : 'FORMAT csv, HEADER'
    const rows = await connection.change(`COPY (${rowsOf(options)}) TO ${literal(path)} (${layout})`)
    return { rows, files: [path] }
  })
}

function rowsOf({ table, fromMs, toMs, snapshot }: ExportOptions): string {
  const source = `${LAKE}.${identifier(table.name)}${snapshot === undefined ? '' : ` AT (VERSION => ${Math.trunc(snapshot)})`}`
  const time = table.name.endsWith('dead_letters') ? 'arrival_ms' : 'event_ms'
  // Columns of this version, in its order: those that a newer one has added are not in its schema.
  const columns = table.columns.map(({ name }) => identifier(name)).join(', ')
  return `SELECT ${columns} FROM ${source} WHERE ${time} >= ${Math.ceil(fromMs)} AND ${time} < ${Math.ceil(toMs)}
    ORDER BY ${table.sortedBy.map(identifier).join(', ')}`
}

/** Files first, the log of the table last: a folder whose export was cut short is no table. */
async function exportDelta(connection: LakeConnection, options: ExportOptions): Promise<Exported> {
  const { table, path } = options
  const layout = 'FORMAT parquet, COMPRESSION zstd, PARTITION_BY (event_day), RETURN_STATS'
  const written = await connection.all<{ filename: string; count: bigint }>(`COPY (${rowsOf(options)}) TO ${literal(path)} (${layout})`)
  const files = written.map(({ filename, count }): DeltaFile => {
    const { size, mtimeMs } = statSync(filename)
    const name = relative(path, filename).split(sep).join('/')
    const day = /^event_day=(\d{4}-\d{2}-\d{2})\//.exec(name)?.[1]
    if (day === undefined) throw new Error(`${filename} is in no folder of a day`)
    return { path: name, rows: Number(count), bytes: size, modifiedMs: Math.trunc(mtimeMs), day }
  })
  mkdirSync(join(path, '_delta_log'), { recursive: true })
  writeFileSync(join(path, '_delta_log', DELTA_LOG_FILE), deltaLog({ table, files, id: randomUUID(), createdMs: Date.now() }))
  return { rows: files.reduce((sum, file) => sum + file.rows, 0), files: written.map(({ filename }) => filename) }
}

/**
 * The Parquet files that make up a table now, for engines that read files: an exact list, where a pattern over the folder would also
 * find files that are no longer or not yet part of it. What still stands in the catalog is written into files first.
 */
export async function exactFiles(lake: Lake, table: LakeTable): Promise<string[]> {
  await flushInlined(lake)
  const rows = await lake.use((connection) =>
    connection.all<{ data_file: string }>(
      `SELECT data_file FROM ducklake_list_files(${literal(LAKE)}, ${literal(table.name)}) ORDER BY ALL`,
    ),
  )
  return rows.map((row) => row.data_file)
}

/** The table of that name; null when there is none. */
export function tableNamed(name: string): LakeTable | null {
  return LAKE_TABLES.find((table) => table.name === name) ?? null
}
