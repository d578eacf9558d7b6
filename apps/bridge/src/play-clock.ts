export const HEARTBEAT_EVERY_MS = 10_000

/** Kafka deletes by record timestamp: what is older than positions are kept would vanish as soon as it is written. */
const OLDEST_MS = 8 * 86_400_000
/** The player is at the machine's time when it is this near: its tick has travelled meanwhile. */
const MEETING_MS = 2_000
/** A log that ended on the machine's clock may belong to a player that has finished: without a tick for so long it has. */
const PLAYER_GONE_MS = 60_000
/** A tick further ahead than this is a mistake; Kafka refuses records an hour ahead. */
const MAX_AHEAD_MS = 60_000

export type Tick =
  /** `heartbeatsMs`: the multiples of 10 s that the clock has passed, in order. */
  { readonly kind: 'moved'; readonly heartbeatsMs: Iterable<number> } | { readonly kind: 'refused'; readonly detail: string }

/**
 * The player's clock. It stands where the newest tick has put it and never goes back, so that the log does not depend on the machine's
 * speed. When it meets the machine's clock it goes on with that, for good.
 */
export class PlayClock {
  readonly #machineMs: () => number
  #ms: number | null = null
  #met = false
  /** Machine's time of a start after which no tick was heard yet, where the log had ended on the machine's clock. */
  #resumedAtMs: number | null = null

  /** `machineMs` tells the machine's time. */
  constructor(machineMs: () => number) {
    this.#machineMs = machineMs
  }

  /** True once it runs with the machine's clock. */
  get met(): boolean {
    return this.#met
  }

  /** Present time, null before the first tick. */
  nowMs(): number | null {
    if (this.#resumedAtMs !== null && this.#machineMs() - this.#resumedAtMs > PLAYER_GONE_MS) this.#met = true
    if (this.#met) this.#ms = Math.max(this.#ms ?? 0, this.#machineMs())
    return this.#ms
  }

  /**
   * Goes on where the log ends. Where that is on the machine's clock (`machine`) and no player is heard, it goes on with the machine's
   * after a minute: a fleet that starts again begins where it had stopped, and its ticks come within that time.
   */
  resume(ms: number, machine: boolean): void {
    this.#ms = Math.max(this.#ms ?? ms, ms)
    if (machine) this.#resumedAtMs = this.#machineMs()
  }

  /** Takes the payload of a tick, `{"ara_ms":N}`. One that would turn the clock back moves nothing. */
  tick(payload: Buffer): Tick {
    const targetMs = tickOf(payload)
    if (targetMs === null) return { kind: 'refused', detail: 'no integer ara_ms' }
    const machineMs = this.#machineMs()
    if (targetMs > machineMs + MAX_AHEAD_MS) return { kind: 'refused', detail: 'ahead of the machine' }
    if (targetMs < machineMs - OLDEST_MS) return { kind: 'refused', detail: 'older than positions are kept' }
    const beforeMs = this.#ms
    this.#resumedAtMs = null
    if (!this.#met) this.#ms = Math.max(beforeMs ?? targetMs, targetMs)
    if (targetMs >= machineMs - MEETING_MS) this.#met = true
    return { kind: 'moved', heartbeatsMs: beforeMs === null ? [] : multiplesAfter(beforeMs, this.#ms ?? beforeMs) }
  }
}

function tickOf(payload: Buffer): number | null {
  try {
    const message: unknown = JSON.parse(payload.toString('utf8'))
    if (typeof message !== 'object' || message === null || !('ara_ms' in message)) return null
    return typeof message.ara_ms === 'number' && Number.isSafeInteger(message.ara_ms) ? message.ara_ms : null
  } catch {
    return null
  }
}

/** Multiples of 10 s in (after, until]. */
function* multiplesAfter(afterMs: number, untilMs: number): Generator<number> {
  for (let ms = (Math.floor(afterMs / HEARTBEAT_EVERY_MS) + 1) * HEARTBEAT_EVERY_MS; ms <= untilMs; ms += HEARTBEAT_EVERY_MS) yield ms
}
