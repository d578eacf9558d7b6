/** State of a clock as it stands in a snapshot; null is "not yet". */
export interface ClockSnapshot {
  readonly progressMs: number | null
  readonly watermarkMs: number | null
  readonly finalMs: number | null
  readonly delayMs: number
  readonly allowedLatenessMs: number
}

/**
 * Event-time clock of one partition. The watermark W says that no event earlier than W is expected any more; the final mark F that results
 * which end at or before it change no more. `W = progress - delay` and `F = W - allowed lateness`, and neither goes back, whatever the
 * settings become. All are -Infinity at first.
 */
export class PartitionClock {
  progressMs = Number.NEGATIVE_INFINITY
  watermarkMs = Number.NEGATIVE_INFINITY
  finalMs = Number.NEGATIVE_INFINITY
  private delayMs: number
  private allowedLatenessMs: number

  constructor(delayMs: number, allowedLatenessMs: number) {
    this.delayMs = delayMs
    this.allowedLatenessMs = allowedLatenessMs
  }

  /** A record that counts came, of time `atMs`. Returns whether W moved. */
  observe(atMs: number): boolean {
    if (!(atMs > this.progressMs)) return false
    this.progressMs = atMs
    return this.raise(atMs - this.delayMs)
  }

  /** Other settings are in force from now on. Returns whether W moved. */
  configure(delayMs: number, allowedLatenessMs: number): boolean {
    this.delayMs = delayMs
    this.allowedLatenessMs = allowedLatenessMs
    return this.raise(this.progressMs - delayMs)
  }

  /** W is at least `watermarkMs`. Returns whether W moved. */
  raise(watermarkMs: number): boolean {
    const moved = watermarkMs > this.watermarkMs
    if (moved) this.watermarkMs = watermarkMs
    const finalMs = this.watermarkMs - this.allowedLatenessMs
    if (finalMs > this.finalMs) this.finalMs = finalMs
    return moved
  }

  snapshot(): ClockSnapshot {
    return {
      progressMs: finiteOrNull(this.progressMs),
      watermarkMs: finiteOrNull(this.watermarkMs),
      finalMs: finiteOrNull(this.finalMs),
      delayMs: this.delayMs,
      allowedLatenessMs: this.allowedLatenessMs,
    }
  }

  static restore(from: ClockSnapshot): PartitionClock {
    const clock = new PartitionClock(from.delayMs, from.allowedLatenessMs)
    clock.progressMs = from.progressMs ?? Number.NEGATIVE_INFINITY
    clock.watermarkMs = from.watermarkMs ?? Number.NEGATIVE_INFINITY
    clock.finalMs = from.finalMs ?? Number.NEGATIVE_INFINITY
    return clock
  }
}

/** As JSON has it: an infinite time is "not yet". */
export function finiteOrNull(ms: number): number | null {
  return Number.isFinite(ms) ? ms : null
}
