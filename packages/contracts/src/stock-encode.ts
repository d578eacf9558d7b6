import { STOCK_EVENT_KIND } from './stock.ts'

/** A change of stock as the ordering service writes it; section 6 of docs/semantics.md. */
export interface StockChange {
  /** Absent for an event that counts by itself. */
  readonly id?: string
  readonly eventMs: number
  readonly product: string
  readonly market: string
  /** Stock after the change. */
  readonly stock: number
  readonly delta: number
  readonly replica: string
}

/** Value of a stock event, JSON text. */
export function encodeStockChange(change: StockChange): string {
  const dades = {
    producte: change.product,
    mercat: change.market,
    estoc_actual: change.stock,
    delta: change.delta,
    replica: change.replica,
  }
  const id = change.id === undefined ? {} : { id: change.id }
  return JSON.stringify({ tipus: STOCK_EVENT_KIND, ...id, data_ms: change.eventMs, dades })
}

/** Value of another event of the ordering service, which readers of stock skip. */
export function encodeOtherEvent(kind: string, id: string, eventMs: number, data: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ tipus: kind, id, data_ms: eventMs, dades: data })
}
