import { SILENCE_STEPS_MS } from '@km0/contracts'
import type { Client } from '../pool.ts'

interface DueSilence {
  readonly van: string
  readonly sinceMs: number
  readonly stepMs: number
  readonly lat: number | null
  readonly lon: number | null
}

/**
 * Tells of the silences of some source partitions, as far as their watermarks have come: each step once, and the return of a van of which one was
 * told. A silence that overlaps an outage of ours is not told, nor is any while the partition's heartbeats are held back: then nobody knows.
 * Part of the transaction that writes the marks.
 */
export async function tellSilences(
  client: Client,
  partitions: readonly number[],
  given: { readonly outageAfterMs: number; readonly writtenAtMs: number },
): Promise<void> {
  if (partitions.length === 0) return
  const { rows: due } = await client.query<DueSilence>(
    `select s.van, s.since_ms as "sinceMs", step.ms as "stepMs", p.lat, p.lon
     from km0.partition_mark m
     join km0.silence_watch s on s.source_partition = m.partition
     join km0.no_signal_episode_judged e on e.van = s.van and e.since_ms = s.since_ms
     cross join unnest($3::bigint[]) as step (ms)
     left join km0.live_point p on p.van = s.van and p.event_ms = s.since_ms
     where m.partition = any($1) and m.record_ms - m.heartbeat_ms <= $2 and step.ms > s.told_step_ms and s.since_ms + step.ms <= m.watermark_ms
       and (e.ended_ms is null or e.ended_ms - e.since_ms > step.ms) and not e.over_outage
     order by s.since_ms + step.ms, s.van, step.ms`,
    [partitions, given.outageAfterMs, SILENCE_STEPS_MS],
  )
  for (const { van, sinceMs, stepMs, lat, lon } of due) {
    await tell(
      client,
      `no-signal/${van}/${sinceMs}/${stepMs / 60_000}`,
      'no-signal',
      van,
      sinceMs + stepMs,
      { sinceMs, stepMs, lat, lon },
      given,
    )
    await client.query('update km0.silence_watch set told_step_ms = $3 where van = $1 and since_ms = $2', [van, sinceMs, stepMs])
  }
  const { rows: over } = await client.query<{ van: string; sinceMs: number; endedMs: number; toldStepMs: number }>(
    `delete from km0.silence_watch s using km0.no_signal_episode e, km0.partition_mark m
     where s.source_partition = any($1) and m.partition = s.source_partition and e.van = s.van and e.since_ms = s.since_ms
       and e.ended_ms is not null and e.ended_ms <= m.watermark_ms
     returning s.van, s.since_ms as "sinceMs", e.ended_ms as "endedMs", s.told_step_ms as "toldStepMs"`,
    [partitions],
  )
  for (const { van, sinceMs, endedMs, toldStepMs } of over) {
    if (toldStepMs > 0) await tell(client, `returned/${van}/${sinceMs}`, 'returned', van, endedMs, { sinceMs, endedMs }, given)
  }
}

async function tell(
  client: Client,
  key: string,
  kind: 'no-signal' | 'returned',
  van: string,
  atMs: number,
  detail: object,
  { writtenAtMs }: { readonly writtenAtMs: number },
): Promise<void> {
  await client.query('select km0.tell($1, $2, $3, null, null, $4, $5, $6)', [key, kind, van, atMs, detail, writtenAtMs])
}
