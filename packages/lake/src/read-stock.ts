import { identifier, LAKE, type Lake, literal } from './lake.ts'
import { ROW_KINDS } from './rows.ts'
import { dayOf, onEventDays, STOCK_EVENTS } from './tables.ts'

export interface StockRangeQuery {
  /** Event time, `[fromMs, toMs)`. */
  readonly fromMs: number
  readonly toMs: number
  readonly markets: readonly string[]
  readonly snapshot: number
}

/** A stock event with its value as it came. */
export interface StoredStockEvent {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly text: string
}

/** Stock events of some markets in a range, in no order that matters. */
export async function readStockRange(lake: Lake, query: StockRangeQuery): Promise<StoredStockEvent[]> {
  const { fromMs, toMs, markets, snapshot } = query
  if (markets.length === 0) return []
  return lake.use((connection) =>
    connection.all<StoredStockEvent>(
      `SELECT kafka_partition AS partition, kafka_offset::DOUBLE AS "offset", arrival_ms::DOUBLE AS "timestampMs", value AS text
        FROM ${LAKE}.${identifier(STOCK_EVENTS.name)} AT (VERSION => ${Math.trunc(snapshot)})
        WHERE kind = '${ROW_KINDS.event}' AND market IN (${markets.map(literal).join(', ')})
          AND ${onEventDays(dayOf(fromMs), dayOf(toMs - 1))}
          AND event_ms >= ${Math.trunc(fromMs)} AND event_ms < ${Math.trunc(toMs)}`,
    ),
  )
}
