import type { Period } from './madrid.ts'

/** What the page of days shows: distances of vans by day of Europe/Madrid, as they are served. Distances in mm, times in ms since 1970. */

export interface DayCell {
  readonly van: string
  /** Beginning of the day. */
  readonly dayMs: number
  readonly distanceMm: number
  readonly positions: number
  readonly jumps: number
  /** Left out as jumps; null where live rows are served, which do not know it. So are the next two. */
  readonly jumpsMm: number | null
  /** Pauses of more than three minutes, and their straight lines. */
  readonly gaps: number | null
  readonly gapsMm: number | null
  /** Versions that are served in the day, in order. */
  readonly versions: readonly number[]
  /** Some of its hours are live rows. */
  readonly isLive: boolean
}

/** Late points of a van and day that the served rows do not hold. */
export interface DayLate {
  readonly van: string
  readonly dayMs: number
  /** Wholly missing, and in part. */
  readonly tard: number
  readonly parcial: number
}

export interface DayVan {
  readonly van: string
  readonly name: string | null
  readonly plate: string | null
  readonly depot: string | null
}

/** How many hours of a day were certified, and with what result. */
export interface DayCertificates {
  readonly dayMs: number
  readonly equal: number
  readonly explained: number
  readonly different: number
}

export interface DaysView {
  readonly nowMs: number
  readonly days: readonly Period[]
  readonly vans: readonly DayVan[]
  readonly cells: readonly DayCell[]
  readonly late: readonly DayLate[]
  readonly certificates: readonly DayCertificates[]
}

export interface DayHour {
  readonly hourMs: number
  readonly distanceMm: number
  readonly positions: number
  readonly jumps: number
  readonly jumpsMm: number | null
  readonly gaps: number | null
  readonly gapsMm: number | null
  readonly version: number | null
}

/** One van on one day, explained. */
export interface DayView {
  readonly nowMs: number
  readonly van: DayVan
  readonly day: Period
  readonly hours: readonly DayHour[]
  readonly late: { readonly tard: number; readonly parcial: number }
  /** Windows whose displacement is below `PARKED_MM`: how long they slide over, and the distance that was measured meanwhile. */
  readonly parked: { readonly durationMs: number; readonly distanceMm: number }
  readonly certificates: readonly {
    readonly hourMs: number
    readonly result: 'equal' | 'explained' | 'different'
    readonly detail: string
  }[]
}

/** A window in which a van ends up nearer than this to where it began counts as parked. */
export const PARKED_MM = 50_000
