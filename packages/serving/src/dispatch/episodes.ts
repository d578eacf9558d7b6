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

type Known = Omit<SilenceEpisode, 'latePoints' | 'longestGapMs'>

/**
 * Silences that began or ended in a span, newest first, each with what late points say of it: how many of its stretch have come since, and how
 * long the longest stretch without a point was, those counted. A silence without late points is as it was known.
 */
export async function readEpisodes(client: Client, scope: Scope, span: EpisodeSpan): Promise<SilenceEpisode[]> {
  const clause = vanScope(scope, 4)
  const { rows } = await client.query<Known>(
    `select e.van, v.depot_id as "depotId", e.since_ms as "sinceMs", e.ended_ms as "endedMs", e.over_outage as "overOutage"
     from km0.no_signal_episode_judged e left join km0.van v on v.van = e.van
     where e.since_ms < $2 and (e.since_ms >= $1 or e.ended_ms >= $1) and ${clause.sql}
     order by e.since_ms desc, e.van limit $3`,
    [span.fromMs, span.toMs, span.limit, ...clause.values],
  )
  const late = await readLate(client, rows, span.toMs)
  return rows.flatMap((row): SilenceEpisode[] => {
    const found = late.get(`${row.sinceMs} ${row.van}`)
    if (found === undefined && row.endedMs !== null && row.endedMs < span.endedFromMs) return []
    const longestGapMs = found?.longestMs ?? (row.endedMs === null ? 0 : row.endedMs - row.sinceMs)
    return [{ ...row, latePoints: found?.points ?? 0, longestGapMs }]
  })
}

interface LateRow {
  van: string
  sinceMs: number
  points: number
  longestMs: number
}

/** What came late of each stretch, by `since van`. The bounds of all stretches together keep other days from being read. */
async function readLate(client: Client, episodes: readonly Known[], toMs: number): Promise<Map<string, LateRow>> {
  if (episodes.length === 0) return new Map()
  const since = episodes.map(({ sinceMs }) => sinceMs)
  const { rows } = await client.query<LateRow>(
    `with point as (
       select distinct e.van, e.since_ms, e.ended_ms, l.event_ms
       from unnest($1::text[], $2::bigint[], $3::bigint[]) as e (van, since_ms, ended_ms)
       join km0.late_point l on l.van = e.van and l.event_ms > e.since_ms and l.event_ms < coalesce(e.ended_ms, $5)
       where l.event_ms > $4 and l.event_ms < $5
     ), step as (
       select van, since_ms, ended_ms, event_ms,
         event_ms - lag(event_ms, 1, since_ms) over (partition by van, since_ms order by event_ms) as gap_ms
       from point
     )
     select van, since_ms as "sinceMs", count(*) as points, greatest(max(gap_ms), max(ended_ms) - max(event_ms)) as "longestMs"
     from step group by van, since_ms`,
    [episodes.map(({ van }) => van), since, episodes.map(({ endedMs }) => endedMs), Math.min(...since), toMs],
  )
  return new Map(rows.map((row) => [`${row.sinceMs} ${row.van}`, row]))
}
