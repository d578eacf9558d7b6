import { LATENESS_STEPS_MS, latenessQuantile, latenessStep } from '@km0/contracts'

export interface AdaptiveDelayRules {
  /** Share of the points that may come after the delay. */
  readonly targetShare: number
  readonly minMs: number
  readonly maxMs: number
  /** How often it is decided. */
  readonly everyMs: number
}

/** What is measured counts by so much less an hour later. */
const AN_HOUR_LATER = 0.4
const HOUR_MS = 3_600_000
/** Fewer points say nothing of a share of some thousandths. */
const LEAST_POINTS = 2_000
/** A difference of less is none. */
const RAISE_FROM = 1.1
const LOWER_FROM = 0.8
const LEAST_CHANGE_MS = 5_000
/** So many decisions in a row must want the same: late points cost more than older results, so a longer delay comes sooner. */
const RAISE_AFTER = 2
const LOWER_AFTER = 6
/** A delay is lowered by so much at a time at most. */
const LOWER_TO = 0.8
const ROUND_MS = 1_000

/**
 * Moves the watermark's delay towards the one that a target share of late points needs, from how late positions came in the last hours. It is slow
 * on purpose: two decisions that agree to raise, six to lower, nothing for differences of a few seconds. Reads no clock.
 */
export class AdaptiveDelay {
  readonly #rules: AdaptiveDelayRules
  #counts = new Array<number>(LATENESS_STEPS_MS.length + 1).fill(0)
  #decidedMs: number | null = null
  #inARow = 0

  constructor(rules: AdaptiveDelayRules) {
    this.#rules = rules
  }

  /** Takes note of a position: arrival less event time. */
  observe(latenessMs: number): void {
    this.#counts[latenessStep(latenessMs)]! += 1
  }

  /** The delay to go over to at `nowMs`, where `currentMs` is in force; null: it stays. */
  decide(nowMs: number, currentMs: number): number | null {
    this.#decidedMs ??= nowMs
    const sinceMs = nowMs - this.#decidedMs
    if (sinceMs < this.#rules.everyMs) return null
    this.#decidedMs = nowMs
    const wantedMs = this.#wantedMs()
    const keep = AN_HOUR_LATER ** (sinceMs / HOUR_MS)
    this.#counts = this.#counts.map((count) => count * keep)
    if (wantedMs === null) return null
    const isFar = Math.abs(wantedMs - currentMs) >= LEAST_CHANGE_MS
    const direction = isFar && wantedMs >= currentMs * RAISE_FROM ? 1 : isFar && wantedMs <= currentMs * LOWER_FROM ? -1 : 0
    this.#inARow = direction === 0 ? 0 : Math.sign(this.#inARow) === direction ? this.#inARow + direction : direction
    if (this.#inARow >= RAISE_AFTER) return this.#moved(wantedMs)
    if (this.#inARow <= -LOWER_AFTER) return this.#moved(Math.max(wantedMs, Math.ceil((currentMs * LOWER_TO) / ROUND_MS) * ROUND_MS))
    return null
  }

  #moved(delayMs: number): number {
    this.#inARow = 0
    return delayMs
  }

  #wantedMs(): number | null {
    const { targetShare, minMs, maxMs } = this.#rules
    if (this.#counts.reduce((sum, count) => sum + count, 0) < LEAST_POINTS) return null
    const coversMs = latenessQuantile(this.#counts, 1 - targetShare) ?? maxMs
    return Math.min(maxMs, Math.max(minMs, Math.ceil(coversMs / ROUND_MS) * ROUND_MS))
  }
}
