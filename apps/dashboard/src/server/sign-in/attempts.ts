/** So many that come from different places are remembered; beyond it the oldest are forgotten. */
const KEPT = 10_000

/** How often each of many may do something within a window. In memory: the panel is one process. */
export class Allowance {
  readonly #most: number
  readonly #windowMs: number
  readonly #nowMs: () => number
  /** By who: when the window began, and how much was spent in it. In the order in which they began. */
  readonly #spent = new Map<string, { readonly sinceMs: number; count: number }>()

  constructor(options: { readonly most: number; readonly windowMs: number; readonly nowMs: () => number }) {
    this.#most = options.most
    this.#windowMs = options.windowMs
    this.#nowMs = options.nowMs
  }

  /** Milliseconds until `who` may again; 0 when they may now. */
  waitMs(who: string): number {
    const known = this.#current(who)
    return known === undefined || known.count < this.#most ? 0 : known.sinceMs + this.#windowMs - this.#nowMs()
  }

  /** Spends one. Milliseconds until `who` may again when there was none left, else 0. */
  spend(who: string): number {
    const waitMs = this.waitMs(who)
    if (waitMs > 0) return waitMs
    const known = this.#current(who)
    if (known !== undefined) known.count += 1
    else {
      this.#spent.delete(who)
      this.#spent.set(who, { sinceMs: this.#nowMs(), count: 1 })
      const oldest = this.#spent.keys().next().value
      if (this.#spent.size > KEPT && oldest !== undefined) this.#spent.delete(oldest)
    }
    return 0
  }

  /** Gives one back. */
  giveBack(who: string): void {
    const known = this.#current(who)
    if (known !== undefined && known.count > 0) known.count -= 1
  }

  /** Gives back all that `who` has spent. */
  forgive(who: string): void {
    this.#spent.delete(who)
  }

  #current(who: string) {
    const known = this.#spent.get(who)
    return known !== undefined && this.#nowMs() < known.sinceMs + this.#windowMs ? known : undefined
  }
}
