const FIRST_SLOTS = 1 << 12
/** Linear probing stays short below it. */
const MAX_LOAD = 0.6

/**
 * Counts in a few columns by a whole number in [0, 2^53): open addressing over typed arrays, some 30 bytes a key, so that a day of messages
 * fits into little memory. Keys are digests: two messages with one digest would be taken for one (a chance of 1 in 3,000 for 2.4 M messages).
 */
export class CountTable {
  readonly #columns: number
  /** Key + 1, so that 0 is an empty slot. */
  #keys = new Float64Array(FIRST_SLOTS)
  #counts: Uint32Array
  #size = 0

  constructor(columns: number) {
    this.#columns = columns
    this.#counts = new Uint32Array(FIRST_SLOTS * columns)
  }

  get size(): number {
    return this.#size
  }

  has(key: number): boolean {
    return this.#keys[this.#slotOf(key)] === key + 1
  }

  get(key: number, column: number): number {
    const slot = this.#slotOf(key)
    return this.#keys[slot] === key + 1 ? this.#counts[slot * this.#columns + column]! : 0
  }

  add(key: number, column: number): void {
    let slot = this.#slotOf(key)
    if (this.#keys[slot] !== key + 1) {
      if (this.#size + 1 > this.#keys.length * MAX_LOAD) {
        this.#grow()
        slot = this.#slotOf(key)
      }
      this.#keys[slot] = key + 1
      this.#size += 1
    }
    this.#counts[slot * this.#columns + column]! += 1
  }

  /** Calls `visit` with the counts of each key. The array is the table's own piece: it is read, not kept. */
  each(visit: (counts: Uint32Array) => void): void {
    for (let slot = 0; slot < this.#keys.length; slot += 1) {
      if (this.#keys[slot] !== 0) visit(this.#counts.subarray(slot * this.#columns, (slot + 1) * this.#columns))
    }
  }

  /** Slot of the key, or the empty one where it belongs. */
  #slotOf(key: number): number {
    const mask = this.#keys.length - 1
    let slot = mix(key) & mask
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== key + 1) slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const [keys, counts] = [this.#keys, this.#counts]
    this.#keys = new Float64Array(keys.length * 2)
    this.#counts = new Uint32Array(keys.length * 2 * this.#columns)
    for (let slot = 0; slot < keys.length; slot += 1) {
      if (keys[slot] === 0) continue
      const to = this.#slotOf(keys[slot]! - 1)
      this.#keys[to] = keys[slot]!
      this.#counts.set(counts.subarray(slot * this.#columns, (slot + 1) * this.#columns), to * this.#columns)
    }
  }
}

function mix(key: number): number {
  let hash = Math.imul((key >>> 0) ^ Math.imul(Math.floor(key / 4_294_967_296), 0x9e3779b1), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae35)
  return (hash ^ (hash >>> 13)) >>> 0
}

/** A number for a place in a log: exact for up to 8,192 partitions of 2^40 records. */
export function placeKey(partition: number, offset: number): number {
  return partition * 1_099_511_627_776 + offset
}

/** A number in [0, 2^53) for a text (cyrb53, public domain). */
export function textKey(text: string): number {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    high = Math.imul(high ^ code, 2_654_435_761)
    low = Math.imul(low ^ code, 1_597_334_677)
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0)
}

/** A number in [0, 2^53) from a SHA-256 in hexadecimal: its first 52 bits. */
export function digestKey(sha256: string): number {
  return Number.parseInt(sha256.slice(0, 13), 16)
}
