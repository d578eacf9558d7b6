/**
 * Seeded random numbers: sfc32 ("small fast counting", Chris Doty-Humphrey, PractRand 2010), seeded by mixing integers with the
 * finaliser of MurmurHash3. A stream is made for every question ("fix 812 of van 7"), so that an answer depends on the
 * question alone and never on how many numbers were drawn before it.
 */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  /** Equal parts give the equal stream. Parts are integers; beyond 32 bits both halves count. */
  constructor(...parts: readonly number[]) {
    let hash = 0x9e3779b9
    for (const part of parts) {
      hash = mix(hash ^ (part >>> 0))
      hash = mix(hash ^ Math.floor(part / 0x1_0000_0000))
    }
    this.#a = hash
    this.#b = mix(hash ^ 0x85ebca6b)
    this.#c = mix(hash ^ 0xc2b2ae35)
    for (let round = 0; round < 8; round += 1) this.#next()
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    return sum >>> 0
  }

  /** In [0, 1), 32 bits. */
  unit(): number {
    return this.#next() / 0x1_0000_0000
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.unit()
  }

  /** Integer in [low, high]. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1))
  }

  /** Mean 0, deviation 1 (Box and Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.unit())) * Math.cos(2 * Math.PI * this.unit())
  }

  /** As likely between 1 and 2 as between 2 and 4. */
  logUniform(low: number, high: number): number {
    return low * (high / low) ** this.unit()
  }

  chance(probability: number): boolean {
    return this.unit() < probability
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.unit() * items.length)]
    if (item === undefined) throw new RangeError('nothing to pick from')
    return item
  }
}

/** 32-bit finaliser of MurmurHash3 (Austin Appleby). */
function mix(value: number): number {
  let hash = value | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** 32-bit FNV-1a of a text's code units: turns a name into a part of a seed. */
export function seedOf(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
