import type { DayCell, DayCertificates, DayHour, DayLate, DaysView, DayVan, DayView, Period, Scope } from '@km0/contracts'
import { PARKED_MM } from '@km0/contracts'
import type { Client, Pool } from '../pool.ts'
import { readScoped, vanScope } from '../scope.ts'

const DAYS = 'unnest($1::bigint[], $2::bigint[]) as d (start_ms, end_ms)'

/**
 * A late point that the served rows do not hold: no version is served for its hour, or one that was frozen before the point came or under an
 * earlier epoch of the windowing job, whose offsets say nothing of it. `l` is a row of km0.late_point.
 */
const NOT_IN = `not exists (select from km0.pointed p join km0.version f on f.id = p.version
  where p.kind = 'travel' and p.owner = l.van and p.hour_ms = km0.hour_of(l.event_ms)
    and f.pipeline_epoch >= l.epoch and (f.offsets ->> l.source_partition::text)::bigint > l.source_offset)`

/** What is served for days of Europe/Madrid, of the vans of a scope, as of one moment. Vans that are registered and have no row are there too. */
export function readDays(pool: Pool, scope: Scope, days: readonly Period[]): Promise<Omit<DaysView, 'nowMs'>> {
  return readScoped(pool, scope, async (client) => {
    const clause = vanScope(scope, 3)
    const span = [days.map(({ startMs }) => startMs), days.map(({ endMs }) => endMs)]
    const cells = await client.query<DayCell>(
      `select t.van, d.start_ms as "dayMs", sum(t.distance_mm)::bigint as "distanceMm", sum(t.positions)::bigint as positions,
         sum(t.jumps)::bigint as jumps, sum(t.jumps_mm)::bigint as "jumpsMm", sum(t.gaps)::bigint as gaps, sum(t.gaps_mm)::bigint as "gapsMm",
         coalesce(array_agg(distinct t.version order by t.version) filter (where t.version is not null), '{}')::float8[] as versions,
         bool_or(t.version is null) as "isLive"
       from ${DAYS} join km0.served_travel t on t.hour_ms >= d.start_ms and t.hour_ms < d.end_ms
       left join km0.van v on v.van = t.van where ${clause.sql} group by t.van, d.start_ms order by t.van, d.start_ms`,
      [...span, ...clause.values],
    )
    const late = await client.query<DayLate>(
      `select l.van, d.start_ms as "dayMs", count(distinct l.event_ms) filter (where l.reason = 'tard') as tard,
         count(distinct l.event_ms) filter (where l.reason = 'parcial') as parcial
       from ${DAYS} join km0.late_point l on l.event_ms >= d.start_ms and l.event_ms < d.end_ms
       left join km0.van v on v.van = l.van where ${NOT_IN} and ${clause.sql} group by l.van, d.start_ms order by l.van, d.start_ms`,
      [...span, ...clause.values],
    )
    const certificates = await client.query<DayCertificates>(
      `select d.start_ms as "dayMs", count(*) filter (where c.result = 'equal') as equal,
         count(*) filter (where c.result = 'explained') as explained, count(*) filter (where c.result = 'different') as different
       from ${DAYS} join (select distinct on (hour_ms) hour_ms, result from km0.certificate order by hour_ms, id desc) c
         on c.hour_ms >= d.start_ms and c.hour_ms < d.end_ms group by d.start_ms order by d.start_ms`,
      span,
    )
    const heard = [...cells.rows, ...late.rows].map(({ van }) => van)
    return { days, vans: await readVans(client, scope, heard), cells: cells.rows, late: late.rows, certificates: certificates.rows }
  })
}

/** One van on one day, by hour; null when the scope may not see the van or nothing is known of it. */
export function readDay(pool: Pool, scope: Scope, van: string, day: Period): Promise<Omit<DayView, 'nowMs'> | null> {
  return readScoped(pool, scope, async (client) => {
    const span = [van, day.startMs, day.endMs]
    const hours = await client.query<DayHour>(
      `select hour_ms as "hourMs", distance_mm as "distanceMm", positions, jumps, jumps_mm as "jumpsMm", gaps, gaps_mm as "gapsMm", version
       from km0.served_travel where van = $1 and hour_ms >= $2 and hour_ms < $3 order by hour_ms`,
      span,
    )
    const vans = await readVans(client, scope, hours.rows.length > 0 ? [van] : [])
    const seen = vans.find((row) => row.van === van)
    if (seen === undefined) return null
    const late = await client.query<{ tard: number; parcial: number }>(
      `select count(distinct l.event_ms) filter (where l.reason = 'tard') as tard,
         count(distinct l.event_ms) filter (where l.reason = 'parcial') as parcial
       from km0.late_point l where l.van = $1 and l.event_ms >= $2 and l.event_ms < $3 and ${NOT_IN}`,
      span,
    )
    // Windows slide: each step of the slide is in so many of them, so a window stands for one step.
    const parked = await client.query<{ durationMs: number; distanceMm: number }>(
      `with w as (select *, window_end_ms - lag(window_end_ms) over (order by window_end_ms) as step_ms from km0.served_distance
           where van = $1 and window_end_ms > $2 and window_end_ms <= $3),
         slide as (select min(step_ms) as ms from w)
       select coalesce(sum(slide.ms), 0)::bigint as "durationMs",
         coalesce(round(sum(distance_mm * slide.ms::numeric / (window_end_ms - window_start_ms))), 0)::bigint as "distanceMm"
       from w, slide where displacement_mm < $4 and positions >= 2`,
      [...span, PARKED_MM],
    )
    const certificates = await client.query<DayView['certificates'][number]>(
      `select distinct on (hour_ms) hour_ms as "hourMs", result, detail from km0.certificate where hour_ms >= $1 and hour_ms < $2
       order by hour_ms, id desc`,
      [day.startMs, day.endMs],
    )
    return {
      van: seen,
      day,
      hours: hours.rows,
      late: late.rows[0] ?? { tard: 0, parcial: 0 },
      parked: parked.rows[0] ?? { durationMs: 0, distanceMm: 0 },
      certificates: certificates.rows,
    }
  })
}

/** Event times of the points of a van that are wholly missing in what is served, of `[fromMs, toMs)`, in order. */
export async function readMissingPoints(pool: Pool, van: string, { fromMs, toMs }: { fromMs: number; toMs: number }): Promise<number[]> {
  const rows = await pool.query<{ eventMs: number }>(
    `select distinct l.event_ms as "eventMs" from km0.late_point l
     where l.van = $1 and l.event_ms >= $2 and l.event_ms < $3 and l.reason = 'tard' and ${NOT_IN} order by l.event_ms`,
    [van, fromMs, toMs],
  )
  return rows.map(({ eventMs }) => eventMs)
}

/** Registered vans of the scope, and of those that were heard the ones that the scope may see. By name. */
async function readVans(client: Client, scope: Scope, heard: readonly string[]): Promise<DayVan[]> {
  const clause = vanScope(scope, 2)
  const { rows } = await client.query<DayVan>(
    `select coalesce(v.van, h.van) as van, v.name, v.plate, v.depot_id as depot
     from km0.van v full join (select distinct unnest($1::text[]) as van) h on h.van = v.van where ${clause.sql}`,
    [heard, ...clause.values],
  )
  return rows.sort((a, b) => a.van.localeCompare(b.van, 'ca', { numeric: true }))
}
