import { identifier, LAKE, type Lake, literal } from './lake.ts'
import { flushInlined } from './maintenance.ts'
import { LAKE_TABLES, type LakeTable } from './tables.ts'

export interface ExportOptions {
  readonly table: LakeTable
  readonly format: 'parquet' | 'csv'
  /** Event time, `[fromMs, toMs)`; of dead letters arrival time. */
  readonly fromMs: number
  readonly toMs: number
  /** File to write; must not exist, its folder must. */
  readonly file: string
  /** Version of the lake; absent: the newest. */
  readonly snapshot?: number
}

/** Writes rows of a range into one file. Returns their number. */
export async function exportRows(lake: Lake, options: ExportOptions): Promise<number> {
  const { table, format, file } = options
  const source = `${LAKE}.${identifier(table.name)}${options.snapshot === undefined ? '' : ` AT (VERSION => ${Math.trunc(options.snapshot)})`}`
  const time = table.name.endsWith('dead_letters') ? 'arrival_ms' : 'event_ms'
  const rows = `SELECT * FROM ${source} WHERE ${time} >= ${Math.ceil(options.fromMs)} AND ${time} < ${Math.ceil(options.toMs)}
    ORDER BY ${table.sortedBy.map(identifier).join(', ')}`
  const layout = format === 'parquet' ? 'FORMAT parquet, COMPRESSION zstd' : 'FORMAT csv, HEADER'
  return lake.use((connection) => connection.change(`COPY (${rows}) TO ${literal(file)} (${layout})`))
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
