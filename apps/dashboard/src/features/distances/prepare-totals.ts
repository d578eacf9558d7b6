import type { TravelTotalsView } from '@km0/contracts/dispatch'
import type { DistanceRow } from './prepare-distances.ts'

/** What the column of kilometres shows. */
export type Measure = 'window' | 'hour' | 'day'

/** Kilometres of a row, and where they come from. */
export interface ShownTotal {
  readonly distanceMm: number | null
  /** Versions of a backfill that they come from; empty: live. */
  readonly versions: readonly number[]
  readonly isLive: boolean
}

/** The hour or the day of each van, by van. */
export function prepareTotals(view: TravelTotalsView, measure: 'hour' | 'day'): ReadonlyMap<string, ShownTotal> {
  return new Map(
    view.totals.map((total) => [
      total.van,
      measure === 'day'
        ? { distanceMm: total.dayMm, versions: total.dayVersions, isLive: total.dayIsLive }
        : {
            distanceMm: total.hourMm,
            versions: total.hourVersion === null ? [] : [total.hourVersion],
            isLive: total.hourMm !== null && total.hourVersion === null,
          },
    ]),
  )
}

/** Rows with the kilometres of the hour or the day in place of the window's; history, jumps and reasons stay those of the window. */
export function withTotals(rows: readonly DistanceRow[], totals: ReadonlyMap<string, ShownTotal>): DistanceRow[] {
  return rows.map((row) => ({ ...row, distanceMm: totals.get(row.key)?.distanceMm ?? null, total: totals.get(row.key) ?? null }))
}
