import { isConflict } from './errors.ts'
import { identifier, LAKE, type LakeConnection, literal } from './lake.ts'
import { LAKE_TABLES, type LakeTable, offsetsTable } from './tables.ts'

const ATTEMPTS = 10

/**
 * Creates what is missing: tables, their days, and columns that this version has and the lake has not. Rows of before have null there;
 * no file is rewritten. Columns that only a newer version knows stay, and get null from this one.
 */
export async function migrate(connection: LakeConnection, tables: readonly LakeTable[] = LAKE_TABLES): Promise<void> {
  // One look for all of them: each takes a while, and nearly always nothing is missing.
  const known = await allColumns(connection)
  for (const table of tables) {
    const existing = known.get(table.name)
    if (existing === undefined || table.columns.some(({ name }) => !existing.has(name)))
      await retryConflicts(() => ensureTable(connection, table))
  }
  if (known.has('holes')) return
  await retryConflicts(() =>
    connection.run(
      `CREATE TABLE IF NOT EXISTS ${LAKE}.holes (table_name VARCHAR, epoch INTEGER, kafka_partition INTEGER, from_offset BIGINT, to_offset BIGINT, found_ms BIGINT)`,
    ),
  )
}

async function ensureTable(connection: LakeConnection, table: LakeTable): Promise<void> {
  const existing = await columnsOf(connection, table.name)
  if (existing.size === 0) {
    await connection.transaction(async () => {
      const columns = table.columns.map(({ name, type }) => `${identifier(name)} ${type}`)
      await connection.run(`CREATE TABLE IF NOT EXISTS ${LAKE}.${identifier(table.name)} (${columns.join(', ')})`)
      await connection.run(`ALTER TABLE ${LAKE}.${identifier(table.name)} SET PARTITIONED BY (event_day)`)
      await connection.run(
        `ALTER TABLE ${LAKE}.${identifier(table.name)} SET SORTED BY (${table.sortedBy.map((name) => `${identifier(name)} ASC`)})`,
      )
    })
    return
  }
  for (const { name, type } of table.columns) {
    if (existing.has(name)) continue
    await connection.run(`ALTER TABLE ${LAKE}.${identifier(table.name)} ADD COLUMN IF NOT EXISTS ${identifier(name)} ${type}`)
  }
}

async function allColumns(connection: LakeConnection): Promise<Map<string, Set<string>>> {
  const rows = await connection.all<{ table_name: string; column_name: string }>(
    `SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = ${literal(LAKE)}`,
  )
  const columns = new Map<string, Set<string>>()
  for (const { table_name: table, column_name: column } of rows) columns.set(table, (columns.get(table) ?? new Set()).add(column))
  return columns
}

/** Names of a table's columns; empty when there is no such table. */
export async function columnsOf(connection: LakeConnection, table: string): Promise<Set<string>> {
  const rows = await connection.all<{ column_name: string }>(
    'SELECT column_name FROM duckdb_columns() WHERE database_name = ? AND table_name = ?',
    [LAKE, table],
  )
  return new Set(rows.map((row) => row.column_name))
}

/** Creates the offset of a partition, 0 in this epoch, when there is none. */
export async function ensureOffset(connection: LakeConnection, table: LakeTable, partition: number, epoch: number): Promise<void> {
  const name = `${LAKE}.${identifier(offsetsTable(table, partition))}`
  await retryConflicts(() =>
    connection.transaction(async () => {
      await connection.run(
        `CREATE TABLE IF NOT EXISTS ${name} (epoch INTEGER, next_offset BIGINT, row_count BIGINT, newest_arrival_ms BIGINT, newest_event_ms BIGINT)`,
      )
      const known = await connection.all(`SELECT 1 AS one FROM ${name} WHERE epoch = ?`, [epoch])
      if (known.length === 0) await connection.run(`INSERT INTO ${name} VALUES (?, 0, 0, NULL, NULL)`, [epoch])
    }),
  )
}

/** Runs `call` again when another writer came first. The call must be one that may be repeated. */
export async function retryConflicts<T>(call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call()
    } catch (error) {
      if (!isConflict(error) || attempt >= ATTEMPTS) throw error
      await new Promise((resolve) => setTimeout(resolve, 20 * attempt))
    }
  }
}
