import type { Scope, SilenceEpisode } from '@km0/contracts'
import type { Client } from '../pool.ts'
import { vanScope } from '../scope.ts'

export interface EpisodeSpan {
  readonly fromMs: number
  readonly toMs: number
  /** Only those that ended at or after it, or that late points correct. */
  readonly endedFromMs: number
  readonly limit: number
}

/**
 * Silences that touch a span, newest first, each with what late points say of it: how many of its stretch have come since, and how long the
 * longest stretch without a point was, those counted. A silence without late points is as it was known.
 */
export async function readEpisodes(client: Client, scope: Scope, span: EpisodeSpan): Promise<SilenceEpisode[]> {
  const clause = vanScope(scope, 5)
  const { rows } = await client.query<SilenceEpisode>(
    `with episode as (
       select e.van, v.depot_id, e.since_ms, e.ended_ms, e.over_outage
       from km0.no_signal_episode_judged e left join km0.van v on v.van = e.van
       where e.since_ms < $2 and (e.since_ms >= $1 or e.ended_ms >= $1) and ${clause.sql}
       order by e.since_ms desc limit $4
     ), point as (
       select distinct e.van, e.since_ms, e.ended_ms, l.event_ms
       from episode e join km0.late_point l on l.van = e.van and l.event_ms > e.since_ms and l.event_ms < coalesce(e.ended_ms, $2)
     ), step as (
       select van, since_ms, ended_ms, event_ms,
         event_ms - lag(event_ms, 1, since_ms) over (partition by van, since_ms order by event_ms) as gap_ms
       from point
     ), corrected as (
       select van, since_ms, count(*) as points, greatest(max(gap_ms), max(ended_ms) - max(event_ms)) as longest_ms
       from step group by van, since_ms
     )
     select e.van, e.depot_id as "depotId", e.since_ms as "sinceMs", e.ended_ms as "endedMs", coalesce(c.points, 0) as "latePoints",
       coalesce(c.longest_ms, e.ended_ms - e.since_ms, 0) as "longestGapMs", e.over_outage as "overOutage"
     from episode e left join corrected c on c.van = e.van and c.since_ms = e.since_ms
     where e.ended_ms is null or e.ended_ms >= $3 or c.points > 0
     order by e.since_ms desc, e.van`,
    [span.fromMs, span.toMs, span.endedFromMs, span.limit, ...clause.values],
  )
  return rows
}
