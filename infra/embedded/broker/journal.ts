import { ClassicLevel } from 'classic-level'

type Operation = { type: 'put'; key: string; value: Buffer } | { type: 'del'; key: string }

/**
 * Group commit in front of a LevelDB: operations are collected while a batch is being written and go out together as the next one.
 * Promises resolve in the order of their calls, which LevelDB's own thread pool does not promise.
 * What is written outlives a kill -9 of this process; with `sync` a loss of power too.
 */
export class Journal {
  readonly #db: ClassicLevel<string, Buffer>
  readonly #sync: boolean
  #pending: Operation[] = []
  #next: Promise<void> | null = null
  #current: Promise<void> = Promise.resolve()

  private constructor(db: ClassicLevel<string, Buffer>, sync: boolean) {
    this.#db = db
    this.#sync = sync
  }

  /** Opens or creates the database in a folder. Throws when another process holds it. */
  static async open(folder: string, sync: boolean): Promise<Journal> {
    const db = new ClassicLevel<string, Buffer>(folder, { keyEncoding: 'utf8', valueEncoding: 'buffer' })
    await db.open()
    return new Journal(db, sync)
  }

  put(key: string, value: Buffer): void {
    this.#pending.push({ type: 'put', key, value })
  }

  del(key: string): void {
    this.#pending.push({ type: 'del', key })
  }

  /** Resolves when all that was put or deleted so far is written. */
  commit(): Promise<void> {
    if (this.#pending.length === 0) return this.#current
    this.#next ??= this.#current.then(() => {
      const operations = this.#pending
      this.#pending = []
      this.#current = this.#next ?? this.#current
      this.#next = null
      return this.#db.batch(operations, { sync: this.#sync })
    })
    return this.#next
  }

  /** Everything under a prefix, in the order of the keys' bytes. */
  async *read(prefix: string): AsyncGenerator<[string, Buffer]> {
    yield* this.#db.iterator({ gte: prefix, lt: `${prefix}\uffff` })
  }

  /** Writes what is left and closes. */
  async close(): Promise<void> {
    await this.commit()
    await this.#db.close()
  }
}
