import type { Scope } from '@km0/contracts'
import { type DirtyHour, dirtyHours, type IsCovered, type MissedPoint, type ReachRules, type SessionSpan } from './dirty-hours.ts'
import type { Client, Pool } from './pool.ts'
import { vanScope } from './scope.ts'

export interface DirtyQuery {
  /** Event time of the missed points that are looked at, `[fromMs, toMs)`. */
  readonly fromMs: number
  readonly toMs: number
  readonly rules: ReachRules
  /** What is served already with a point in it. Absent: nothing. */
  readonly isCovered?: IsCovered
}

/** The hours that points of a range make dirty, for the vans of a scope, as of one moment. */
export function readDirtyHours(pool: Pool, scope: Scope, query: DirtyQuery): Promise<DirtyHour[]> {
  return pool.transaction('begin isolation level repeatable read read only', async (client) => {
    const missed = await readMissed(client, scope, query)
    const vans = [...new Set(missed.map(({ van }) => van))]
    return dirtyHours(missed, await readSessions(client, vans, query), query.rules, query.isCovered)
  })
}

async function readMissed(client: Client, scope: Scope, { fromMs, toMs }: DirtyQuery): Promise<MissedPoint[]> {
  const clause = vanScope(scope, 3)
  const { rows } = await client.query<MissedPoint>(
    `select l.van, l.event_ms as "eventMs", l.reason, l.epoch, l.source_partition as partition, l.source_offset as offset
     from km0.late_point l left join km0.van v on v.van = l.van
     where l.event_ms >= $1 and l.event_ms < $2 and ${clause.sql} order by l.van, l.event_ms`,
    [fromMs, toMs, ...clause.values],
  )
  return rows
}

/** No session is longer: a van that sends without a pause of three minutes for so long is none of ours. */
const LONGEST_SESSION_MS = 14 * 86_400_000

/** Sessions that may hold, touch or follow a point of the range; an open one has no end yet. */
async function readSessions(client: Client, vans: readonly string[], { fromMs, toMs, rules }: DirtyQuery): Promise<SessionSpan[]> {
  if (vans.length === 0) return []
  const { rows } = await client.query<{ van: string; startMs: number; lastMs: number | null }>(
    `select van, start_ms as "startMs", end_ms as "lastMs" from km0.session_row
       where van = any($1::text[]) and start_ms >= $2 and start_ms <= $3 and end_ms >= $4
     union all
     select van, since_ms, null from km0.signal_state where van = any($1::text[]) and state = 'signal'`,
    [vans, fromMs - LONGEST_SESSION_MS, toMs + rules.maxGapMs, fromMs - rules.sessionGapMs],
  )
  return rows.map(({ van, startMs, lastMs }) => ({ van, startMs, lastMs: lastMs ?? Number.POSITIVE_INFINITY }))
}
