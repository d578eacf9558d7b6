import type { Period, Scope } from '@km0/contracts'
import type { Pool } from '../pool.ts'
import { queryScoped, vanScope } from '../scope.ts'

/** Silences of a van that touch a day, outages of ours left out: how many, and how long within the day. */
export interface DaySilences {
  readonly van: string
  readonly silences: number
  readonly silentMs: number
}

export async function readDaySilences(pool: Pool, scope: Scope, day: Period): Promise<DaySilences[]> {
  const clause = vanScope(scope, 3)
  return queryScoped<DaySilences & Record<string, unknown>>(
    pool,
    scope,
    `select e.van, count(*) as silences, sum(least(coalesce(e.ended_ms, $2), $2) - greatest(e.since_ms, $1))::bigint as "silentMs"
     from km0.no_signal_episode_judged e left join km0.van v on v.van = e.van
     where e.since_ms < $2 and (e.ended_ms is null or e.ended_ms > $1) and not e.over_outage and ${clause.sql} group by e.van order by e.van`,
    [day.startMs, day.endMs, ...clause.values],
  )
}
