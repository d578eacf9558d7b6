import { type OutageValue, type OutageView, outageView } from '@km0/contracts'

/** Outages that ended longer than this before the newest one are forgotten: they are in the store. */
export const OUTAGES_KEPT_MS = 7 * 86_400_000
/** A connection that comes and goes for days must not fill every snapshot. */
export const OUTAGES_KEPT = 600

/** Outages of ours that are over, from `repartiment.marques`. Each is known by partition and beginning; a later record of the log wins. */
export class OutageBook {
  readonly #outages = new Map<string, OutageValue>()

  /** True when it is news. */
  apply(value: OutageValue): boolean {
    const key = `${value.particio}|${value.inici_ms}`
    const known = this.#outages.get(key)
    if (known !== undefined && (value.epoca < known.epoca || (value.epoca === known.epoca && value.offset <= known.offset))) return false
    this.#outages.set(key, value)
    this.#forgetOld()
    return this.#outages.has(key)
  }

  /** Oldest first. */
  views(): OutageView[] {
    return [...this.#outages.values()].map(outageView).sort((a, b) => a.fromMs - b.fromMs || a.partition - b.partition)
  }

  #forgetOld(): void {
    const newestMs = Math.max(...[...this.#outages.values()].map((outage) => outage.fi_ms))
    for (const [key, outage] of this.#outages) if (outage.fi_ms < newestMs - OUTAGES_KEPT_MS) this.#outages.delete(key)
    if (this.#outages.size <= OUTAGES_KEPT) return
    const byEnd = [...this.#outages].sort(([, a], [, b]) => a.fi_ms - b.fi_ms)
    for (const [key] of byEnd.slice(0, byEnd.length - OUTAGES_KEPT)) this.#outages.delete(key)
  }
}
