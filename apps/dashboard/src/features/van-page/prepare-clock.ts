import type { Track } from '../playback/track-columns.ts'

/**
 * What arrival − event time says of a phone's clock. Nothing arrives before it was made: a negative difference is a clock that is ahead.
 * `steady`: always late by about as much, which is a clock that is behind or a line that is slow; nobody can tell the two apart from here.
 * `bursts`: mostly quick, at times minutes late: points are saved up. `good`: none of these.
 */
export type ClockVerdict = 'ahead' | 'steady' | 'bursts' | 'good'

export interface ClockOffset {
  readonly verdict: ClockVerdict
  readonly points: number
  readonly medianMs: number
  /** The middle half lies between these. */
  readonly lowMs: number
  readonly highMs: number
  readonly leastMs: number
  readonly mostMs: number
  /** By how much the clock is ahead at least; 0 when nothing says that it is. */
  readonly aheadMs: number
}

const FEWEST_POINTS = 5
/** Clocks of phones and ours may differ by so much without meaning anything. */
const TOLERATED_MS = 1_000
const STEADY_FROM_MS = 10_000
const STEADY_SPREAD_MS = 5_000
const BURST_MS = 60_000

/** null when too few points tell when they arrived. */
export function prepareClock({ delayMs, count }: Track): ClockOffset | null {
  const known = delayMs
    .subarray(0, count)
    .filter((ms) => !Number.isNaN(ms))
    .sort()
  if (known.length < FEWEST_POINTS) return null
  const at = (share: number) => known[Math.round(share * (known.length - 1))] ?? 0
  const [leastMs, lowMs, medianMs, highMs, mostMs] = [at(0), at(0.25), at(0.5), at(0.75), at(1)]
  // One point alone may have a wrong time: the hundredth part decides.
  const aheadMs = Math.max(0, -at(0.01))
  const isSteady = at(0.05) >= STEADY_FROM_MS && highMs - lowMs <= STEADY_SPREAD_MS
  const verdict = aheadMs > TOLERATED_MS ? 'ahead' : isSteady ? 'steady' : at(0.99) - medianMs > BURST_MS ? 'bursts' : 'good'
  return { verdict, points: known.length, medianMs, lowMs, highMs, leastMs, mostMs, aheadMs: aheadMs > TOLERATED_MS ? aheadMs : 0 }
}
