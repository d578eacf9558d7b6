/** Ends that look like a take-over within `WINDOW_MS`, after which we say so. */
const SUSPICIOUS_ENDS = 3
const WINDOW_MS = 600_000
/** A connection that lasted longer was hardly ended by a client that keeps coming back. */
const SHORT_MS = 120_000
/** The same where nothing but the time tells. */
const SHORT_ALONE_MS = 10_000

export interface ConnectionEnd {
  readonly atMs: number
  readonly lastedMs: number
  /** Whether our other connection to the same broker went on meanwhile: then broker and network are well. Null: there is none. */
  readonly otherStood: boolean | null
}

/**
 * Finds another client with our client id. A broker ends the older of two connections with one id, so two such clients throw each
 * other out for ever. It looks like this: a connection ends again and again, soon after it stood, while another one to the same
 * broker goes on.
 */
export class TakeoverWatch {
  #ends: number[] = []

  /** Takes note of an end, once it is known whether the other connection stood. Returns true when it is the one that makes it certain. */
  ended({ atMs, lastedMs, otherStood }: ConnectionEnd): boolean {
    const before = this.suspected(atMs)
    const like = otherStood === null ? lastedMs < SHORT_ALONE_MS : otherStood && lastedMs < SHORT_MS
    if (like) this.#ends = [...this.#ends, atMs].slice(-SUSPICIOUS_ENDS)
    return !before && this.suspected(atMs)
  }

  /** True from the third such end on, until ten minutes are over without three. */
  suspected(nowMs: number): boolean {
    return this.#ends.filter((ms) => nowMs - ms < WINDOW_MS).length >= SUSPICIOUS_ENDS
  }
}
