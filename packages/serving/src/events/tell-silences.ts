import type { SilenceSteps } from '@km0/contracts'
import type { Client } from '../pool.ts'
import { tellCorrections, watchCorrections } from './tell-corrections.ts'

/**
 * Steps that are due: their watermark has passed them, and the van is not known to have been heard before. First and last stand in the text, whole
 * numbers, so that the index of what is still to be told serves.
 */
const due = ([firstMs, , lastMs]: SilenceSteps) => `select s.van, s.since_ms, step.ms, p.lat, p.lon
  from km0.partition_mark m
  join km0.silence_watch s on s.source_partition = m.partition
  cross join unnest($3::bigint[]) as step (ms)
  join km0.no_signal_episode_judged e on e.van = s.van and e.since_ms = s.since_ms
  left join km0.live_point p on p.van = s.van and p.event_ms = s.since_ms
  where m.partition = any($1) and m.record_ms - m.heartbeat_ms <= $2 and s.told_step_ms < ${Math.trunc(lastMs)} and s.since_ms <= m.watermark_ms - ${Math.trunc(firstMs)}
    and step.ms > s.told_step_ms and s.since_ms + step.ms <= m.watermark_ms
    and (s.ended_ms is null or s.ended_ms - s.since_ms > step.ms) and not e.over_outage`

/**
 * Tells of the silences of some source partitions, as far as their watermarks have come: each step once, the return of a van of which one was
 * told, and what late points say of it afterwards. A silence that overlaps an outage of ours is not told, nor is any while the partition's heartbeats are held back: then nobody knows.
 * Part of the transaction that writes the marks.
 */
export async function tellSilences(
  client: Client,
  partitions: readonly number[],
  given: { readonly outageAfterMs: number; readonly silenceStepsMs: SilenceSteps; readonly writtenAtMs: number },
): Promise<void> {
  if (partitions.length === 0) return
  await client.query(
    `with due as materialized (${due(given.silenceStepsMs)}),
       told as (update km0.silence_watch s set told_step_ms = d.ms from (select van, since_ms, max(ms) as ms from due group by van, since_ms) d
         where s.van = d.van and s.since_ms = d.since_ms)
     select count(km0.tell('no-signal/' || van || '/' || since_ms || '/' || ms / 60000, 'no-signal', van, null, null, since_ms + ms,
       jsonb_build_object('sinceMs', since_ms, 'stepMs', ms, 'lat', lat, 'lon', lon), $4))
     from (select * from due order by since_ms + ms, van, ms) d`,
    [partitions, given.outageAfterMs, given.silenceStepsMs, given.writtenAtMs],
  )
  const { rows: over } = await client.query<{ van: string; sinceMs: number }>(
    `with over as (
       delete from km0.silence_watch s using km0.partition_mark m
       where s.source_partition = any($1) and m.partition = s.source_partition and s.ended_ms is not null and s.ended_ms <= m.watermark_ms
       returning s.van, s.since_ms, s.ended_ms, s.told_step_ms)
     select van, since_ms as "sinceMs", km0.tell('returned/' || van || '/' || since_ms, 'returned', van, null, null, ended_ms,
       jsonb_build_object('sinceMs', since_ms, 'endedMs', ended_ms), $2)
     from (select * from over where told_step_ms > 0 order by ended_ms, van) o`,
    [partitions, given.writtenAtMs],
  )
  await watchCorrections(client, over, given.writtenAtMs)
  await tellCorrections(client, partitions, given.writtenAtMs)
}
