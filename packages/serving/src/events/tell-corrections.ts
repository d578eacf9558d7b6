import type { Client } from '../pool.ts'

/** What a van had saved up comes within moments: it is told once, when nothing more has come for so long. */
export const SETTLED_MS = 60_000

/** Notes that people were told of these silences' ends: what comes late of them is looked at. Part of the transaction that tells the ends. */
export async function watchCorrections(
  client: Client,
  ended: readonly { readonly van: string; readonly sinceMs: number }[],
  writtenAtMs: number,
): Promise<void> {
  if (ended.length === 0) return
  await client.query(
    `update km0.no_signal_episode e set look_at_ms = $3, told_late_points = coalesce(told_late_points, 0)
     from unnest($1::text[], $2::bigint[]) as x (van, since_ms) where e.van = x.van and e.since_ms = x.since_ms`,
    [ended.map(({ van }) => van), ended.map(({ sinceMs }) => sinceMs), writtenAtMs + SETTLED_MS],
  )
}

/**
 * Notes that late points have come about silences of which people were told. By the span of each van's points: one that holds none of them is looked
 * at for nothing. Part of the transaction that stores the points.
 */
export async function noteLatePoints(
  client: Client,
  points: readonly { readonly van: string; readonly eventMs: number }[],
  writtenAtMs: number,
): Promise<void> {
  if (points.length === 0) return
  const spans = new Map<string, [fromMs: number, toMs: number]>()
  for (const { van, eventMs } of points) {
    const [fromMs, toMs] = spans.get(van) ?? [eventMs, eventMs]
    spans.set(van, [Math.min(fromMs, eventMs), Math.max(toMs, eventMs)])
  }
  const rows = [...spans]
  // In one order, so that two writers never wait for each other.
  await client.query(
    `with late as (
       select e.van, e.since_ms from unnest($1::text[], $2::bigint[], $3::bigint[]) as l (van, from_ms, to_ms)
       join km0.no_signal_episode e on e.van = l.van and e.told_late_points is not null and e.since_ms < l.to_ms and e.ended_ms > l.from_ms
       order by e.van, e.since_ms for update of e)
     update km0.no_signal_episode e set look_at_ms = $4 from late where e.van = late.van and e.since_ms = late.since_ms`,
    [rows.map(([van]) => van), rows.map(([, [fromMs]]) => fromMs), rows.map(([, [, toMs]]) => toMs), writtenAtMs + SETTLED_MS],
  )
}

/**
 * Tells what late points say of silences of some source partitions of which people were told: how long each was taken for then, and its longest
 * stretch without a point as it is known now. Each correction has a key of its own by the number of points that it counts.
 */
export async function tellCorrections(client: Client, partitions: readonly number[], writtenAtMs: number): Promise<void> {
  const { rows } = await client.query<{ van: string; sinceMs: number; endedMs: number; told: number }>(
    `select van, since_ms as "sinceMs", ended_ms as "endedMs", told_late_points as told from km0.no_signal_episode
     where look_at_ms is not null and source_partition = any($1) and look_at_ms <= $2 order by van, since_ms for update`,
    [partitions, writtenAtMs],
  )
  if (rows.length === 0) return
  const episodes = [rows.map(({ van }) => van), rows.map(({ sinceMs }) => sinceMs), rows.map(({ endedMs }) => endedMs)]
  await client.query(
    `with point as (
       select distinct e.van, e.since_ms, e.ended_ms, e.told, l.event_ms
       from unnest($1::text[], $2::bigint[], $3::bigint[], $4::integer[]) as e (van, since_ms, ended_ms, told)
       join km0.late_point l on l.van = e.van and l.event_ms > e.since_ms and l.event_ms < e.ended_ms
       where l.event_ms > $5 and l.event_ms < $6
     ), step as (
       select *, event_ms - lag(event_ms, 1, since_ms) over (partition by van, since_ms order by event_ms) as gap_ms from point
     ), known as (
       select van, since_ms, ended_ms, count(*)::integer as points, greatest(max(gap_ms), ended_ms - max(event_ms)) as gap_ms
       from step group by van, since_ms, ended_ms, told having count(*) > told
     ), noted as (
       update km0.no_signal_episode e set told_late_points = k.points from known k where e.van = k.van and e.since_ms = k.since_ms
     )
     select count(km0.tell('corrected/' || van || '/' || since_ms || '/' || points, 'corrected', van, null, null, ended_ms,
       jsonb_build_object('sinceMs', since_ms, 'endedMs', ended_ms, 'thenMs', ended_ms - since_ms, 'knownGapMs', gap_ms, 'latePoints', points), $7))
     from (select * from known order by ended_ms, van) k`,
    [
      ...episodes,
      rows.map(({ told }) => told),
      Math.min(...rows.map(({ sinceMs }) => sinceMs)),
      Math.max(...rows.map(({ endedMs }) => endedMs)),
      writtenAtMs,
    ],
  )
  // After the numbers: a row is changed by one part of a statement only.
  await client.query(
    `update km0.no_signal_episode e set look_at_ms = null from unnest($1::text[], $2::bigint[]) as x (van, since_ms)
     where e.van = x.van and e.since_ms = x.since_ms`,
    episodes.slice(0, 2),
  )
}
