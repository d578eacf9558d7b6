import { madridHour, madridWeeksBefore, type UsualDistance } from '@km0/contracts'
import type { Pool } from '../pool.ts'

/** Four weeks: 28 days. */
const WEEKS = [1, 2, 3, 4] as const
/** Computed hours are kept so long. */
const KEPT_MS = 2 * 86_400_000
/** A statement that takes longer is given up; the next try is a minute later. */
const TIMEOUT_MS = 20_000

/**
 * Computes what is usual in the hour that holds `atMs`: per van the 99th percentile of the distances of its served windows that ended in the
 * same hour of the clock on the same weekday in the four weeks before (percentile_disc: a distance that there was). One hour at a time by
 * whoever comes first. Resolves false when it is there already.
 */
export async function computeUsual(pool: Pool, atMs: number, computedAtMs: number): Promise<boolean> {
  const { startMs } = madridHour(atMs)
  const hours = WEEKS.map((weeks) => madridWeeksBefore(atMs, weeks))
  return pool.transaction('begin', async (client) => {
    await client.query(`set local statement_timeout = ${TIMEOUT_MS}`)
    const { rowCount } = await client.query(
      'insert into km0.usual_hour (hour_ms, computed_at_ms) values ($1, $2) on conflict (hour_ms) do nothing',
      [startMs, computedAtMs],
    )
    if (rowCount === 0) return false
    // One branch an hour, each with its bounds, so that only those days are read.
    const branches = hours
      .map(
        (_, n) =>
          `select van, distance_mm from km0.served_distance where window_end_ms > $${2 * n + 3} and window_end_ms <= $${2 * n + 4} and positions >= 2`,
      )
      .join(' union all ')
    await client.query(
      `insert into km0.usual_distance (hour_ms, van, p99_mm, windows, computed_at_ms)
       select $1::bigint, w.van, percentile_disc(0.99) within group (order by w.distance_mm), count(*), $2::bigint from (${branches}) w group by w.van`,
      [startMs, computedAtMs, ...hours.flatMap((hour) => [hour.startMs, hour.endMs])],
    )
    for (const table of ['usual_distance', 'usual_hour']) {
      await client.query(`delete from km0.${table} where hour_ms < $1`, [startMs - KEPT_MS])
    }
    return true
  })
}

/** What is usual in the hour that holds `atMs`, by van; null when it was not computed. */
export async function readUsual(
  pool: Pool,
  atMs: number,
): Promise<{ readonly fromMs: number; readonly toMs: number; readonly vans: readonly UsualDistance[] } | null> {
  const { startMs, endMs } = madridHour(atMs)
  const known = await pool.query('select 1 as found from km0.usual_hour where hour_ms = $1', [startMs])
  if (known.length === 0) return null
  const vans = await pool.query<UsualDistance & Record<string, unknown>>(
    'select van, p99_mm as "p99Mm", windows from km0.usual_distance where hour_ms = $1 order by van',
    [startMs],
  )
  return { fromMs: startMs, toMs: endMs, vans }
}
