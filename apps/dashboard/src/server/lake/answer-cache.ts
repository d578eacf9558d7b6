/** Memory of answers, in bytes. */
const MOST_BYTES = 64 * 1024 * 1024

interface Entry {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly freshUntilMs: number
}

interface Flight {
  readonly answer: Promise<Uint8Array<ArrayBuffer>>
  readonly abort: AbortController
  waiters: number
}

/**
 * Answers by key: one that is fresh is given again, one that is on its way is shared. It is given up when the last who waits for it has gone. The
 * least recently used are forgotten first.
 */
export class AnswerCache {
  readonly #entries = new Map<string, Entry>()
  readonly #flights = new Map<string, Flight>()
  readonly #nowMs: () => number
  readonly #mostBytes: number
  #bytes = 0

  constructor(nowMs: () => number = () => performance.now(), mostBytes = MOST_BYTES) {
    this.#nowMs = nowMs
    this.#mostBytes = mostBytes
  }

  /** The answer to `key`, at most `freshMs` old. Rejects as `make` does; with an AbortError when `signal` is aborted. */
  async get(
    key: string,
    freshMs: number,
    signal: AbortSignal,
    make: (signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>,
  ): Promise<Uint8Array<ArrayBuffer>> {
    const known = this.#entries.get(key)
    if (known !== undefined && known.freshUntilMs > this.#nowMs()) {
      this.#entries.delete(key)
      this.#entries.set(key, known)
      return known.bytes
    }
    const flight = this.#flights.get(key) ?? this.#begin(key, freshMs, make)
    flight.waiters += 1
    let leave = () => {}
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(new DOMException('nobody waits for it any more', 'AbortError'))
      signal.addEventListener('abort', leave)
      if (signal.aborted) leave()
    })
    try {
      return await Promise.race([flight.answer, left])
    } finally {
      signal.removeEventListener('abort', leave)
      flight.waiters -= 1
      if (flight.waiters === 0) flight.abort.abort()
    }
  }

  #begin(key: string, freshMs: number, make: (signal: AbortSignal) => Promise<Uint8Array<ArrayBuffer>>): Flight {
    const abort = new AbortController()
    const answer = make(abort.signal)
    const flight: Flight = { answer, abort, waiters: 0 }
    this.#flights.set(key, flight)
    const over = () => {
      if (this.#flights.get(key) === flight) this.#flights.delete(key)
    }
    // Whoever asks while one is being given up begins anew.
    abort.signal.addEventListener('abort', over)
    answer.then((bytes) => {
      over()
      this.#keep(key, { bytes, freshUntilMs: this.#nowMs() + freshMs })
    }, over)
    return flight
  }

  #keep(key: string, entry: Entry): void {
    this.#forget(key)
    this.#entries.set(key, entry)
    this.#bytes += entry.bytes.byteLength
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#mostBytes) return
      this.#forget(oldest)
    }
  }

  #forget(key: string): void {
    const known = this.#entries.get(key)
    if (known === undefined) return
    this.#entries.delete(key)
    this.#bytes -= known.bytes.byteLength
  }
}
