import type { PlatformEvent, Scope } from '@km0/contracts'
import type { Client, Pool } from '../pool.ts'
import { marketScope, queryScoped, readScoped, vanScope } from '../scope.ts'

/** Events after a place in the stream, of a scope, in order. */
export interface EventQuery {
  readonly afterId: number
  readonly limit: number
}

const COLUMNS = `e.id, e.key, e.kind, e.at_ms as "atMs", e.written_at_ms as "foundAtMs", e.van, e.product, e.market, e.detail`

interface EventRow {
  readonly id: number
  readonly key: string
  readonly kind: PlatformEvent['kind']
  readonly atMs: number
  readonly foundAtMs: number
  readonly van: string | null
  readonly product: string | null
  readonly market: string | null
  readonly detail: object
}

/** What a scope may see of `e`, a row of km0.event, with `v`, its row of km0.van. */
export function eventScope(scope: Scope, first: number): { readonly sql: string; readonly values: readonly unknown[] } {
  const van = vanScope(scope, first)
  return { sql: `(case when e.van is not null then ${van.sql} else ${marketScope(scope, 'e.market', first).sql} end)`, values: van.values }
}

export function readEvents(pool: Pool, scope: Scope, query: EventQuery): Promise<PlatformEvent[]> {
  return readScoped(pool, scope, (client) => readEventsOn(client, scope, query))
}

/** The same within a transaction that is in the scope. */
export async function readEventsOn(client: Client, scope: Scope, { afterId, limit }: EventQuery): Promise<PlatformEvent[]> {
  const clause = eventScope(scope, 3)
  const { rows } = await client.query<EventRow & Record<string, unknown>>(
    `select ${COLUMNS} from km0.event e left join km0.van v on v.van = e.van where e.id > $1 and ${clause.sql} order by e.id limit $2`,
    [afterId, limit, ...clause.values],
  )
  return rows.map(eventOf)
}

/** The event as it is told: columns that its kind does not have are left out. */
function eventOf({ van, product, market, detail, ...frame }: EventRow): PlatformEvent {
  return { ...frame, ...(van === null ? { product, market } : { van }), ...detail } as unknown as PlatformEvent
}

/** Place of an event in the stream; null when it is not kept, never was, or the scope may not see it: whoever asks learns no more. */
export async function findEvent(pool: Pool, scope: Scope, key: string): Promise<number | null> {
  const clause = eventScope(scope, 2)
  const [row] = await queryScoped<{ id: number }>(
    pool,
    scope,
    `select e.id from km0.event e left join km0.van v on v.van = e.van where e.key = $1 and ${clause.sql}`,
    [key, ...clause.values],
  )
  return row?.id ?? null
}

/** The newest event's place; 0 before the first. `beforeMs`: of those that were found before. */
export async function newestEvent(pool: Pool, beforeMs: number | null): Promise<number> {
  const [row] = await pool.query<{ id: number }>(
    'select coalesce(max(id), 0) as id from km0.event where written_at_ms < coalesce($1, written_at_ms + 1)',
    [beforeMs],
  )
  return row?.id ?? 0
}
