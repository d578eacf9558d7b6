import type { PlatformEvent, Scope } from '@km0/contracts'
import type { Client } from '../pool.ts'
import { depotScope, withinScope } from '../scope.ts'
import { eventScope } from './read-events.ts'

/** Whether `u`, a row of km0.sign_in_user that may be missing, may subscribe: as `POST /api/subscriptions` lets people in. */
export const OWNER_MAY = `(u.id is not null and u.revoked_at_ms is null and u.role in ('dispatcher', 'administrator'))`

/** Of `s`, a row of km0.subscription, and `u`, the row of its owner in km0.sign_in_user, which may be missing (left join). */
export const OWNER_COLUMNS = `s.sees_all as "seesAll", s.depots, s.markets, ${OWNER_MAY} as "ownerMay",
  coalesce(u.all_vans, false) as "ownerSeesAll", coalesce(u.depots, '{}') as "ownerDepots", coalesce(u.markets, '{}') as "ownerMarkets"`

export interface OwnerColumns {
  readonly seesAll: boolean
  readonly depots: readonly string[]
  readonly markets: readonly string[]
  readonly ownerMay: boolean
  readonly ownerSeesAll: boolean
  readonly ownerDepots: readonly string[]
  readonly ownerMarkets: readonly string[]
}

/**
 * What may be told: what was asked for, and of that what its owner may see now. A row must pass both. Empty when the owner may come in no more,
 * may subscribe to nothing, or is nobody's user: nothing may be told.
 */
export function scopesOf(row: OwnerColumns): readonly Scope[] {
  if (!row.ownerMay) return []
  const asked: Scope = row.seesAll ? { kind: 'all' } : { kind: 'limited', depots: row.depots, markets: row.markets }
  const owners: Scope = row.ownerSeesAll ? { kind: 'all' } : { kind: 'limited', depots: row.ownerDepots, markets: row.ownerMarkets }
  return asked.kind === 'all' ? [owners] : owners.kind === 'all' ? [asked] : [asked, owners]
}

/** Standing of a subscription, as SQL of `s` and `u`. */
export const STANDING = `case when not ${OWNER_MAY} then 'stopped'
  when u.all_vans or (not s.sees_all and s.depots <@ u.depots and s.markets <@ u.markets) then 'active' else 'narrowed' end`

/** Whether each of the scopes sees what an event tells of. */
export async function maySee(client: Client, scopes: readonly Scope[], event: Partial<PlatformEvent>): Promise<boolean> {
  const { van = null, market = null } = event as { readonly van?: string; readonly market?: string }
  for (const scope of scopes) {
    const clause = eventScope(scope, 3)
    const { rowCount } = await withinScope(client, scope, () =>
      client.query(`select from (select $1::text as van, $2::text as market) e left join km0.van v on v.van = e.van where ${clause.sql}`, [
        van,
        market,
        ...clause.values,
      ]),
    )
    if (rowCount === 0) return false
  }
  return scopes.length > 0
}

/** One scope of vans that sees what all of the scopes see. Of stock it sees what is sold at those depots. */
export async function vansOfAll(client: Client, scopes: readonly Scope[]): Promise<Scope> {
  const [first = { kind: 'limited', depots: [], markets: [] } as Scope, ...more] = scopes
  if (more.length === 0) return first
  let depots: string[] | null = null
  for (const scope of scopes) {
    const clause = depotScope(scope, 1)
    const { rows } = await client.query<{ id: string }>(`select d.id from km0.depot d where ${clause.sql} order by d.id`, [
      ...clause.values,
    ])
    const seen = new Set(rows.map(({ id }) => id))
    depots = depots === null ? [...seen] : depots.filter((id) => seen.has(id))
  }
  return { kind: 'limited', depots: depots ?? [], markets: [] }
}
