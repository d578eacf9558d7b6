import { type StockEpisodeValue, stockWindowKey } from '@km0/contracts'
import { compareText } from '@km0/windowing'
import { stockKey } from '../stock/low-stock.ts'
import { type Episode, EpisodeRule, type EpisodeState, type LowWindow, type NewestStock, newEpisodeState } from './episode-rule.ts'

interface Entry {
  readonly product: string
  readonly market: string
  readonly state: EpisodeState
}

export interface EpisodeBookSnapshot {
  readonly entries: readonly Entry[]
}

/** What a step has changed: the episode's key and value, null when it stays as it was. */
export interface EpisodeChange {
  readonly key: string
  readonly value: string | null
}

/** Newest stock and episodes of all products in all markets. One entry each, for ever: as many as the shops sell. */
export class EpisodeBook {
  private readonly thresholdOf: (product: string, market: string) => number
  private readonly rules = new Map<number, EpisodeRule>()
  private entries = new Map<string, Entry>()
  private open = 0

  constructor(thresholdOf: (product: string, market: string) => number) {
    this.thresholdOf = thresholdOf
  }

  onStock(product: string, market: string, reading: NewestStock, atMs: number): EpisodeChange & { readonly newest: boolean } {
    const entry = this.entry(product, market)
    return this.watched(entry, (rule) => {
      const before = entry.state.newest
      const { newest, episode } = rule.onStock(entry.state, reading, atMs)
      // A twin of the newest one says nothing new.
      const news = newest && (before === null || before.eventMs !== reading.eventMs || before.stock !== reading.stock)
      return { ...this.change(entry, episode), newest: news }
    })
  }

  onAlert(product: string, market: string, window: LowWindow, atMs: number): EpisodeChange {
    const entry = this.entry(product, market)
    return this.watched(entry, (rule) => this.change(entry, rule.onAlert(entry.state, window, atMs)))
  }

  private watched<T>(entry: Entry, step: (rule: EpisodeRule) => T): T {
    const isOpen = () => (entry.state.episode !== null && entry.state.episode.endMs === null ? 1 : 0)
    const before = isOpen()
    const result = step(this.rule(this.thresholdOf(entry.product, entry.market)))
    this.open += isOpen() - before
    return result
  }

  private rule(threshold: number): EpisodeRule {
    let rule = this.rules.get(threshold)
    if (rule === undefined) {
      rule = new EpisodeRule(threshold)
      this.rules.set(threshold, rule)
    }
    return rule
  }

  private entry(product: string, market: string): Entry {
    const key = stockKey(product, market)
    let entry = this.entries.get(key)
    if (entry === undefined) {
      entry = { product, market, state: newEpisodeState() }
      this.entries.set(key, entry)
    }
    return entry
  }

  private change({ product, market, state: { episode } }: Entry, changed: boolean): EpisodeChange {
    if (!changed || episode === null) return { key: '', value: null }
    return { key: stockWindowKey(episode.startMs, product, market), value: this.valueOf(product, market, episode) }
  }

  private valueOf(product: string, market: string, episode: Episode): string {
    const value: StockEpisodeValue = {
      producte: product,
      mercat: market,
      inici_ms: episode.startMs,
      fi_ms: episode.endMs,
      estoc_minim: episode.minimum,
      llindar: this.thresholdOf(product, market),
      darrera_finestra_ms: episode.lastWindowMs,
      avisos: episode.notices,
    }
    return JSON.stringify(value)
  }

  get openCount(): number {
    return this.open
  }

  snapshot(): EpisodeBookSnapshot {
    const keys = [...this.entries.keys()].sort(compareText)
    return { entries: keys.map((key) => this.entries.get(key)!) }
  }

  /** Takes over the entries; they must be nobody else's. */
  restore({ entries }: EpisodeBookSnapshot): void {
    this.entries = new Map(entries.map((entry) => [stockKey(entry.product, entry.market), entry]))
    this.open = entries.filter(({ state: { episode } }) => episode !== null && episode.endMs === null).length
  }
}
