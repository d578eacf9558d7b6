import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { openPgPool } from '@km0/serving/pool'

type Pool = ReturnType<typeof openPgPool>

/** A lake as it stood: its catalog in PostgreSQL and its files. */
interface RecordedLake {
  readonly tables: readonly RecordedTable[]
  /** Base64, by path within the lake's folder. */
  readonly files: Readonly<Record<string, string>>
}

interface RecordedTable {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  /** Definitions of primary keys and the like. */
  readonly constraints: readonly string[]
  /** Values as text. */
  readonly rows: readonly (readonly (string | null)[])[]
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** Writes a lake into one compressed file. */
export async function recordLake(pool: Pool, schema: string, dataPath: string, file: string): Promise<void> {
  const { rows: names } = await pool.query<{ name: string; oid: number }>(
    `select relname as name, oid::int from pg_class where relnamespace = $1::regnamespace and relkind = 'r' order by relname`,
    [schema],
  )
  const tables: RecordedTable[] = []
  for (const { name, oid } of names) {
    const { rows: columns } = await pool.query<{ name: string; type: string }>(
      `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute where attrelid = $1 and attnum > 0 and not attisdropped order by attnum`,
      [oid],
    )
    const { rows: constraints } = await pool.query<{ text: string }>(
      `select pg_get_constraintdef(oid) as text from pg_constraint where conrelid = $1 and contype in ('p', 'u')`,
      [oid],
    )
    const select = columns.map((column) => `${quoted(column.name)}::text`).join(', ')
    const { rows } = await pool.query({ text: `select ${select} from ${quoted(schema)}.${quoted(name)}`, rowMode: 'array' })
    tables.push({ name, columns, constraints: constraints.map(({ text }) => text), rows })
  }
  const paths = readdirSync(dataPath, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = Object.fromEntries(
    paths.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path.slice(dataPath.length + 1), readFileSync(path).toString('base64')]
    }),
  )
  writeFileSync(file, gzipSync(JSON.stringify({ tables, files } satisfies RecordedLake), { level: 9 }))
}

/** Puts a recorded lake into a schema and a folder that are not there yet. Resolves with the columns of its table of positions. */
export async function restoreLake(
  pool: Pool,
  schema: string,
  dataPath: string,
  file: string,
): Promise<readonly { readonly name: string }[]> {
  const { tables, files } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as RecordedLake
  for (const [path, base64] of Object.entries(files)) {
    mkdirSync(dirname(join(dataPath, path)), { recursive: true })
    writeFileSync(join(dataPath, path), Buffer.from(base64, 'base64'))
  }
  await pool.query(`create schema ${quoted(schema)}`)
  for (const { name, columns, constraints, rows } of tables) {
    const table = `${quoted(schema)}.${quoted(name)}`
    const members = [...columns.map((column) => `${quoted(column.name)} ${column.type}`), ...constraints]
    await pool.query(`create table ${table} (${members.join(', ')})`)
    const values = columns.map((column, index) => `$${index + 1}::text::${column.type}`).join(', ')
    for (const row of rows) await pool.query(`insert into ${table} values (${values})`, [...row])
  }
  await pool.query(`update ${quoted(schema)}.ducklake_metadata set value = $1 where key = 'data_path'`, [`${dataPath}/`])
  const { rows } = await pool.query<{ name: string }>(
    `select c.column_name as name from ${quoted(schema)}.ducklake_column c join ${quoted(schema)}.ducklake_table t using (table_id)
     where t.table_name = 'positions' and t.end_snapshot is null and c.end_snapshot is null`,
  )
  return rows
}
