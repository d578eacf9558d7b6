import type { Scope, TrailPoint } from '@km0/contracts'
import type { Pool } from './pool.ts'
import { queryScoped, vanScope } from './scope.ts'

/** A stretch of time, the end excluded, and how many points at most: the newest ones are kept. */
export interface TrackSpan {
  readonly fromMs: number
  readonly toMs: number
  readonly maxPoints: number
}

/** Where a van was, oldest first, at most one point in 10 s. Empty for a van that the scope may not see. */
export async function readTrack(pool: Pool, scope: Scope, van: string, span: TrackSpan): Promise<TrailPoint[]> {
  const clause = vanScope(scope, 5)
  const rows = await queryScoped<{ lon: number; lat: number; event_ms: number }>(
    pool,
    scope,
    `select p.lon, p.lat, p.event_ms from km0.track_point p left join km0.van v on v.van = p.van
     where p.van = $1 and p.slot_ms >= $2 and p.slot_ms < $3 and ${clause.sql} order by p.slot_ms desc limit $4`,
    [van, span.fromMs, span.toMs, span.maxPoints, ...clause.values],
  )
  return rows.reverse().map((row) => [row.lon, row.lat, row.event_ms] as const)
}
