import type { OutageView, Period, Scope } from '@km0/contracts'
import type { VanDayLate, VanDayRows, VanDaySession, VanDaySilence, VanDayWindow } from '@km0/contracts/van-day-panel'
import type { Client, Pool } from '../pool.ts'
import { readScoped } from '../scope.ts'
import { readDay } from './read-days.ts'

/** Late points of one answer at most; the lake's list says whether there are more. */
const LATE_AT_MOST = 5_000

/**
 * All that the store has of a van and a day of Europe/Madrid: hours, windows, sessions, silences, outages of its partition, late points. null when
 * the scope may not see the van or nothing is known of it.
 */
export async function readVanDay(pool: Pool, scope: Scope, van: string, day: Period): Promise<VanDayRows | null> {
  const hours = await readDay(pool, scope, van, day)
  if (hours === null) return null
  return readScoped(pool, scope, async (client) => {
    const partition = await partitionOf(client, van)
    return {
      ...hours,
      windows: await rowsOf<VanDayWindow>(client, WINDOWS, [van, day.startMs, day.endMs]),
      sessions: await rowsOf<VanDaySession>(client, SESSIONS, [van, day.startMs, day.endMs]),
      silences: await rowsOf<VanDaySilence>(client, SILENCES, [van, day.startMs, day.endMs]),
      outages: partition === null ? [] : await rowsOf<OutageView>(client, OUTAGES, [partition, day.startMs, day.endMs]),
      latePoints: await rowsOf<VanDayLate>(client, LATE, [van, day.startMs, day.endMs, LATE_AT_MOST]),
      partition,
    }
  })
}

/** Windows whose last moment lies in the day. */
const WINDOWS = `select window_start_ms as "startMs", window_end_ms as "endMs", distance_mm as "distanceMm", positions, jumps,
    displacement_mm as "displacementMm", revision, version
  from km0.served_distance where van = $1 and window_end_ms > $2 and window_end_ms <= $3 and hour_ms >= $2 and hour_ms < $3 order by window_end_ms`

/** Sessions that touch the day. None is looked for that began more than a week before it. */
const SESSIONS = `select start_ms as "startMs", end_ms as "endMs", positions, version from km0.served_session
  where van = $1 and start_ms < $3 and start_ms >= $2::bigint - 604800000 and end_ms >= $2 order by start_ms`

const SILENCES = `select since_ms as "sinceMs", ended_ms as "endedMs", over_outage as "overOutage" from km0.no_signal_episode_judged
  where van = $1 and since_ms < $3 and (ended_ms is null or ended_ms > $2) order by since_ms`

const OUTAGES = `select partition, from_ms as "fromMs", to_ms as "toMs", cause from km0.outage
  where partition = $1 and from_ms < $3 and to_ms > $2 order by from_ms`

const LATE = `select event_ms as "eventMs", reason, source_partition as partition, source_offset as offset from km0.late_point
  where van = $1 and event_ms >= $2 and event_ms < $3 order by event_ms, epoch, source_partition, source_offset limit $4`

async function partitionOf(client: Client, van: string): Promise<number | null> {
  const [row] = await rowsOf<{ partition: number }>(
    client,
    `select source_partition as partition from (
       select source_partition, written_at_ms from km0.signal_state where van = $1
       union all select source_partition, written_at_ms from km0.live_point where van = $1) r order by written_at_ms desc limit 1`,
    [van],
  )
  return row?.partition ?? null
}

async function rowsOf<Row extends object>(client: Client, text: string, values: readonly unknown[]): Promise<Row[]> {
  return (await client.query<Row>(text, [...values])).rows
}
