import type { Actor, Scope, SubscriptionView } from '@km0/contracts'
import type { Pool } from '../pool.ts'
import { STANDING } from './owner-scope.ts'

/** What somebody asks for. */
export interface NewSubscription extends Omit<SubscriptionView, 'id' | 'ownerName' | 'createdAtMs' | 'depots' | 'markets' | 'standing'> {
  readonly scope: Scope
  readonly owner: Actor
  /** Signs what a webhook gets, sealed; null for the others. */
  readonly secret: string | null
  readonly nowMs: number
}

/** Who looks at subscriptions: those who see everything see all, others their own. */
export interface Viewer {
  readonly scope: Scope
  readonly owner: string
}

const COLUMNS = `s.id, s.name, s.channel, s.target, s.locale, s.kinds, s.least_step_ms as "leastStepMs", s.report_minutes as "reportMinutes",
  case when s.sees_all then null else s.depots end as depots, case when s.sees_all then null else s.markets end as markets,
  s.owner_name as "ownerName", s.created_at_ms as "createdAtMs", ${STANDING} as standing`
const FROM = 'km0.subscription s left join km0.sign_in_user u on u.id = s.owner_id'

/** Begins with the events after the newest one. */
export async function createSubscription(pool: Pool, given: NewSubscription): Promise<SubscriptionView> {
  const { scope, owner } = given
  const [row] = await pool.query<SubscriptionView & Record<string, unknown>>(
    `with made as (insert into km0.subscription (name, channel, target, secret, locale, kinds, least_step_ms, report_minutes, sees_all, depots, markets, owner_id,
       owner_name, created_at_ms, handed_event_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, (select coalesce(max(id), 0) from km0.event)) returning *)
     select ${COLUMNS} from made s left join km0.sign_in_user u on u.id = s.owner_id`,
    [
      ...[given.name, given.channel, given.target, given.secret, given.locale, given.kinds, given.leastStepMs, given.reportMinutes],
      ...[scope.kind === 'all', scope.kind === 'all' ? [] : scope.depots, scope.kind === 'all' ? [] : scope.markets],
      ...[owner.id, owner.name, given.nowMs],
    ],
  )
  if (row === undefined) throw new Error('a subscription was not stored')
  return row
}

/** In the order in which they were made, without those that were taken away. */
export function listSubscriptions(pool: Pool, viewer: Viewer): Promise<SubscriptionView[]> {
  return pool.query<SubscriptionView & Record<string, unknown>>(
    `select ${COLUMNS} from ${FROM} where s.removed_at_ms is null and ($1 or s.owner_id = $2) order by s.id`,
    [viewer.scope.kind === 'all', viewer.owner],
  )
}

/** Takes a subscription away; what waits for it is given up. False when there is none that the viewer may see. */
export async function removeSubscription(pool: Pool, viewer: Viewer, id: number, nowMs: number): Promise<boolean> {
  return pool.transaction('begin', async (client) => {
    const { rowCount } = await client.query(
      'update km0.subscription set removed_at_ms = $4 where id = $3 and removed_at_ms is null and ($1 or owner_id = $2)',
      [viewer.scope.kind === 'all', viewer.owner, id, nowMs],
    )
    if (rowCount === 0) return false
    await client.query(
      `update km0.delivery set state = 'dead', answer = 'the subscription was taken away' where subscription_id = $1 and state = 'waiting'`,
      [id],
    )
    return true
  })
}
