/** What the broker adds to topic and payload of each message that it keeps (the embedded one counts so). */
export const FRAME_BYTES = 100
/** The rate is a mean in which what is this old weighs a third. */
const RATE_MEMORY_MS = 300_000

export interface BrokerLimits {
  /** Absent: without limit. */
  readonly messages?: number | undefined
  readonly bytes?: number | undefined
}

/** Totals since the start. */
export interface Received {
  readonly messages: number
  /** Topic and payload. */
  readonly bytes: number
}

/**
 * How long the broker can hold the fleet's messages before it drops any. While we take nothing (no connection, input held) what
 * is parked grows with the rate measured before; what comes above that rate afterwards is the parked part coming out. The rate is not
 * measured while anything is parked. Nobody tells us how much is parked, so it is an estimate, given up after `backlogLimitMs`.
 */
export class OutageBudget {
  readonly #limits: BrokerLimits
  readonly #backlogLimitMs: number
  #before: (Received & { readonly ms: number }) | null = null
  /** Sums that fade with time: messages, bytes and the milliseconds they came in. */
  #sums = { messages: 0, bytes: 0, ms: 0 }
  #parked = { messages: 0, bytes: 0 }
  #takingSinceMs: number | null = null

  constructor(limits: BrokerLimits, backlogLimitMs: number) {
    this.#limits = limits
    this.#backlogLimitMs = backlogLimitMs
  }

  /** Takes note of the totals, about once a second. `taking`: messages reach us now. */
  observe(nowMs: number, received: Received, taking: boolean): void {
    const before = this.#before
    this.#before = { ...received, ms: nowMs }
    this.#takingSinceMs = taking ? (this.#takingSinceMs ?? nowMs) : null
    if (before === null || nowMs <= before.ms) return
    const ms = nowMs - before.ms
    const messages = received.messages - before.messages
    const bytes = received.bytes - before.bytes + messages * FRAME_BYTES
    const drained = this.#takingSinceMs !== null && nowMs - this.#takingSinceMs >= this.#backlogLimitMs
    if (drained) this.#parked = { messages: 0, bytes: 0 }
    if (taking && this.#parked.messages === 0) this.#measure(ms, messages, bytes)
    else this.#park(ms, messages, bytes)
  }

  /** Seconds until the first message is dropped, at the present rate; Infinity when nothing is sent, null when no limit is known. */
  get secondsLeft(): number | null {
    const { messages, bytes, ms } = this.#sums
    const left = [
      secondsUntil(this.#limits.messages, this.#parked.messages, messages, ms),
      secondsUntil(this.#limits.bytes, this.#parked.bytes, bytes, ms),
    ].filter((seconds) => seconds !== null)
    return left.length === 0 ? null : Math.min(...left)
  }

  #measure(ms: number, messages: number, bytes: number): void {
    const kept = Math.exp(-ms / RATE_MEMORY_MS)
    const sums = this.#sums
    this.#sums = { messages: sums.messages * kept + messages, bytes: sums.bytes * kept + bytes, ms: sums.ms * kept + ms }
  }

  #park(ms: number, messages: number, bytes: number): void {
    const expected = this.#sums.ms === 0 ? 0 : ms / this.#sums.ms
    this.#parked = {
      messages: Math.max(0, this.#parked.messages + this.#sums.messages * expected - messages),
      bytes: Math.max(0, this.#parked.bytes + this.#sums.bytes * expected - bytes),
    }
  }
}

function secondsUntil(limit: number | undefined, parked: number, sum: number, ms: number): number | null {
  if (limit === undefined) return null
  if (sum === 0) return Number.POSITIVE_INFINITY
  return Math.max(0, limit - parked) / (sum / ms) / 1000
}
