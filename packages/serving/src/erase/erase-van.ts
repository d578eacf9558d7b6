import { PUBLISH_LOCK } from '../backfill/publish.ts'
import { type Client, Pool, type PoolOptions } from '../pool.ts'
import { writeAudit } from '../sign-in/audit.ts'

/** Tables whose rows are of one van each. The schema test fails for one with a column `van` that is neither here. */
export const VAN_TABLES = [
  'distance_row',
  'session_row',
  'signal_state',
  // Its watch first: a silence that is told of again would come back.
  'silence_watch',
  'no_signal_episode',
  'live_point',
  'track_point',
  'acknowledgement',
  'late_point',
  'version_distance',
  'version_session',
  'version_travel',
  'usual_distance',
  'event',
  'van',
] as const

/** Tables whose `owner` is a van where `kind` is one of positions, else a market. */
export const OWNER_TABLES = ['pointer', 'version_hour', 'version_difference', 'publication_move'] as const

const KINDS_OF_VANS = ['distance', 'session', 'travel']
/** What stands in place of the van inside other rows. */
export const ERASED = '(erased)'

export interface VanTraces {
  /** Rows that are of the van alone, by table. */
  readonly rows: Readonly<Record<string, number>>
  /** Rows of others that name it: lists of vans, JSON. The name is taken out, the row stays. */
  readonly named: Readonly<Record<string, number>>
  /** Rows in which people, or we, wrote its name into a text: they stay as long as their kind is kept. */
  readonly texts: Readonly<Record<string, number>>
  /** Reprocessings that are under way: their states hold its last points until they are dropped. */
  readonly reprocessings: readonly string[]
  /** Event and arrival time of its newest point; null when none is stored. */
  readonly newestMs: number | null
  readonly newestArrivalMs: number | null
}

interface Column {
  readonly table: string
  readonly column: string
}

/** Takes one van out of the store. Every method rejects with ServingUnavailableError while PostgreSQL is away. */
export class VanEraser {
  readonly #pool: Pool

  constructor(pool: Pool) {
    this.#pool = pool
  }

  /** What the store has of a van. Changes nothing. */
  find(van: string): Promise<VanTraces> {
    return this.#pool.transaction('begin isolation level repeatable read read only', (client) => findTraces(client, van))
  }

  /** Deletes it, in one transaction. Returns what was there. */
  erase(van: string): Promise<VanTraces> {
    return this.#pool.transaction('begin', async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [PUBLISH_LOCK])
      const traces = await findTraces(client, van)
      for (const table of VAN_TABLES) await client.query(`delete from km0.${table} where van = $1`, [van])
      for (const table of OWNER_TABLES) {
        await client.query(`delete from km0.${table} where owner = $1 and kind = any($2)`, [van, KINDS_OF_VANS])
      }
      await client.query(`delete from km0.mute where kind = 'van' and subject = $1`, [van])
      await client.query(`delete from km0.delivery where body ->> 'van' = $1`, [van])
      for (const { table, column } of await columnsOf(client, LISTS)) {
        await client.query(`update km0.${table} set ${column} = array_remove(${column}, $1) where $1 = any(${column})`, [van])
      }
      for (const { table, column } of await columnsOf(client, JSONS)) {
        await client.query(
          `update km0.${table} set ${column} = replace(${column}::text, to_json($1::text)::text, to_json($2::text)::text)::jsonb
           where position(to_json($1::text)::text in ${column}::text) > 0`,
          [van, ERASED],
        )
      }
      return traces
    })
  }

  /** Writes into the audit that somebody was erased, without saying who: `name` is a digest. */
  note(actorName: string, atMs: number, detail: string): Promise<void> {
    return writeAudit(this.#pool, { atMs, actorId: null, actorName, action: 'erase', detail, address: 'cli' })
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

async function findTraces(client: Client, van: string): Promise<VanTraces> {
  const rows: Record<string, number> = {}
  const named: Record<string, number> = {}
  const texts: Record<string, number> = {}
  const count = async (into: Record<string, number>, table: string, where: string, values: readonly unknown[] = [van]) => {
    const found = await client.query<{ count: number }>(`select count(*) as count from km0.${table} where ${where}`, [...values])
    const number = found.rows[0]?.count ?? 0
    if (number > 0) into[table] = (into[table] ?? 0) + number
  }
  for (const table of VAN_TABLES) await count(rows, table, 'van = $1')
  for (const table of OWNER_TABLES) await count(rows, table, 'owner = $1 and kind = any($2)', [van, KINDS_OF_VANS])
  await count(rows, 'mute', `kind = 'van' and subject = $1`)
  await count(rows, 'delivery', `body ->> 'van' = $1`)
  for (const { table, column } of await columnsOf(client, LISTS)) await count(named, table, `$1 = any(${column})`)
  for (const { table, column } of await columnsOf(client, JSONS)) {
    if (table !== 'delivery') await count(named, table, `position(to_json($1::text)::text in ${column}::text) > 0`)
  }
  // As a word of its own: van-1 is not meant where van-12 stands.
  const word = `(^|[^[:alnum:]_-])${van.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}($|[^[:alnum:]_-])`
  for (const { table, column } of await columnsOf(client, TEXTS)) {
    if (!isOwn(table, column)) await count(texts, table, `${column} ~ $1`, [word])
  }
  const reprocessings = await client.query<{ name: string }>('select name from km0.reprocessing where $1 = any(vans) order by name', [van])
  const newest = await client.query<{ eventMs: number; arrivalMs: number }>(
    'select event_ms as "eventMs", arrival_ms as "arrivalMs" from km0.live_point where van = $1',
    [van],
  )
  return {
    ...{ rows, named, texts, reprocessings: reprocessings.rows.map(({ name }) => name) },
    ...{ newestMs: newest.rows[0]?.eventMs ?? null, newestArrivalMs: newest.rows[0]?.arrivalMs ?? null },
  }
}

/** Columns that are deleted with their rows, or are of others. */
function isOwn(table: string, column: string): boolean {
  const isDeleted = (VAN_TABLES as readonly string[]).includes(table) || table === 'mute' || table === 'delivery'
  return isDeleted || ((OWNER_TABLES as readonly string[]).includes(table) && (column === 'owner' || column === 'kind'))
}

const LISTS = `data_type = 'ARRAY' and udt_name = '_text' and c.table_name not in ('audit')`
const JSONS = `data_type = 'jsonb'`
/** Bare states of pipelines are told by `reprocessings`; secrets are no names. */
const TEXTS = `data_type = 'text' and column_name not in ('snapshot', 'secret', 'token', 'password', 'sha256')`

/** Columns of the product's tables by a condition; partitions belong to their tables. */
async function columnsOf(client: Client, condition: string): Promise<Column[]> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `select c.table_name::text as table, c.column_name::text as column from information_schema.columns c
     join pg_class t on t.oid = format('%I.%I', c.table_schema, c.table_name)::regclass
     where c.table_schema = 'km0' and t.relkind in ('r', 'p') and not t.relispartition and ${condition} order by 1, 2`,
  )
  return rows
}

/** Opens the store for erasing. Connects at the first use; the schema is `Serving.migrate`'s. */
export function openVanEraser(options: PoolOptions): VanEraser {
  return new VanEraser(new Pool({ statementTimeoutMs: 600_000, maxConnections: 2, ...options }))
}
