/** Present time of the platform. For metrics and `written_at` only: no result depends on it. */
export interface PlatformClock {
  nowMs(): number
  /** Tells the timestamp of a record of the log: in play mode the bridge stamps records with the player's time. */
  hear(timestampMs: number): void
}

export const machineClock: PlatformClock = { nowMs: () => Date.now(), hear: () => undefined }

/** The player's clock has met the machine's when it is this near: records take a moment to come. */
const MEETING_MS = 2_000

/** In play mode: the newest timestamp of the log, until it has met the machine's clock; from then on that one. */
export class PlayedClock implements PlatformClock {
  readonly #machineMs: () => number
  #newestMs = 0
  #met = false

  constructor(machineMs: () => number = Date.now) {
    this.#machineMs = machineMs
  }

  hear(timestampMs: number): void {
    if (timestampMs <= this.#newestMs) return
    this.#newestMs = timestampMs
    if (timestampMs >= this.#machineMs() - MEETING_MS) this.#met = true
  }

  nowMs(): number {
    return this.#met || this.#newestMs === 0 ? this.#machineMs() : this.#newestMs
  }
}

export function platformClock(mode: 'machine' | 'play'): PlatformClock {
  return mode === 'play' ? new PlayedClock() : machineClock
}
