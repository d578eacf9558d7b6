import type { StockEvent, StockSettings } from '@km0/contracts'
import { compareText, paneStartMs, type WindowShape, windowShape } from '@km0/windowing'
import { assertStockSettings, thresholdOf } from './thresholds.ts'

/** One window of one product in one market. */
export interface StockWindow {
  readonly startMs: number
  readonly product: string
  readonly market: string
  readonly threshold: number
  minimum: number
  /** Events without id; each counts. */
  withoutId: number
  readonly ids: Set<string>
  /** Rows emitted, and the last of them. */
  emittedCount: number
  emittedMinimum: number
  emittedUpdates: number
}

export interface AlertRow {
  readonly key: string
  readonly value: string
}

/** Windows by end, in each by `producte|mercat`. */
export type StockState = Map<number, Map<string, StockWindow>>

/** Minimum by tumbling window (section 6). Live and batch run the same. */
export class LowStockOperator {
  readonly settings: StockSettings
  private readonly shape: WindowShape

  constructor(settings: StockSettings) {
    assertStockSettings(settings)
    this.settings = settings
    this.shape = windowShape(settings.windowSizeMs, settings.windowSizeMs)
  }

  /** End of the window that holds `eventMs`. */
  endMs(eventMs: number): number {
    return paneStartMs(this.shape, eventMs) + this.shape.sizeMs
  }

  /** Adds an event and returns its window, and whether that is new. */
  add(state: StockState, event: StockEvent): { readonly window: StockWindow; readonly opened: boolean } {
    const endMs = this.endMs(event.eventMs)
    let windows = state.get(endMs)
    if (windows === undefined) {
      windows = new Map()
      state.set(endMs, windows)
    }
    const key = stockKey(event.product, event.market)
    let window = windows.get(key)
    const opened = window === undefined
    if (window === undefined) {
      window = this.newWindow(endMs, event.product, event.market)
      windows.set(key, window)
    }
    if (event.stock < window.minimum) window.minimum = event.stock
    if (event.id === null) window.withoutId += 1
    else window.ids.add(event.id)
    return { window, opened }
  }

  newWindow(endMs: number, product: string, market: string): StockWindow {
    return {
      startMs: endMs - this.shape.sizeMs,
      product,
      market,
      threshold: thresholdOf(this.settings, product, market),
      minimum: Number.POSITIVE_INFINITY,
      withoutId: 0,
      ids: new Set(),
      emittedCount: 0,
      emittedMinimum: 0,
      emittedUpdates: 0,
    }
  }

  /** The alert of a window, noted as emitted; null when stock was not low, or the row is the one emitted last. */
  alert(window: StockWindow): AlertRow | null {
    const updates = window.withoutId + window.ids.size
    if (window.minimum >= window.threshold) return null
    if (window.emittedCount > 0 && window.emittedMinimum === window.minimum && window.emittedUpdates === updates) return null
    window.emittedMinimum = window.minimum
    window.emittedUpdates = updates
    window.emittedCount += 1
    const { startMs, product, market, minimum } = window
    const revised = window.emittedCount > 1 ? `,"revisio":${window.emittedCount - 1}` : ''
    return {
      key: `${startMs}|${product}|${market}`,
      value: `{"producte":${JSON.stringify(product)},"mercat":${JSON.stringify(market)},"inici_ms":${startMs},"fi_ms":${startMs + this.shape.sizeMs},"estoc_minim":${minimum},"actualitzacions":${updates}${revised}}`,
    }
  }

  /** Windows that end in `(afterMs, upToMs]`, by end, then `producte|mercat` in code-unit order. */
  *due(state: StockState, afterMs: number, upToMs: number): Generator<StockWindow> {
    const ends = [...state.keys()].filter((endMs) => endMs > afterMs && endMs <= upToMs).sort((a, b) => a - b)
    for (const endMs of ends) {
      const windows = state.get(endMs)!
      for (const key of [...windows.keys()].sort(compareText)) yield windows.get(key)!
    }
  }

  /** Drops windows that end at or before `finalMs`. */
  forget(state: StockState, finalMs: number): void {
    for (const endMs of state.keys()) if (endMs <= finalMs) state.delete(endMs)
  }
}

export function stockKey(product: string, market: string): string {
  return `${product}|${market}`
}
