import { madridDay, type Scope, type TravelTotal } from '@km0/contracts'
import type { Pool } from '../pool.ts'
import { queryScoped, vanScope } from '../scope.ts'

const HOUR_MS = 3_600_000

/** Hour and day of each van of a scope as they are served, with the versions that they come from. `hourMs`: where the hour begins. */
export function readTravelTotals(pool: Pool, scope: Scope, hourMs: number): Promise<TravelTotal[]> {
  const { startMs, endMs } = madridDay(hourMs)
  const clause = vanScope(scope, 4)
  return queryScoped<TravelTotal & Record<string, unknown>>(
    pool,
    scope,
    `select t.van, max(t.distance_mm) filter (where t.hour_ms = $3) as "hourMm", sum(t.distance_mm)::bigint as "dayMm",
       max(t.version) filter (where t.hour_ms = $3) as "hourVersion",
       coalesce(array_agg(distinct t.version order by t.version) filter (where t.version is not null), '{}') as "dayVersions",
       bool_or(t.version is null) as "dayIsLive"
     from km0.served_travel t left join km0.van v on v.van = t.van
     where t.hour_ms >= $1 and t.hour_ms < $2 and t.hour_ms <= $3 + ${HOUR_MS} and ${clause.sql} group by t.van order by t.van`,
    [startMs, endMs, hourMs, ...clause.values],
  )
}
