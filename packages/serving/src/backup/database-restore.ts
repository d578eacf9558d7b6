import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { from as copyFrom } from 'pg-copy-streams'
import { MIGRATION_TABLE } from '../migrate.ts'
import { MIGRATIONS } from '../migrations.ts'
import { type Client, Pool, type PoolOptions } from '../pool.ts'
import { columnsOf, type DatabaseDescription } from './database-backup.ts'
import { describeTables, inOrderOfKeys, quoted, type TableDescription, tableName } from './describe.ts'

/** The database is not one into which this backup can be put. The message says why. */
export class RestoreRefusedError extends Error {
  override readonly name = 'RestoreRefusedError'
}

export interface DatabaseRestore {
  readonly description: DatabaseDescription
  /** Rows of a table as the backup has them. */
  readonly rowsOf: (table: TableDescription) => Readable
  /** Put away whatever rows there are. */
  readonly replace: boolean
  /** Where the lake's files lie now, with a slash at its end; null: where they lay. */
  readonly lakePath: string | null
}

const KM0 = 'km0'

/** Throws RestoreRefusedError when rows would be lost, a program of ours is connected, or the backup is of a newer version than this one. */
export async function requireRestorable(
  options: PoolOptions,
  { description, replace }: Pick<DatabaseRestore, 'description' | 'replace'>,
): Promise<void> {
  requireKnown(description)
  await withPool(options, (pool) => pool.withClient((client) => requireRoom(client, description, replace)))
}

/**
 * Puts a backup's rows into the database: the schema of the version that made it, then its rows; all of it or nothing. Whoever opens the
 * store next brings the schema to its own version. Throws RestoreRefusedError.
 */
export async function restoreDatabase(options: PoolOptions, restore: DatabaseRestore): Promise<void> {
  const { description, rowsOf, replace, lakePath } = restore
  requireKnown(description)
  await withPool(options, (pool) =>
    pool.transaction('begin', async (client) => {
      await client.query('set local statement_timeout = 0')
      await requireRoom(client, description, replace)
      for (const schema of schemasOf(description)) await client.query(`drop schema if exists ${quoted(schema)} cascade`)
      await makeStore(client, description)
      if (description.lakeSchema !== null) await makeCatalog(client, description, description.lakeSchema)
      const ordered = await inOrderOfKeys(client, description.tables)
      const store = description.tables.filter(({ schema }) => schema === KM0)
      await client.query(`truncate ${store.map(tableName).join(', ')}`)
      for (const table of store) await client.query(`alter table ${tableName(table)} disable trigger user`)
      for (const table of ordered)
        await pipeline(rowsOf(table), client.query(copyFrom(`copy ${tableName(table)} (${columnsOf(table)}) from stdin`)))
      for (const table of store) await client.query(`alter table ${tableName(table)} enable trigger user`)
      for (const table of store) await goOnCounting(client, table)
      if (description.lakeSchema !== null && lakePath !== null)
        await client.query(`update ${quoted(description.lakeSchema)}.ducklake_metadata set value = $1 where key = 'data_path'`, [lakePath])
    }),
  )
}

async function withPool(options: PoolOptions, work: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = new Pool({ ...options, maxConnections: 1 })
  try {
    await work(pool)
  } finally {
    await pool.close()
  }
}

const schemasOf = ({ lakeSchema }: DatabaseDescription) => (lakeSchema === null ? [KM0] : [KM0, lakeSchema])

function requireKnown({ migrations }: DatabaseDescription): void {
  for (const { number, name, sha256 } of migrations) {
    const known = MIGRATIONS.find((migration) => migration.number === number)
    if (known === undefined)
      throw new RestoreRefusedError(
        `the backup has migration ${number} (${name}), which this version does not know: restore with a newer version`,
      )
    if (createHash('sha256').update(known.sql).digest('hex') !== sha256)
      throw new RestoreRefusedError(`migration ${number} (${name}) of the backup has another text: it was made by another program`)
  }
}

async function requireRoom(client: Client, description: DatabaseDescription, replace: boolean): Promise<void> {
  const { rows: programs } = await client.query<{ name: string }>(
    `select distinct application_name as name from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and application_name like 'km0-%' order by 1`,
  )
  if (programs.length > 0)
    throw new RestoreRefusedError(`programs are connected (${programs.map(({ name }) => name).join(', ')}): stop them, then restore`)
  if (replace) return
  for (const table of await describeTables(client, schemasOf(description))) {
    if (table.schema === KM0 && table.name === 'migration') continue
    const { rows } = await client.query(`select 1 from ${tableName(table)} limit 1`)
    if (rows.length > 0)
      throw new RestoreRefusedError(`the database holds rows (${table.schema}.${table.name}): restore into an empty one, or say --replace`)
  }
}

/** The schema as the migrations of the backup make it, with the partitions that its rows need. */
async function makeStore(client: Client, { migrations, tables }: DatabaseDescription): Promise<void> {
  await client.query(`create schema ${KM0}`)
  await client.query(MIGRATION_TABLE)
  const numbers = new Set(migrations.map(({ number }) => number))
  for (const { number, sql } of MIGRATIONS) if (numbers.has(number)) await client.query(sql)
  for (const table of tables) {
    for (const [name, bounds] of table.schema === KM0 ? Object.entries(table.partitions) : []) {
      // Bounds are what PostgreSQL itself wrote; a manifest that somebody has changed is not passed on as SQL.
      if (!/^FOR VALUES FROM \('?-?\d+'?\) TO \('?-?\d+'?\)$/.test(bounds)) throw new RestoreRefusedError(`bounds of ${name}: ${bounds}`)
      await client.query(`create table km0.${quoted(name)} partition of ${tableName(table)} ${bounds}`)
    }
  }
}

const TYPE = /^[a-z][a-z0-9 _(),[\]]*$/
const CONSTRAINT = /^(PRIMARY KEY|UNIQUE) \([\w", ]+\)$/

/** DuckLake makes its catalog's tables itself, in whatever version it has: they are made again as they were. */
async function makeCatalog(client: Client, { tables }: DatabaseDescription, schema: string): Promise<void> {
  await client.query(`create schema ${quoted(schema)}`)
  for (const table of tables.filter((each) => each.schema === schema)) {
    const wrong = [
      ...table.columns.map(({ type }) => type).filter((type) => !TYPE.test(type)),
      ...table.constraints.filter((text) => !CONSTRAINT.test(text)),
    ]
    if (wrong.length > 0) throw new RestoreRefusedError(`definition of ${tableName(table)}: ${wrong.join('; ')}`)
    const members = [
      ...table.columns.map(({ name, type, notNull }) => `${quoted(name)} ${type}${notNull ? ' not null' : ''}`),
      ...table.constraints,
    ]
    await client.query(`create table ${tableName(table)} (${members.join(', ')})`)
  }
}

/** Numbers go on after the greatest that was given. */
async function goOnCounting(client: Client, table: TableDescription): Promise<void> {
  for (const { name } of table.columns.filter(({ identity }) => identity)) {
    await client.query(
      `select setval(pg_get_serial_sequence($1, $2), (select coalesce(max(${quoted(name)}), 0) + 1 from ${tableName(table)}), false)`,
      [tableName(table), name],
    )
  }
}
