import type { DayView } from '@km0/contracts/days-panel'

const HOUR_MS = 3_600_000

export interface DayExplained {
  readonly distanceMm: number | null
  readonly positions: number
  readonly jumps: number
  /** null where live rows do not know it. */
  readonly jumpsMm: number | null
  readonly gaps: number | null
  readonly gapsMm: number | null
  readonly versions: readonly number[]
  readonly isLive: boolean
  readonly certificate: { readonly result: 'equal' | 'explained' | 'different'; readonly hours: number } | null
}

/** A day as the sum of its hours. What live rows do not know is unknown for the day as soon as one hour is live. */
export function explainDay({ hours, certificates }: DayView): DayExplained {
  const sum = (of: (hour: DayView['hours'][number]) => number | null) =>
    hours.reduce<number | null>((total, hour) => {
      const value = of(hour)
      return total === null || value === null ? null : total + value
    }, 0)
  const versions = [...new Set(hours.flatMap(({ version }) => (version === null ? [] : [version])))].sort((a, b) => a - b)
  const worst = (['different', 'explained', 'equal'] as const).find((result) => certificates.some((row) => row.result === result))
  return {
    distanceMm: hours.length === 0 ? null : sum(({ distanceMm }) => distanceMm),
    positions: sum(({ positions }) => positions) ?? 0,
    jumps: sum(({ jumps }) => jumps) ?? 0,
    jumpsMm: sum(({ jumpsMm }) => jumpsMm),
    gaps: sum(({ gaps }) => gaps),
    gapsMm: sum(({ gapsMm }) => gapsMm),
    versions,
    isLive: hours.some(({ version }) => version === null),
    certificate: worst === undefined ? null : { result: worst, hours: certificates.length },
  }
}

/** The whole hours of a day that have ended. A day of Madrid begins and ends with an hour of UTC. */
export function rangeOf({ day, nowMs }: DayView): { readonly fromMs: number; readonly toMs: number } {
  const endedMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS
  return { fromMs: day.startMs, toMs: Math.max(day.startMs + HOUR_MS, Math.min(day.endMs, endedMs)) }
}
