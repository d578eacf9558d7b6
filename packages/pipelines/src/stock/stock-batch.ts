import {
  ALL_TIME,
  type BatchHost,
  type BatchRange,
  type BatchRow,
  DEFAULT_STOCK_SETTINGS,
  decodeStockEvent,
  HEARTBEAT_KIND,
  offTheClock,
  parseJsonObject,
  RECORD_FLAGS,
  SETTINGS_KIND,
  STOCK_EVENT_KIND,
  type StockSettings,
} from '@km0/contracts'
import { compareText } from '@km0/windowing'
import { LowStockOperator, type StockState } from './low-stock.ts'

/** A batch run over stock events: every event that passes the checks, nothing late. Throws a RangeError that names a wrong setting. */
export function createStockBatch(settings: StockSettings = DEFAULT_STOCK_SETTINGS, range: BatchRange = ALL_TIME): BatchHost {
  return new StockBatch(new LowStockOperator(settings), range)
}

class StockBatch implements BatchHost {
  private readonly operator: LowStockOperator
  private readonly range: BatchRange
  private readonly windows: StockState = new Map()

  constructor(operator: LowStockOperator, range: BatchRange) {
    this.operator = operator
    this.range = range
  }

  onRecord(
    _partition: number,
    _offset: number,
    timestampMs: number,
    _key: string | null,
    text: string | null,
    byteLength: number,
    validUtf8: boolean,
  ): number {
    const { maxFutureMs, maxAgeMs } = this.operator.settings
    const value = parseJsonObject(text, byteLength, validUtf8)
    if (value === null) return RECORD_FLAGS.invalid
    if (value.tipus === HEARTBEAT_KIND) return RECORD_FLAGS.heartbeat
    if (value.tipus === SETTINGS_KIND) return RECORD_FLAGS.settings
    if (value.tipus !== STOCK_EVENT_KIND) return RECORD_FLAGS.skipped
    const event = decodeStockEvent(value)
    if (event === null) return RECORD_FLAGS.invalid
    const reason = offTheClock(event.eventMs, timestampMs, maxFutureMs, maxAgeMs)
    if (reason !== null) return reason === 'futur' ? RECORD_FLAGS.future : RECORD_FLAGS.ancient
    const endMs = this.operator.endMs(event.eventMs)
    if (endMs > this.range.fromMs && endMs <= this.range.toMs) this.operator.add(this.windows, event)
    return RECORD_FLAGS.accepted
  }

  rows(): BatchRow[] {
    const rows: BatchRow[] = []
    for (const window of this.operator.due(this.windows, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY)) {
      const alert = this.operator.alert(window)
      if (alert !== null) rows.push(alert)
    }
    return rows.sort((a, b) => compareText(a.key, b.key))
  }
}
