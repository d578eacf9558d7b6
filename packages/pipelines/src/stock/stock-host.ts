import {
  DEFAULT_STOCK_SETTINGS,
  decodeHeartbeat,
  decodeSettings,
  decodeStockEvent,
  type Emission,
  HEARTBEAT_KIND,
  type JsonObject,
  offTheClock,
  parseJsonObject,
  RECORD_FLAGS,
  SETTINGS_KIND,
  STOCK_EVENT_KIND,
  type StockEvent,
  type StockHost,
  type StockSettings,
  type WindowObserver,
} from '@km0/contracts'
import { compareText, decodeSnapshot, encodeSnapshot, type PartitionClock } from '@km0/windowing'
import { Outbox } from '../outbox.ts'
import { emitInvalid, emitLate, emitOffTheClock } from '../refusals.ts'
import { LowStockOperator, type StockState, type StockWindow, stockKey } from './low-stock.ts'
import { readWindows, STOCK_PIPELINE, STOCK_VERSION, type StockSnapshot, windowsSnapshot } from './snapshot.ts'
import { SourceClocks } from './sources.ts'

/**
 * The low-stock pipeline (section 6) over the log of a shuffle; `sourcePartitions` is how many partitions it was shuffled from.
 * Throws a RangeError that names the setting that makes no sense.
 */
export function createStockHost(
  settings: StockSettings = DEFAULT_STOCK_SETTINGS,
  sourcePartitions = 1,
  observer: WindowObserver | null = null,
): StockHost {
  return new LowStockHost(new LowStockOperator(settings), sourcePartitions, observer)
}

class LowStockHost implements StockHost {
  private readonly operator: LowStockOperator
  private readonly observer: WindowObserver | null
  private readonly out = new Outbox()
  private readonly sources: SourceClocks
  private windows: StockState = new Map()
  private lateWhileOpen = 0
  /** No window that ends in (W, nextEndMs) is open: most advances of W need not look. */
  private nextEndMs = Number.POSITIVE_INFINITY

  constructor(operator: LowStockOperator, sourcePartitions: number, observer: WindowObserver | null) {
    const { delayMs, allowedLatenessMs } = operator.settings
    this.operator = operator
    this.observer = observer
    this.sources = new SourceClocks(delayMs, allowedLatenessMs, sourcePartitions)
  }

  onRecord(
    partition: number,
    offset: number,
    timestampMs: number,
    _key: string | null,
    text: string | null,
    byteLength: number,
    validUtf8: boolean,
  ): number {
    const clock = this.sources.clock(partition)
    this.out.at(partition, offset)
    const value = parseJsonObject(text, byteLength, validUtf8)
    const flags = value === null ? RECORD_FLAGS.invalid : this.apply(clock, value, timestampMs)
    if (flags === RECORD_FLAGS.invalid) emitInvalid(this.out)
    return flags | this.settle(partition)
  }

  raiseWatermark(partition: number, offset: number, watermarkMs: number): number {
    this.out.at(partition, offset)
    return this.sources.clock(partition).raise(watermarkMs) ? this.settle(partition) : 0
  }

  private apply(clock: PartitionClock, value: JsonObject, timestampMs: number): number {
    if (value.tipus === SETTINGS_KIND) {
      const settings = decodeSettings(value)
      if (settings === null) return RECORD_FLAGS.invalid
      clock.configure(settings.delayMs, settings.allowedLatenessMs)
      return RECORD_FLAGS.settings
    }
    if (value.tipus === HEARTBEAT_KIND) {
      const eventMs = decodeHeartbeat(value)
      if (eventMs === null) return RECORD_FLAGS.invalid
      clock.observe(Math.min(eventMs, timestampMs))
      return RECORD_FLAGS.heartbeat
    }
    return value.tipus === STOCK_EVENT_KIND ? this.applyEvent(clock, value, timestampMs) : RECORD_FLAGS.skipped
  }

  private applyEvent(clock: PartitionClock, value: JsonObject, timestampMs: number): number {
    const { maxFutureMs, maxAgeMs } = this.operator.settings
    const event = decodeStockEvent(value)
    if (event === null) return RECORD_FLAGS.invalid
    const reason = offTheClock(event.eventMs, timestampMs, maxFutureMs, maxAgeMs)
    if (reason !== null) {
      emitOffTheClock(this.out, null, reason, event.eventMs)
      return reason === 'futur' ? RECORD_FLAGS.future : RECORD_FLAGS.ancient
    }
    const flags = this.judge(clock, event)
    clock.observe(Math.min(event.eventMs, timestampMs))
    return flags
  }

  /** Late by the final mark of the event's own source, so that what is accepted does not depend on how sources interleave. */
  private judge(clock: PartitionClock, event: StockEvent): number {
    const endMs = this.operator.endMs(event.eventMs)
    if (endMs <= clock.finalMs) {
      if (endMs > this.sources.watermarkMs) this.lateWhileOpen += 1
      emitLate(this.out, stockKey(event.product, event.market), 'tard', event.eventMs, 1)
      return RECORD_FLAGS.late
    }
    const { window, opened } = this.operator.add(this.windows, event)
    if (opened) this.observer?.opened('alerta', stockKey(event.product, event.market), window.startMs, endMs)
    if (endMs <= this.sources.watermarkMs) this.emitAlert(window)
    else if (endMs < this.nextEndMs) this.nextEndMs = endMs
    return RECORD_FLAGS.accepted
  }

  /** After a clock may have moved: closes what the job's watermark passes. Returns the flags that this adds. */
  private settle(partition: number): number {
    const beforeMs = this.sources.watermarkMs
    const moved = this.sources.settle(partition)
    if (moved && this.nextEndMs <= this.sources.watermarkMs) this.closeUpTo(beforeMs)
    return (moved ? RECORD_FLAGS.watermarkMoved : 0) | (this.out.isEmpty ? 0 : RECORD_FLAGS.emitted)
  }

  private closeUpTo(beforeMs: number): void {
    const { watermarkMs, finalMs } = this.sources
    for (const window of this.operator.due(this.windows, beforeMs, watermarkMs)) this.emitAlert(window)
    this.operator.forget(this.windows, finalMs)
    this.findNextEnd()
  }

  private findNextEnd(): void {
    this.nextEndMs = Number.POSITIVE_INFINITY
    for (const endMs of this.windows.keys()) {
      if (endMs > this.sources.watermarkMs && endMs < this.nextEndMs) this.nextEndMs = endMs
    }
  }

  private emitAlert(window: StockWindow): void {
    const alert = this.operator.alert(window)
    if (alert !== null) this.out.emit('alertes', alert.key, alert.value)
  }

  setSourcePartitions(count: number): void {
    this.sources.grow(count)
  }

  drain(): Emission[] {
    return this.out.drain()
  }

  snapshot(): string {
    this.operator.forget(this.windows, this.sources.finalMs)
    const state: StockSnapshot = {
      clocks: this.sources.snapshot(),
      lateWhileOpen: this.lateWhileOpen,
      windows: windowsSnapshot(this.windows),
    }
    return encodeSnapshot({ ...this.identity(), state })
  }

  restore(snapshot: string): void {
    const state = decodeSnapshot(snapshot, this.identity()) as StockSnapshot
    this.sources.restore(state.clocks)
    this.lateWhileOpen = state.lateWhileOpen
    this.windows = readWindows(this.operator, state.windows)
    this.findNextEnd()
    this.out.clear()
  }

  /** Delay and allowed lateness are not part of it: a record of the log changes them, and each clock knows those in force. */
  private identity() {
    const { delayMs: _delayMs, allowedLatenessMs: _allowedLatenessMs, thresholds, ...others } = this.operator.settings
    const sorted = Object.fromEntries(Object.entries(thresholds).sort(([a], [b]) => compareText(a, b)))
    return { pipeline: STOCK_PIPELINE, version: STOCK_VERSION, settings: { ...others, thresholds: sorted } }
  }

  watermarkMs(partition: number): number {
    return this.sources.clock(partition).watermarkMs
  }

  finalMs(partition: number): number {
    return this.sources.clock(partition).finalMs
  }

  progressMs(partition: number): number {
    return this.sources.clock(partition).progressMs
  }

  jobWatermarkMs(): number {
    return this.sources.watermarkMs
  }

  lateWhileOpenCount(): number {
    return this.lateWhileOpen
  }
}
