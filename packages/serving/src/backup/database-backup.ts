import type { Readable } from 'node:stream'
import { to as copyTo } from 'pg-copy-streams'
import { type Client, Pool, type PoolOptions } from '../pool.ts'
import { describeTables, quoted, type TableDescription, tableName } from './describe.ts'

/** What a backup says of the database. */
export interface DatabaseDescription {
  /** Migrations that the product's schema has, with the digests of their texts. */
  readonly migrations: readonly { readonly number: number; readonly name: string; readonly sha256: string }[]
  readonly tables: readonly TableDescription[]
  /** Schema of the lake's catalog; null where there is no lake. */
  readonly lakeSchema: string | null
  /** Where the lake's files lie, as its catalog says; null without one. */
  readonly lakePath: string | null
  /** Files that any version of the lake that the catalog knows is made of, relative to that. */
  readonly lakeFiles: readonly string[]
}

/** Takes the rows of one table, in PostgreSQL's own text format of COPY. */
export type TakeRows = (table: TableDescription, rows: Readable) => Promise<void>

const KM0 = 'km0'

/**
 * Reads the product's schema and that of the lake's catalog as they stood at one moment: rows, offsets and the list of the lake's files belong
 * together. `take` is given the rows of each table. Nothing waits for it. Rejects with ServingUnavailableError while PostgreSQL is away.
 */
export async function dumpDatabase(options: PoolOptions, lakeSchema: string, take: TakeRows): Promise<DatabaseDescription> {
  const pool = new Pool({ ...options, maxConnections: 1 })
  try {
    return await pool.transaction('begin isolation level repeatable read, read only', async (client) => {
      await client.query('set local statement_timeout = 0')
      const hasLake = await isThere(client, lakeSchema, 'ducklake_metadata')
      const hasStore = await isThere(client, KM0, 'migration')
      if (!hasStore) throw new NothingToBackUpError('the database has no schema km0: nothing was ever stored there')
      const tables = await describeTables(client, hasLake ? [KM0, lakeSchema] : [KM0])
      for (const table of tables)
        await take(table, client.query(copyTo(`copy (select ${columnsOf(table)} from ${tableName(table)}) to stdout`)))
      const { rows: migrations } = await client.query('select number, name, sha256 from km0.migration order by number')
      const lake = hasLake ? await lakeOf(client, lakeSchema) : { lakeSchema: null, lakePath: null, lakeFiles: [] }
      return { migrations, tables, ...lake }
    })
  } finally {
    await pool.close()
  }
}

/** There is no platform in this database. */
export class NothingToBackUpError extends Error {
  override readonly name = 'NothingToBackUpError'
}

/** Columns as COPY wants them. */
export function columnsOf(table: TableDescription): string {
  return table.columns.map(({ name }) => quoted(name)).join(', ')
}

export async function isThere(client: Client, schema: string, table: string): Promise<boolean> {
  const { rows } = await client.query('select 1 from pg_tables where schemaname = $1 and tablename = $2', [schema, table])
  return rows.length > 0
}

/** Paths of DuckLake are relative to their table's, its to its schema's: https://ducklake.select/docs/stable/specification/tables/ducklake_data_file */
async function lakeOf(client: Client, schema: string): Promise<Pick<DatabaseDescription, 'lakeSchema' | 'lakePath' | 'lakeFiles'>> {
  const of = (table: string) => `${quoted(schema)}.${table}`
  const { rows: places } = await client.query<{ value: string }>(`select value from ${of('ducklake_metadata')} where key = 'data_path'`)
  const files = ['ducklake_data_file', 'ducklake_delete_file'].map(
    (table) => `select s.path || t.path || f.path as path, s.path_is_relative and t.path_is_relative and f.path_is_relative as relative
      from ${of(table)} f join (select distinct table_id, schema_id, path, path_is_relative from ${of('ducklake_table')}) t using (table_id)
      join (select distinct schema_id, path, path_is_relative from ${of('ducklake_schema')}) s using (schema_id)`,
  )
  const { rows } = await client.query<{ path: string; relative: boolean }>(
    `select distinct * from (${files.join(' union all ')}) x order by path`,
  )
  const absolute = rows.find(({ relative }) => !relative)
  if (absolute !== undefined) throw new Error(`the lake names ${absolute.path} by an absolute path, which a backup cannot move`)
  return { lakeSchema: schema, lakePath: places[0]?.value ?? null, lakeFiles: rows.map(({ path }) => path) }
}
