import {
  type LowStockView,
  type StockDelta,
  type StockEpisodeView,
  type StockNoticeView,
  type StockSnapshot,
  stockRowKey,
} from '@km0/contracts/stock-panel'

/** All that the browser knows of stock. Never changed, only replaced. */
export interface StockModel {
  readonly sequence: number
  readonly serverNowMs: number
  /** Browser time when it came. */
  readonly receivedMs: number
  readonly watermarkMs: number | null
  readonly markets: readonly string[]
  /** By `stockRowKey`. */
  readonly episodes: ReadonlyMap<string, StockEpisodeView>
  readonly low: ReadonlyMap<string, LowStockView>
  readonly notices: readonly StockNoticeView[]
}

const NOTICES_KEPT = 200

export function stockModelOf(snapshot: StockSnapshot, receivedMs: number): StockModel {
  const { sequence, nowMs, watermarkMs, markets, episodes, low, notices } = snapshot
  return {
    sequence,
    serverNowMs: nowMs,
    receivedMs,
    watermarkMs,
    markets,
    episodes: new Map(episodes.map((row) => [stockRowKey(row), row])),
    low: new Map(low.map((row) => [stockRowKey(row), row])),
    notices,
  }
}

/** The model after a delta; null when the delta does not follow it and a snapshot is needed. */
export function applyStockDelta(model: StockModel, delta: StockDelta, receivedMs: number): StockModel | null {
  if (delta.sequence !== model.sequence + 1) return null
  return {
    sequence: delta.sequence,
    serverNowMs: delta.nowMs,
    receivedMs,
    watermarkMs: delta.watermarkMs,
    markets: delta.markets ?? model.markets,
    episodes: changed(model.episodes, delta.episodes, delta.episodesGone),
    low: changed(model.low, delta.low, delta.lowGone),
    notices: delta.notices === undefined ? model.notices : [...model.notices, ...delta.notices].slice(-NOTICES_KEPT),
  }
}

function changed<Row extends { readonly product: string; readonly market: string; readonly startMs?: number }>(
  rows: ReadonlyMap<string, Row>,
  news: readonly Row[] | undefined,
  gone: readonly string[] | undefined,
): ReadonlyMap<string, Row> {
  if (news === undefined && gone === undefined) return rows
  const next = new Map(rows)
  for (const key of gone ?? []) next.delete(key)
  for (const row of news ?? []) next.set(stockRowKey(row), row)
  return next
}

/** "Now" of the server, by the browser's clock since its last word. */
export function stockNowMs(model: StockModel, browserNowMs: number): number {
  return model.serverNowMs + Math.max(0, browserNowMs - model.receivedMs)
}
