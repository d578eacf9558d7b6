import type { Client } from './pool.ts'

/** A column of a bulk write: its name, its type in SQL, and its values, one a row. */
export interface Column {
  readonly name: string
  readonly type: 'text' | 'bigint' | 'integer' | 'boolean' | 'double precision'
  readonly values: readonly unknown[]
}

/** Writes many rows in one statement: one array parameter a column. `conflict` is what stands after ON CONFLICT; the table is named `t` there. */
export async function bulkInsert(client: Client, table: string, columns: readonly Column[], conflict: string): Promise<number> {
  if ((columns[0]?.values.length ?? 0) === 0) return 0
  const names = columns.map((column) => column.name).join(', ')
  const arrays = columns.map((column, index) => `$${index + 1}::${column.type}[]`).join(', ')
  const result = await client.query(`insert into km0.${table} as t (${names}) select * from unnest(${arrays}) on conflict ${conflict}`, [
    ...columns.map((column) => column.values),
  ])
  return result.rowCount ?? 0
}

/** `set a = excluded.a, …` for an upsert that replaces these columns. */
export function replacing(names: readonly string[]): string {
  return names.map((name) => `${name} = excluded.${name}`).join(', ')
}
