import { createHmac, randomBytes } from 'node:crypto'

/** 72 bits: two of a million vans are the same with a chance of one in ten thousand million. */
const CHARACTERS = 12

/**
 * Names that stand for vans: the same van has the same one as long as the key is the same, and without the key nobody tells whose it is, nor
 * tries names until one fits. Without a key it is another one each time that this program starts.
 */
export class Pseudonyms {
  readonly #key: string | Buffer
  readonly #byVan = new Map<string, string>()
  readonly #vans = new Map<string, string>()

  constructor(key: string | null) {
    this.#key = key ?? randomBytes(32)
  }

  of(van: string): string {
    let name = this.#byVan.get(van)
    if (name === undefined) {
      name = `v-${createHmac('sha256', this.#key).update(`van\0${van}`).digest('base64url').slice(0, CHARACTERS)}`
      this.#byVan.set(van, name)
      this.#vans.set(name, van)
    }
    return name
  }

  /** Whose name it is, of the vans that were named here; null for any other text, the van's own name too. */
  vanOf(pseudonym: string): string | null {
    return this.#vans.get(pseudonym) ?? null
  }
}
