import { isEventMs, isName, type JsonObject } from './wire-json.ts'

/** Value of `tipus` that makes a record of `comandes.esdeveniments` a stock event. */
export const STOCK_EVENT_KIND = 'estoc.actualitzat'

/** One change of stock, as section 6 accepts it. */
export interface StockEvent {
  readonly product: string
  readonly market: string
  readonly eventMs: number
  readonly stock: number
  /** null for an event without one: it then counts by itself. */
  readonly id: string | null
}

/** The event in a value whose `tipus` is STOCK_EVENT_KIND; null when it is `invalid`. */
export function decodeStockEvent(value: JsonObject): StockEvent | null {
  const { data_ms, dades, id } = value
  if (!isEventMs(data_ms) || typeof dades !== 'object' || dades === null || Array.isArray(dades)) return null
  const { producte, mercat, estoc_actual } = dades as JsonObject
  if (!isKeyPart(producte) || !isKeyPart(mercat) || !Number.isSafeInteger(estoc_actual)) return null
  return { product: producte, market: mercat, eventMs: data_ms, stock: estoc_actual as number, id: typeof id === 'string' ? id : null }
}

/** A name that may stand between the bars of a key. */
function isKeyPart(value: unknown): value is string {
  return isName(value) && !value.includes('|')
}
