/** How often the ends are read, while somebody asks. A job that has not come in this time to where the log ended is behind. */
const READ_EVERY_MS = 5_000

/** Ends of the source partitions a moment ago, read from the log only while somebody asks for them. */
export class SourceEnds {
  readonly #read: () => Promise<ReadonlyMap<number, number>>
  readonly #nowMs: () => number
  #newest: { readonly atMs: number; readonly ends: ReadonlyMap<number, number> } | null = null
  #before: ReadonlyMap<number, number> | null = null
  #reading = false

  constructor(read: () => Promise<ReadonlyMap<number, number>>, nowMs: () => number = () => performance.now()) {
    this.#read = read
    this.#nowMs = nowMs
  }

  /** The ends as they were at least five seconds ago; null until then, and while the log is away. */
  before(): ReadonlyMap<number, number> | null {
    const nowMs = this.#nowMs()
    const newest = this.#newest
    if (newest !== null && nowMs - newest.atMs >= READ_EVERY_MS) this.#before = newest.ends
    if (!this.#reading && (newest === null || nowMs - newest.atMs >= READ_EVERY_MS)) void this.#readAgain()
    return this.#before
  }

  async #readAgain(): Promise<void> {
    this.#reading = true
    try {
      this.#newest = { ends: await this.#read(), atMs: this.#nowMs() }
    } catch {
      this.#newest = null
      this.#before = null
    } finally {
      this.#reading = false
    }
  }
}
