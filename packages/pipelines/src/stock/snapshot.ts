import { compareText } from '@km0/windowing'
import type { LowStockOperator, StockState } from './low-stock.ts'
import { stockKey } from './low-stock.ts'
import type { SourcesSnapshot } from './sources.ts'

/** Raise it when the state below, or what a rule makes of it, changes. */
export const STOCK_VERSION = 1
export const STOCK_PIPELINE = 'stock'

interface WindowSnapshot {
  readonly endMs: number
  readonly product: string
  readonly market: string
  readonly minimum: number
  readonly withoutId: number
  readonly ids: readonly string[]
  readonly emittedCount: number
  readonly emittedMinimum: number
  readonly emittedUpdates: number
}

/** State of the stock pipeline by operator. */
export interface StockSnapshot {
  readonly clocks: SourcesSnapshot
  readonly lateWhileOpen: number
  readonly windows: readonly WindowSnapshot[]
}

/** All windows, by end and key; ids in code-unit order, so that equal states are equal text. */
export function windowsSnapshot(state: StockState): WindowSnapshot[] {
  const ends = [...state.keys()].sort((a, b) => a - b)
  return ends.flatMap((endMs) => {
    const windows = state.get(endMs)!
    return [...windows.keys()].sort(compareText).map((key) => {
      const { product, market, minimum, withoutId, ids, emittedCount, emittedMinimum, emittedUpdates } = windows.get(key)!
      const sorted = [...ids].sort(compareText)
      return { endMs, product, market, minimum, withoutId, ids: sorted, emittedCount, emittedMinimum, emittedUpdates }
    })
  })
}

export function readWindows(operator: LowStockOperator, from: readonly WindowSnapshot[]): StockState {
  const state: StockState = new Map()
  for (const { endMs, product, market, ids, ...numbers } of from) {
    const windows = state.get(endMs) ?? new Map()
    state.set(endMs, windows)
    windows.set(stockKey(product, market), { ...operator.newWindow(endMs, product, market), ...numbers, ids: new Set(ids) })
  }
  return state
}
