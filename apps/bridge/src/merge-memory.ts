import { createHash } from 'node:crypto'

/** Longer payloads are told apart by their digest, so that the memory stays small. */
const MAX_LITERAL_BYTES = 512

/**
 * What makes two deliveries twins: topic, payload, and whether it is a retained copy. The broker's DUP flag says less: aedes does not
 * set it, and after a restart of the broker a publisher's own repetition has none.
 */
export function deliveryKey(topic: string, payload: Buffer, retain: boolean): string {
  const body = payload.length <= MAX_LITERAL_BYTES ? payload.toString('latin1') : createHash('sha256').update(payload).digest('base64')
  return `${retain ? 'r' : 'n'}${topic}\0${body}`
}

/**
 * The last `capacity` different keys that were added; the oldest goes first. A ring tells which one that is: a set that is only eaten
 * from its front is slow at finding its first member.
 */
export class MergeMemory {
  readonly #capacity: number
  readonly #keys = new Set<string>()
  readonly #ring: string[] = []
  #next = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  add(key: string): void {
    if (this.#capacity === 0 || this.#keys.has(key)) return
    const oldest = this.#ring[this.#next]
    if (oldest !== undefined) this.#keys.delete(oldest)
    this.#ring[this.#next] = key
    this.#keys.add(key)
    this.#next = (this.#next + 1) % this.#capacity
  }

  get size(): number {
    return this.#keys.size
  }
}
