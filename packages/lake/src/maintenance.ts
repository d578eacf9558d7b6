import { isConflict } from './errors.ts'
import { identifier, LAKE, type Lake, type LakeConnection, literal } from './lake.ts'
import type { LakeSettings } from './settings.ts'
import { dayOf, LAKE_TABLES } from './tables.ts'

/** Name under which the catalog's own tables are attached. */
const CATALOG = 'lake_catalog'

export interface MaintenanceSettings {
  /**
   * Snapshots older than this are forgotten: how far time travel reaches. Far longer than any append takes: a commit is compared with those
   * that came since it began, and they must still be there.
   */
  readonly keepSnapshotsMs: number
  /** Files that no snapshot needs any more are deleted so long after; a reader of an old snapshot has that time to finish. */
  readonly keepFilesMs: number
  /** Rows of older event days are deleted; absent: rows stay for ever. */
  readonly keepRowsMs?: number
}

export interface MaintenanceReport {
  /** Rows whose days are over. */
  readonly deletedRows: number
  readonly flushedRows: number
  readonly mergedFiles: number
  readonly expiredSnapshots: number
  readonly deletedFiles: number
  readonly deletedOrphans: number
  /** Steps that another writer came before; the next round does them. */
  readonly postponed: readonly string[]
}

/** Writes what is inlined in the catalog into Parquet files. Returns the number of rows. */
export async function flushInlined(lake: Lake): Promise<number> {
  return lake.use(async (connection) => {
    let rows = 0
    for (const table of LAKE_TABLES) rows += (await flushTable(connection, table.name)) ?? 0
    return rows
  })
}

/** null when another writer came first. */
async function flushTable(connection: LakeConnection, table: string): Promise<number | null> {
  const flushed = await orPostponed(() =>
    connection.all<{ rows_flushed: bigint }>(`CALL ducklake_flush_inlined_data(${literal(LAKE)}, table_name => ${literal(table)})`),
  )
  return flushed === null ? null : flushed.reduce((sum, row) => sum + Number(Object.values(row).at(-1) ?? 0), 0)
}

/**
 * One round of maintenance, beside writers and readers: inlined rows become files, small files of a day one, old snapshots are forgotten,
 * files that nobody needs are deleted, also those that a killed writer left.
 */
export async function maintain(lake: Lake, settings: MaintenanceSettings, nowMs: number): Promise<MaintenanceReport> {
  return lake.use(async (connection) => {
    const postponed: string[] = []
    const step = async (name: string, sql: string): Promise<Record<string, unknown>[]> => {
      const rows = await orPostponed(() => connection.all<Record<string, unknown>>(sql))
      if (rows === null) postponed.push(name)
      return rows ?? []
    }
    const deletedRows = settings.keepRowsMs === undefined ? 0 : await dropOldDays(connection, dayOf(nowMs - settings.keepRowsMs))
    let flushedRows = 0
    for (const table of LAKE_TABLES) {
      const rows = await flushTable(connection, table.name)
      if (rows === null) postponed.push(`flush ${table.name}`)
      flushedRows += rows ?? 0
    }
    // A file whose rows are all deleted one by one is still a file.
    for (const { name } of deletedRows > 0 ? LAKE_TABLES : []) await step(`rewrite ${name}`, rewriteStatement(name, 0.9))
    const merged: Record<string, unknown>[] = []
    for (const { name } of LAKE_TABLES) {
      merged.push(...(await step(`merge ${name}`, `CALL ducklake_merge_adjacent_files(${literal(LAKE)}, ${literal(name)})`)))
    }
    const snapshotsBefore = instant(nowMs - settings.keepSnapshotsMs)
    const filesBefore = instant(nowMs - settings.keepFilesMs)
    const expired = await step('expire', `CALL ducklake_expire_snapshots(${literal(LAKE)}, older_than => ${snapshotsBefore})`)
    await forgetOldOffsets(connection, lake.settings)
    const cleaned = await step('clean up', `CALL ducklake_cleanup_old_files(${literal(LAKE)}, older_than => ${filesBefore})`)
    const orphans = await step('orphans', `CALL ducklake_delete_orphaned_files(${literal(LAKE)}, older_than => ${filesBefore})`)
    return {
      deletedRows,
      flushedRows,
      mergedFiles: sumOf(merged, 'files_processed'),
      expiredSnapshots: expired.length,
      deletedFiles: cleaned.length,
      deletedOrphans: orphans.length,
      postponed,
    }
  })
}

/** Deletes the days before `day`; whole files go without being read. Returns the number of rows. */
async function dropOldDays(connection: LakeConnection, day: number): Promise<number> {
  let rows = 0
  for (const table of LAKE_TABLES) {
    const sql = `DELETE FROM ${LAKE}.${identifier(table.name)} WHERE event_day < DATE '1970-01-01' + ${Math.trunc(day)}`
    rows += (await orPostponed(() => connection.change(sql))) ?? 0
  }
  return rows
}

/**
 * Every append leaves an old version of an offset behind, as a row of the catalog that no snapshot shows any more. Those rows are deleted
 * there, and nothing else is done to offsets: they never become files. DuckLake's rewriting of files does not see a deletion that another
 * transaction makes meanwhile, and would bring an old offset back (seen with 1.5.5).
 */
async function forgetOldOffsets(connection: LakeConnection, settings: LakeSettings): Promise<void> {
  const schema = await catalogSchemaOf(connection, settings)
  const tables = await connection.all<{ name: string }>(
    `SELECT i.table_name AS name FROM ${schema}.ducklake_inlined_data_tables i JOIN ${schema}.ducklake_table t ON t.table_id = i.table_id
      WHERE starts_with(t.table_name, 'offsets_')`,
  )
  const [oldest] = await connection.all<{ id: number | null }>(`SELECT min(snapshot_id)::DOUBLE AS id FROM ${schema}.ducklake_snapshot`)
  if (oldest === undefined || oldest.id === null) return
  for (const { name } of tables) await connection.run(`DELETE FROM ${schema}.${identifier(name)} WHERE end_snapshot <= ${oldest.id}`)
}

/** Attaches the catalog's own tables. Returns the schema that they are in, as it is written in SQL. */
export async function catalogSchemaOf(
  connection: LakeConnection,
  { catalogUrl, catalogSchema }: Pick<LakeSettings, 'catalogUrl' | 'catalogSchema'>,
): Promise<string> {
  await connection.run(`ATTACH IF NOT EXISTS ${literal(catalogUrl)} AS ${CATALOG} (TYPE postgres)`)
  return `${CATALOG}.${identifier(catalogSchema)}`
}

/** Writes the files anew of which more than `threshold` is deleted. */
export function rewriteStatement(table: string, threshold: number): string {
  return `CALL ducklake_rewrite_data_files(${literal(LAKE)}, ${literal(table)}, delete_threshold => ${threshold})`
}

function sumOf(rows: readonly Record<string, unknown>[], name: string): number {
  return rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0)
}

async function orPostponed<T>(call: () => Promise<T>): Promise<T | null> {
  try {
    return await call()
  } catch (error) {
    if (isConflict(error)) return null
    throw error
  }
}

function instant(ms: number): string {
  return `to_timestamp(${ms / 1000})`
}
