import { type LowStockView, type StockEpisodeView, stockRowKey } from '@km0/contracts/stock-panel'
import type { StockModel } from './stock-model.ts'

export type EpisodeLevel = 'empty' | 'low' | 'ended'

export interface EpisodeRow {
  readonly key: string
  readonly episode: StockEpisodeView
  readonly level: EpisodeLevel
  /** How long it lasts, or lasted. */
  readonly durationMs: number
}

export interface LowRow {
  readonly key: string
  readonly low: LowStockView
  /** The alert of its first low window has not come yet: there is no episode. */
  readonly pending: boolean
  readonly ageMs: number
}

export interface StockLists {
  readonly open: readonly EpisodeRow[]
  readonly ended: readonly EpisodeRow[]
  readonly low: readonly LowRow[]
}

/** The lists of one market, or of all (null). Open episodes: not acknowledged first, then sold out, then the newest. */
export function prepareStock(model: StockModel, market: string | null, nowMs: number): StockLists {
  const episodes = [...model.episodes.values()]
    .filter((row) => market === null || row.market === market)
    .map((row) => episodeRow(row, nowMs))
  const open = episodes.filter((row) => row.level !== 'ended').sort(byUrgency)
  const ended = episodes
    .filter((row) => row.level === 'ended')
    .sort((a, b) => (b.episode.endMs ?? 0) - (a.episode.endMs ?? 0) || order(a, b))
  const inEpisode = new Set(open.map(({ episode }) => `${episode.product}|${episode.market}`))
  const low = [...model.low.values()]
    .filter((row) => market === null || row.market === market)
    .map((row) => {
      const key = stockRowKey(row)
      return { key, low: row, pending: !inEpisode.has(key), ageMs: Math.max(0, nowMs - row.stockMs) }
    })
    .sort((a, b) => a.low.stock - b.low.stock || order(a, b))
  return { open, ended, low }
}

function episodeRow(episode: StockEpisodeView, nowMs: number): EpisodeRow {
  const level = episode.endMs !== null ? 'ended' : (episode.stock ?? episode.minimum) <= 0 ? 'empty' : 'low'
  return { key: stockRowKey(episode), episode, level, durationMs: Math.max(0, (episode.endMs ?? nowMs) - episode.startMs) }
}

function byUrgency(a: EpisodeRow, b: EpisodeRow): number {
  const seen = (row: EpisodeRow) => (row.episode.acknowledgement === null ? 0 : 1)
  const level = (row: EpisodeRow) => (row.level === 'empty' ? 0 : 1)
  return seen(a) - seen(b) || level(a) - level(b) || b.episode.startMs - a.episode.startMs || order(a, b)
}

const order = (a: { readonly key: string }, b: { readonly key: string }) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
