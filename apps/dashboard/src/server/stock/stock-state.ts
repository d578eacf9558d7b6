import { type StockDelta, type StockSnapshot, stockRowKey } from '@km0/contracts'
import type { StoredStock } from '@km0/serving'

/** What browsers of one scope know of stock, as of one reading of the store; a new reading becomes a delta. */
export class StockState {
  #sequence = 0
  #stored: StoredStock | null = null

  /** null before the first reading. */
  snapshot(nowMs: number): StockSnapshot | null {
    if (this.#stored === null) return null
    return { sequence: this.#sequence, nowMs, ...this.#stored }
  }

  /** Takes a new reading over. Returns what has changed; null for the first reading. */
  update(stored: StoredStock, nowMs: number): StockDelta | null {
    const before = this.#stored
    this.#stored = stored
    this.#sequence += 1
    if (before === null) return null
    const episodes = difference(before.episodes, stored.episodes)
    const low = difference(before.low, stored.low)
    const told = new Set(before.notices.map((notice) => notice.id))
    const notices = stored.notices.filter((notice) => !told.has(notice.id))
    return {
      sequence: this.#sequence,
      nowMs,
      watermarkMs: stored.watermarkMs,
      ...(JSON.stringify(before.markets) === JSON.stringify(stored.markets) ? {} : { markets: stored.markets }),
      ...(episodes.changed.length > 0 ? { episodes: episodes.changed } : {}),
      ...(episodes.gone.length > 0 ? { episodesGone: episodes.gone } : {}),
      ...(low.changed.length > 0 ? { low: low.changed } : {}),
      ...(low.gone.length > 0 ? { lowGone: low.gone } : {}),
      ...(notices.length > 0 ? { notices } : {}),
    }
  }
}

function difference<Row extends { readonly product: string; readonly market: string; readonly startMs?: number }>(
  before: readonly Row[],
  after: readonly Row[],
): { readonly changed: readonly Row[]; readonly gone: readonly string[] } {
  const old = new Map(before.map((row) => [stockRowKey(row), JSON.stringify(row)]))
  const changed: Row[] = []
  for (const row of after) {
    const key = stockRowKey(row)
    if (old.get(key) !== JSON.stringify(row)) changed.push(row)
    old.delete(key)
  }
  return { changed, gone: [...old.keys()] }
}
