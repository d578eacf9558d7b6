import type { Depot, RegisteredVan } from '@km0/contracts'
import { bulkInsert, replacing } from './bulk-insert.ts'
import type { Client, Pool } from './pool.ts'

/** A row of a file that was read, and the line where it stands. */
export interface Numbered<Row> {
  readonly line: number
  readonly row: Row
}

/** What is wrong with a file, by line. Nothing of it was stored. */
export class RegisterImportError extends Error {
  override readonly name = 'RegisterImportError'
  readonly problems: readonly { readonly line: number; readonly problem: string }[]
  constructor(problems: readonly { readonly line: number; readonly problem: string }[]) {
    super(`${problems.length} line(s) cannot be imported, so none was`)
    this.problems = problems
  }
}

/** How many rows were new, changed, or as they are already. Rows that the file does not name stay. */
export interface ImportCounts {
  readonly added: number
  readonly changed: number
  readonly same: number
}

/** Puts depots into the register: all of them or none. Throws RegisterImportError. */
export function importDepots(pool: Pool, rows: readonly Numbered<Depot>[]): Promise<ImportCounts> {
  return pool.transaction('begin', (client) => putDepots(client, rows))
}

/** The same within a transaction of the caller's. */
export async function putDepots(client: Client, rows: readonly Numbered<Depot>[]): Promise<ImportCounts> {
  refuseTwins(rows, (depot) => depot.id, 'depot')
  const sorted = rows.map(({ row }) => row).sort((a, b) => (a.id < b.id ? -1 : 1))
  const before = await count(
    client,
    'depot',
    'id',
    sorted.map((depot) => depot.id),
  )
  let written = 0
  // One statement a depot: a list of markets does not go into an array of a column.
  for (const depot of sorted) {
    const result = await client.query(
      `insert into km0.depot as t (id, name, lat, lon, markets, shift_start, shift_end) values ($1, $2, $3, $4, $5, $6, $7)
       on conflict (id) do update set ${replacing(['name', 'lat', 'lon', 'markets', 'shift_start', 'shift_end'])}
       where (t.name, t.lat, t.lon, t.markets, t.shift_start, t.shift_end)
         is distinct from (excluded.name, excluded.lat, excluded.lon, excluded.markets, excluded.shift_start, excluded.shift_end)`,
      [depot.id, depot.name, depot.lat, depot.lon, depot.markets, depot.shiftStart, depot.shiftEnd],
    )
    written += result.rowCount ?? 0
  }
  return counts(sorted.length, before, written)
}

/** Puts vans into the register: all of them or none. A depot that is not registered is a problem of its line. Throws RegisterImportError. */
export function importVans(pool: Pool, rows: readonly Numbered<RegisteredVan>[]): Promise<ImportCounts> {
  return pool.transaction('begin', (client) => putVans(client, rows))
}

/** The same within a transaction of the caller's. */
export async function putVans(client: Client, rows: readonly Numbered<RegisteredVan>[]): Promise<ImportCounts> {
  refuseTwins(rows, (van) => van.van, 'van')
  await refuseUnknownDepots(
    client,
    rows.map(({ line, row }) => ({ line, depotId: row.depotId })),
  )
  const vans = rows.map(({ row }) => row).sort((a, b) => (a.van < b.van ? -1 : 1))
  const before = await count(
    client,
    'van',
    'van',
    vans.map((van) => van.van),
  )
  const rest = ['name', 'plate', 'depot_id', 'in_service_from_ms', 'in_service_to_ms']
  const written = await bulkInsert(
    client,
    'van',
    [
      { name: 'van', type: 'text', values: vans.map((van) => van.van) },
      { name: 'name', type: 'text', values: vans.map((van) => van.name) },
      { name: 'plate', type: 'text', values: vans.map((van) => van.plate) },
      { name: 'depot_id', type: 'text', values: vans.map((van) => van.depotId) },
      { name: 'in_service_from_ms', type: 'bigint', values: vans.map((van) => van.inServiceFromMs) },
      { name: 'in_service_to_ms', type: 'bigint', values: vans.map((van) => van.inServiceToMs) },
    ],
    `(van) do update set ${replacing(rest)} where (${rest.map((name) => `t.${name}`).join(', ')})
       is distinct from (${rest.map((name) => `excluded.${name}`).join(', ')})`,
  )
  return counts(vans.length, before, written)
}

export const counts = (rows: number, before: number, written: number): ImportCounts => {
  const added = rows - before
  return { added, changed: written - added, same: rows - written }
}

export function refuseTwins<Row>(rows: readonly Numbered<Row>[], nameOf: (row: Row) => string, what: string): void {
  const lines = new Map<string, number>()
  const problems = rows.flatMap(({ line, row }) => {
    const name = nameOf(row)
    const first = lines.get(name)
    lines.set(name, first ?? line)
    return first === undefined ? [] : [{ line, problem: `${what} "${name}" stands in line ${first} already` }]
  })
  if (problems.length > 0) throw new RegisterImportError(problems)
}

/** Throws RegisterImportError for lines that name a depot which is not registered. */
export async function refuseUnknownDepots(
  client: Client,
  lines: readonly { readonly line: number; readonly depotId: string | null }[],
): Promise<void> {
  const { rows: known } = await client.query<{ id: string }>('select id from km0.depot for share')
  const ids = new Set(known.map((row) => row.id))
  const problems = lines.flatMap(({ line, depotId }) =>
    depotId === null || ids.has(depotId) ? [] : [{ line, problem: `depot "${depotId}" is not registered; import depots first` }],
  )
  if (problems.length > 0) throw new RegisterImportError(problems)
}

export async function count(
  client: Client,
  table: 'van' | 'depot' | 'market',
  column: 'van' | 'id',
  names: readonly string[],
): Promise<number> {
  const { rows } = await client.query<{ n: number }>(`select count(*) as n from km0.${table} where ${column} = any($1::text[])`, [names])
  return rows[0]?.n ?? 0
}
