interface VanLateness {
  lastSeenMs: number
  lastLatenessMs: number
  readonly samples: { readonly atMs: number; readonly latenessMs: number }[]
}

const DAY_MS = 86_400_000
const SAMPLE_EVERY_MS = DAY_MS / 48
const MAX_VANS = 20_000

/**
 * How late each van usually is (the median of samples of the last day, taken while nothing was draining), and how late it is now.
 * Bounded: 48 samples a van, 20,000 vans, of which the longest silent ones are forgotten.
 */
export class LatenessTracker {
  readonly #vans = new Map<string, VanLateness>()
  readonly #maxVans: number

  constructor(maxVans = MAX_VANS) {
    this.#maxVans = maxVans
  }

  /**
   * Takes note of one accepted message. `settled` says that nothing is being drained, so that the lateness is the van's own.
   * Times that are no safe integers tell nothing and are ignored.
   */
  observe(van: string, eventMs: number | null, arrivalMs: number, settled: boolean): void {
    if (eventMs === null || !Number.isSafeInteger(eventMs)) return
    const latenessMs = arrivalMs - eventMs
    const known = this.#vans.get(van)
    const entry = known ?? { lastSeenMs: arrivalMs, lastLatenessMs: latenessMs, samples: [] }
    entry.lastSeenMs = arrivalMs
    entry.lastLatenessMs = latenessMs
    // Moved to the end: the first one is always the longest silent.
    if (known !== undefined) this.#vans.delete(van)
    this.#vans.set(van, entry)
    if (settled) sample(entry, arrivalMs, latenessMs)
    if (this.#vans.size > this.#maxVans) this.#vans.delete(this.#vans.keys().next().value as string)
  }

  /** Median, over the vans heard since `sinceMs`, of their last lateness less their usual one; null when none was heard. */
  medianExcessMs(sinceMs: number, nowMs: number): number | null {
    const excesses: number[] = []
    for (const entry of this.#vans.values()) {
      if (entry.lastSeenMs < sinceMs) continue
      const usual = median(entry.samples.filter(({ atMs }) => atMs > nowMs - DAY_MS).map(({ latenessMs }) => latenessMs))
      excesses.push(entry.lastLatenessMs - (usual ?? 0))
    }
    return median(excesses)
  }
}

function sample(entry: VanLateness, atMs: number, latenessMs: number): void {
  const last = entry.samples.at(-1)
  if (last !== undefined && atMs - last.atMs < SAMPLE_EVERY_MS) return
  entry.samples.push({ atMs, latenessMs })
  while (entry.samples[0] !== undefined && entry.samples[0].atMs <= atMs - DAY_MS) entry.samples.shift()
}

/** Middle value, the lower of two; null of none. */
function median(values: number[]): number | null {
  values.sort((a, b) => a - b)
  return values[Math.floor((values.length - 1) / 2)] ?? null
}
