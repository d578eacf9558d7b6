import type { ImportView, Market, RegisterKind, Scope, Shift } from '@km0/contracts'
import type { Client, Pool } from '../pool.ts'
import { readDepots, readRegistered } from '../read-panel.ts'
import type { CsvRows } from '../register/csv-rows.ts'
import { readDepots as depotsOf, readMarkets as marketsOf, readShifts as shiftsOf, readVans as vansOf } from '../register/register-csv.ts'
import type { StoredRegister } from '../register/register-export.ts'
import {
  count,
  counts,
  type ImportCounts,
  type Numbered,
  putDepots,
  putVans,
  RegisterImportError,
  refuseTwins,
  refuseUnknownDepots,
} from '../register.ts'
import { depotScope, marketScope, readScoped } from '../scope.ts'

/** The register of a scope, as of one moment. */
export function readStoredRegister(pool: Pool, scope: Scope): Promise<StoredRegister> {
  return readScoped(pool, scope, async (client) => ({
    depots: await readDepots(client, scope),
    vans: await readRegistered(client, scope),
    markets: await readMarkets(client, scope),
    shifts: await readShifts(client, scope),
  }))
}

export async function readMarkets(client: Client, scope: Scope): Promise<Market[]> {
  const clause = marketScope(scope, 'm.id', 1)
  const { rows } = await client.query<Market>(`select m.id, m.name, m.zone from km0.market m where ${clause.sql} order by m.id`, [
    ...clause.values,
  ])
  return rows
}

/** By depot and day, weekdays in their order and before dates. */
export async function readShifts(client: Client, scope: Scope): Promise<Shift[]> {
  const clause = depotScope(scope, 1)
  const { rows } = await client.query<Shift>(
    `select s.depot_id as "depotId", s.day, s.start_at as start, s.end_at as "end" from km0.shift s join km0.depot d on d.id = s.depot_id
     where ${clause.sql} order by s.depot_id, array_position(array['mon','tue','wed','thu','fri','sat','sun'], s.day), s.day, s.start_at`,
    [...clause.values],
  )
  return rows
}

/** Ends a transaction that was only tried. */
class TriedOut extends Error {
  readonly result: ImportCounts
  constructor(result: ImportCounts) {
    super('tried out')
    this.result = result
  }
}

/**
 * Puts a CSV file into the register: all of its lines or none, and tells what is wrong with each that is bad. With `store` false nothing is
 * stored: what would happen is told.
 */
export async function importCsv(pool: Pool, kind: RegisterKind, csv: string, store: boolean): Promise<ImportView> {
  const read = KINDS[kind](csv)
  if ('problems' in read) return { problems: read.problems }
  try {
    return await pool.transaction('begin', async (client) => {
      const result = await read.put(client)
      if (!store) throw new TriedOut(result)
      return result
    })
  } catch (error) {
    if (error instanceof TriedOut) return error.result
    if (error instanceof RegisterImportError) return { problems: error.problems }
    throw error
  }
}

type Readable = { readonly problems: ImportProblems } | { readonly put: (client: Client) => Promise<ImportCounts> }
type ImportProblems = readonly { readonly line: number; readonly problem: string }[]

const KINDS: Readonly<Record<RegisterKind, (csv: string) => Readable>> = {
  depots: (csv) => readable(depotsOf(csv), putDepots),
  vans: (csv) => readable(vansOf(csv), putVans),
  markets: (csv) => readable(marketsOf(csv), putMarkets),
  shifts: (csv) => readable(shiftsOf(csv), putShifts),
}

function readable<Row>(read: CsvRows<Row>, put: (client: Client, rows: readonly Numbered<Row>[]) => Promise<ImportCounts>): Readable {
  return 'problems' in read ? read : { put: (client) => put(client, read.rows) }
}

async function putMarkets(client: Client, rows: readonly Numbered<Market>[]): Promise<ImportCounts> {
  refuseTwins(rows, (market) => market.id, 'market')
  const markets = rows.map(({ row }) => row).sort((a, b) => (a.id < b.id ? -1 : 1))
  const before = await count(
    client,
    'market',
    'id',
    markets.map(({ id }) => id),
  )
  const result = await client.query(
    `insert into km0.market as t (id, name, zone) select id, name, zone::jsonb from unnest($1::text[], $2::text[], $3::text[]) as x (id, name, zone)
     on conflict (id) do update set name = excluded.name, zone = excluded.zone
     where (t.name, t.zone) is distinct from (excluded.name, excluded.zone)`,
    [
      markets.map(({ id }) => id),
      markets.map(({ name }) => name),
      markets.map(({ zone }) => (zone === null ? null : JSON.stringify(zone))),
    ],
  )
  return counts(markets.length, before, result.rowCount ?? 0)
}

/** The calendar of each depot that the file names becomes what the file says; depots that it does not name keep theirs. */
async function putShifts(client: Client, rows: readonly Numbered<Shift>[]): Promise<ImportCounts> {
  refuseTwins(rows, ({ depotId, day, start }) => `${depotId} ${day} ${start ?? ''}`.trim(), 'shift')
  refuseDaysOffWithHours(rows)
  await refuseUnknownDepots(
    client,
    rows.map(({ line, row }) => ({ line, depotId: row.depotId })),
  )
  const shifts = rows.map(({ row }) => row)
  const depots = [...new Set(shifts.map(({ depotId }) => depotId))].sort()
  const { rows: known } = await client.query<Shift>(
    `select depot_id as "depotId", day, start_at as start, end_at as "end" from km0.shift where depot_id = any($1::text[]) for update`,
    [depots],
  )
  const key = ({ depotId, day, start }: Shift) => `${depotId}\u0000${day}\u0000${start ?? ''}`
  const before = new Map(known.map((shift) => [key(shift), shift.end]))
  const added = shifts.filter((shift) => !before.has(key(shift))).length
  const same = shifts.filter((shift) => before.has(key(shift)) && before.get(key(shift)) === shift.end).length
  const after = new Set(shifts.map(key))
  const gone = known.filter((shift) => !after.has(key(shift))).length
  await client.query('delete from km0.shift where depot_id = any($1::text[])', [depots])
  await client.query(
    'insert into km0.shift (depot_id, day, start_at, end_at) select * from unnest($1::text[], $2::text[], $3::text[], $4::text[])',
    [shifts.map(({ depotId }) => depotId), shifts.map(({ day }) => day), shifts.map(({ start }) => start), shifts.map(({ end }) => end)],
  )
  return { added, changed: shifts.length - added - same + gone, same }
}

function refuseDaysOffWithHours(rows: readonly Numbered<Shift>[]): void {
  const off = new Map(rows.filter(({ row }) => row.start === null).map(({ line, row }) => [`${row.depotId} ${row.day}`, line]))
  const problems = rows.flatMap(({ line, row }) => {
    const other = row.start === null ? undefined : off.get(`${row.depotId} ${row.day}`)
    return other === undefined ? [] : [{ line, problem: `${row.depotId} ${row.day} is a day off in line ${other}` }]
  })
  if (problems.length > 0) throw new RegisterImportError(problems)
}
