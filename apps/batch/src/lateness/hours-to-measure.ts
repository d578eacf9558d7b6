const HOUR_MS = 3_600_000

export interface HoursGiven {
  /** Present time of the platform. */
  readonly nowMs: number
  /** Hours that are kept. */
  readonly keepHours: number
  /** An hour is measured for good when it ended so long ago: the lake has it then. */
  readonly settleMs: number
}

/**
 * The span of hours of arrival that is to be measured now: from the first one that was not measured after it had settled, to the one that goes on.
 * `known`: hours that were measured, and when.
 */
export function hoursToMeasure(
  known: readonly { readonly hourMs: number; readonly measuredAtMs: number }[],
  { nowMs, keepHours, settleMs }: HoursGiven,
): { readonly fromMs: number; readonly toMs: number } {
  const toMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS + HOUR_MS
  const settled = new Set(
    known.filter(({ hourMs, measuredAtMs }) => measuredAtMs >= hourMs + HOUR_MS + settleMs).map(({ hourMs }) => hourMs),
  )
  let fromMs = toMs - keepHours * HOUR_MS
  while (fromMs < toMs - HOUR_MS && settled.has(fromMs)) fromMs += HOUR_MS
  return { fromMs, toMs }
}
