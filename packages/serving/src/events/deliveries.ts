import type { Channel, DeliveryView, PlatformEvent, Scope, SubscriptionView } from '@km0/contracts'
import type { Client, Pool } from '../pool.ts'
import { withinScope } from '../scope.ts'
import { maySee, OWNER_COLUMNS, OWNER_MAY, type OwnerColumns, scopesOf, vansOfAll } from './owner-scope.ts'
import { isQuiet, type Quiet, readQuiet } from './quiet.ts'
import { readEventsOn } from './read-events.ts'
import type { Viewer } from './subscriptions.ts'

/** A delivery as whoever sends it needs it. */
export interface DeliveryJob {
  readonly id: number
  readonly round: number
  readonly key: string
  readonly kind: DeliveryView['kind']
  /** The event; of a report `{dayMs}`. */
  readonly body: unknown
  readonly attempts: number
  readonly channel: Channel
  readonly target: string
  /** As it stands in the store. */
  readonly secret: string | null
  readonly locale: SubscriptionView['locale']
  readonly name: string
  readonly scope: Scope
}

interface Subscriber extends OwnerColumns {
  readonly id: number
  readonly kinds: readonly string[]
  readonly leastStepMs: number
  readonly handedEventId: number
}

const EVENTS_AT_A_TIME = 500

export interface HandOutOptions {
  readonly nowMs: number
  readonly maxAgeMs: number
  /** A van without calendar whose last point is nearer to its depot than this is at the depot. */
  readonly depotDistanceM: number
}

/**
 * Makes a delivery of each new event for each subscription that wants it, and moves the subscription on, in one transaction: none is lost and none
 * made twice, whoever does it and however often it is cut short. Events that were found more than `maxAgeMs` late are history, told to nobody; nor are silences that somebody has muted, or of vans that
 * nobody expects to hear, nor what the owner of the subscription may not see at that moment: whoever may come in no more is told nothing.
 * Returns how many were made.
 */
export async function handOutEvents(pool: Pool, given: HandOutOptions): Promise<number> {
  return pool.transaction('begin isolation level read committed', async (client) => {
    const { rows } = await client.query<Subscriber>(
      `select s.id, s.kinds, s.least_step_ms as "leastStepMs", s.handed_event_id as "handedEventId", ${OWNER_COLUMNS}
       from km0.subscription s left join km0.sign_in_user u on u.id = s.owner_id
       where s.removed_at_ms is null and s.handed_event_id < (select coalesce(max(id), 0) from km0.event)
       order by s.id for update of s skip locked`,
    )
    if (rows.length === 0) return 0
    const quiet = await readQuiet(client, given.nowMs, given.depotDistanceM)
    let made = 0
    for (const subscriber of rows) made += await handOut(client, subscriber, quiet, given)
    return made
  })
}

async function handOut(client: Client, subscriber: Subscriber, quiet: Quiet, given: HandOutOptions): Promise<number> {
  const { rows } = await client.query<{ id: number }>(
    'select max(id) as id from (select id from km0.event where id > $1 order by id limit $2) e',
    [subscriber.handedEventId, EVENTS_AT_A_TIME],
  )
  const upTo = rows[0]?.id ?? subscriber.handedEventId
  const query = { afterId: subscriber.handedEventId, limit: EVENTS_AT_A_TIME }
  let events: readonly PlatformEvent[] | null = null
  for (const scope of scopesOf(subscriber)) {
    const seen = await withinScope(client, scope, () => readEventsOn(client, scope, query))
    events = events === null ? seen : inBoth(events, seen)
  }
  let made = 0
  for (const event of events ?? []) {
    if (event.id > upTo || event.foundAtMs - event.atMs > given.maxAgeMs || !(await isWanted(client, event, subscriber, quiet))) continue
    await insertDelivery(client, subscriber.id, event.key, event.kind, event, given.nowMs)
    made += 1
  }
  await client.query('update km0.subscription set handed_event_id = $2 where id = $1', [subscriber.id, upTo])
  return made
}

function inBoth(some: readonly PlatformEvent[], others: readonly PlatformEvent[]): readonly PlatformEvent[] {
  const ids = new Set(some.map(({ id }) => id))
  return others.filter(({ id }) => ids.has(id))
}

async function isWanted(client: Client, event: PlatformEvent, { id, kinds, leastStepMs }: Subscriber, quiet: Quiet): Promise<boolean> {
  if (!kinds.includes(event.kind)) return false
  if (event.kind === 'no-signal') return event.stepMs >= leastStepMs && !isQuiet(event, quiet)
  // Whoever was not told that a van is silent is not told that it is back, nor that it was not so.
  if ((event.kind !== 'returned' && event.kind !== 'corrected') || !kinds.includes('no-signal')) return true
  const { rows } = await client.query('select from km0.delivery where subscription_id = $1 and starts_with(key, $2) limit 1', [
    id,
    `no-signal/${event.van}/${event.sinceMs}/`,
  ])
  return rows.length > 0
}

async function insertDelivery(
  client: Pick<Client, 'query'>,
  subscriptionId: number,
  key: string,
  kind: DeliveryView['kind'],
  body: unknown,
  nowMs: number,
): Promise<void> {
  await client.query(
    `insert into km0.delivery (subscription_id, key, kind, body, created_at_ms) values ($1, $2, $3, $4, $5) on conflict (subscription_id, key) do nothing`,
    [subscriptionId, key, kind, JSON.stringify(body), nowMs],
  )
}

/** Subscriptions with a daily report whose owner may subscribe, and when they were made. */
export function readReportTimes(pool: Pool): Promise<{ id: number; reportMinutes: number; createdAtMs: number }[]> {
  return pool.query(
    `select s.id, s.report_minutes as "reportMinutes", s.created_at_ms as "createdAtMs" from km0.subscription s
     join km0.sign_in_user u on u.id = s.owner_id
     where s.removed_at_ms is null and s.report_minutes is not null and ${OWNER_MAY} order by s.id`,
  )
}

/** Makes deliveries that no event causes: reports and tests. One that is there already changes nothing. */
export async function addDeliveries(
  pool: Pool,
  rows: readonly { readonly subscriptionId: number; readonly key: string; readonly kind: 'report' | 'test'; readonly body: unknown }[],
  nowMs: number,
): Promise<void> {
  await pool.withClient(async (client) => {
    for (const row of rows) await insertDelivery(client, row.subscriptionId, row.key, row.kind, row.body, nowMs)
  })
}

/** Deliveries that wait and were not put into the queue since `queuedBeforeMs`; they count as put there now. */
export function takeWaiting(
  pool: Pool,
  given: { readonly nowMs: number; readonly queuedBeforeMs: number; readonly limit: number },
): Promise<{ id: number; round: number; attempts: number }[]> {
  return pool.query(
    `update km0.delivery set queued_at_ms = $1 where id in (select id from km0.delivery where state = 'waiting' and coalesce(queued_at_ms, 0) <= $2
       order by id limit $3 for update skip locked) returning id, round, attempts`,
    [given.nowMs, given.queuedBeforeMs, given.limit],
  )
}

/**
 * null when it waits no longer, is of a round that is over, or tells of what the owner of the subscription may not see any more: that one is given
 * up. `scope` is of the vans that the owner may see now, as far as they were asked for.
 */
export function readDelivery(pool: Pool, id: number, round: number): Promise<DeliveryJob | null> {
  return pool.transaction('begin', async (client) => {
    const { rows } = await client.query<Omit<DeliveryJob, 'scope'> & OwnerColumns>(
      `select d.id, d.round, d.key, d.kind, d.body, d.attempts, s.channel, s.target, s.secret, s.locale, s.name, ${OWNER_COLUMNS}
       from km0.delivery d join km0.subscription s on s.id = d.subscription_id left join km0.sign_in_user u on u.id = s.owner_id
       where d.id = $1 and d.round = $2 and d.state = 'waiting'`,
      [id, round],
    )
    const [row] = rows
    if (row === undefined) return null
    const { seesAll, depots, markets, ownerMay, ownerSeesAll, ownerDepots, ownerMarkets, ...job } = row
    const scopes = scopesOf(row)
    const isEvent = job.kind !== 'report' && job.kind !== 'test'
    if (scopes.length === 0 || (isEvent && !(await maySee(client, scopes, job.body as PlatformEvent)))) {
      const why = scopes.length === 0 ? 'whoever asked for it may do so no more' : 'whoever asked for it may not see this any more'
      await client.query(`update km0.delivery set state = 'dead', answer = $2 where id = $1`, [id, why])
      return null
    }
    return { ...job, scope: await vansOfAll(client, scopes) }
  })
}

/** Notes a try. `state` stays `waiting` for one that is to be tried again. */
export async function noteTry(
  pool: Pool,
  job: { readonly id: number; readonly round: number },
  outcome: { readonly state: DeliveryView['state']; readonly answer: string; readonly nowMs: number },
): Promise<void> {
  await pool.query(
    `update km0.delivery set attempts = attempts + 1, state = $3, answer = $4, tried_at_ms = $5 where id = $1 and round = $2 and state = 'waiting'`,
    [job.id, job.round, outcome.state, outcome.answer, outcome.nowMs],
  )
}

const SEEN =
  'exists (select from km0.subscription s where s.id = d.subscription_id and s.removed_at_ms is null and ($1 or s.owner_id = $2))'

/** Has a delivery sent again, with the same key. False when there is none that is over and that the viewer may see. */
export async function sendAgain(pool: Pool, viewer: Viewer, id: number): Promise<boolean> {
  const rows = await pool.query(
    `update km0.delivery d set state = 'waiting', round = round + 1, attempts = 0, queued_at_ms = null, answer = ''
     where d.id = $3 and d.state <> 'waiting' and ${SEEN} returning d.id`,
    [viewer.scope.kind === 'all', viewer.owner, id],
  )
  return rows.length === 1
}

/** Newest first. */
export function listDeliveries(pool: Pool, viewer: Viewer, limit: number): Promise<DeliveryView[]> {
  return pool.query<DeliveryView & Record<string, unknown>>(
    `select d.id, d.subscription_id as "subscriptionId", s.name as "subscriptionName", s.channel, d.key, d.kind, d.state, d.attempts,
       d.created_at_ms as "createdAtMs", d.tried_at_ms as "triedAtMs", d.answer
     from km0.delivery d join km0.subscription s on s.id = d.subscription_id where ($1 or s.owner_id = $2) order by d.id desc limit $3`,
    [viewer.scope.kind === 'all', viewer.owner, limit],
  )
}

/** Forgets deliveries and events that are older; those that wait are kept, and so is the newest event, where streams go on. */
export async function forgetDeliveries(pool: Pool, beforeMs: number): Promise<void> {
  await pool.query(`delete from km0.delivery where created_at_ms < $1 and state <> 'waiting' and kind <> 'report'`, [beforeMs])
  await pool.query('delete from km0.event where written_at_ms < $1 and id < (select max(id) from km0.event)', [beforeMs])
}
