import type { Actor } from './panel.ts'

/** What the panel says of stock to a browser. Names are English; wire names of Kafka stop before. */

export interface StockAcknowledgementView {
  readonly product: string
  readonly market: string
  /** Start of the episode. */
  readonly startMs: number
  readonly actor: Actor
  readonly note: string
  readonly atMs: number
}

/** Low stock of a product in a market that lasts, or has ended within the last day. */
export interface StockEpisodeView {
  readonly product: string
  readonly market: string
  readonly startMs: number
  /** null while it lasts. */
  readonly endMs: number | null
  readonly minimum: number
  readonly threshold: number
  /** Start of its last low window so far. */
  readonly lastWindowMs: number
  /** Newest known stock by event time, and that time; null when none is known. */
  readonly stock: number | null
  readonly stockMs: number | null
  /** The newest one; it holds for the episode. */
  readonly acknowledgement: Omit<StockAcknowledgementView, 'product' | 'market' | 'startMs'> | null
}

/** A product whose newest known stock is below its threshold, whether an alert has come yet or not. */
export interface LowStockView {
  readonly product: string
  readonly market: string
  readonly stock: number
  readonly threshold: number
  readonly stockMs: number
}

export type StockNoticeReason = 'begun' | 'halved' | 'empty'

/** What people are told of an episode, each once. */
export interface StockNoticeView {
  readonly id: number
  readonly product: string
  readonly market: string
  readonly startMs: number
  readonly reason: StockNoticeReason
  readonly stock: number
  readonly atMs: number
}

/** Sent on every connect; replaces all that the browser knows. */
export interface StockSnapshot {
  readonly sequence: number
  readonly nowMs: number
  /** No alert is missing for windows that end at or before it; null before the first. */
  readonly watermarkMs: number | null
  /** Markets that have sold anything, in order. */
  readonly markets: readonly string[]
  readonly episodes: readonly StockEpisodeView[]
  readonly low: readonly LowStockView[]
  /** Of the last minutes. A browser shows each once. */
  readonly notices: readonly StockNoticeView[]
}

/** What has changed. One whose `sequence` is not the last one + 1 is not applied, and the browser asks for a snapshot. */
export interface StockDelta {
  readonly sequence: number
  readonly nowMs: number
  readonly watermarkMs: number | null
  readonly markets?: readonly string[]
  readonly episodes?: readonly StockEpisodeView[]
  readonly low?: readonly LowStockView[]
  /** Keys (`stockRowKey`) of rows of `low` that are gone. */
  readonly lowGone?: readonly string[]
  /** Keys of episodes that are gone: ended more than a day ago. */
  readonly episodesGone?: readonly string[]
  readonly notices?: readonly StockNoticeView[]
}

/** A point of a product's last day: least and last known stock of a stretch of time. */
export interface StockHistoryPoint {
  readonly slotMs: number
  readonly minimum: number
  readonly last: number
}

/** Answer of `GET /api/stock/history?product=&market=`. */
export interface StockHistoryView {
  readonly product: string
  readonly market: string
  readonly slotSizeMs: number
  readonly fromMs: number
  readonly toMs: number
  /** Below it the stock is low; null when the product is not known. */
  readonly threshold: number | null
  /** Oldest first; what was known before `fromMs` comes first, with its slot. A missing slot had no news. */
  readonly points: readonly StockHistoryPoint[]
}

/** Body of `POST /api/stock/acknowledgements`. */
export interface StockAcknowledgementCommand {
  readonly product: string
  readonly market: string
  readonly startMs: number
  readonly note: string
}

export interface ServerToStockPanel {
  snapshot: (snapshot: StockSnapshot) => void
  delta: (delta: StockDelta) => void
}

export interface StockPanelToServer {
  resync: () => void
}

/** Namespace of the socket. */
export const STOCK_SOCKET = '/stock'

export function stockRowKey(row: { readonly product: string; readonly market: string; readonly startMs?: number }): string {
  return row.startMs === undefined ? `${row.product}|${row.market}` : `${row.product}|${row.market}|${row.startMs}`
}
