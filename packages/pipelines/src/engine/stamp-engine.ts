import { DEFAULT_OUTAGE_AFTER_MS, offTheClock, type PositionsSettings, RECORD_FLAGS, readPositionRecord, TOPICS } from '@km0/contracts'
import { type ClockSnapshot, PartitionClock } from '@km0/windowing'
import { HeartbeatWatch, type HeartbeatWatchSnapshot } from '../heartbeat-watch.ts'
import { markText } from '../positions/mark.ts'
import { INVALID_TEXT, offTheClockText } from '../refusals.ts'
import { type Emit, sourceHeaders } from './emit.ts'
import { positionsSettingsOf } from './positions-engine.ts'

interface StampSnapshot extends HeartbeatWatchSnapshot {
  readonly clock: ClockSnapshot
  readonly recordMs: number | null
  readonly nextOffset: number
}

/**
 * The clock of one source partition alone, for an engine that moves each van's records elsewhere: it says what a record is, whose it is, and
 * the partition's W and F before it. Refused records, outages and marks are emitted here; of positions, duplicates move the clock too, so it
 * holds no van.
 */
export class StampEngine {
  private readonly partition: number
  private readonly epoch: number
  private readonly emit: Emit
  private readonly settings: PositionsSettings
  private readonly heartbeats: HeartbeatWatch
  private clock: PartitionClock
  private recordMs: number | null = null
  private next = 0
  private markedOffset = -1
  /** Of the last record: its van when it is a position that counts, else null. */
  van: string | null = null
  /** Of the last record: W and F of the partition before it. -Infinity before the first that counts. */
  watermarkBeforeMs = Number.NEGATIVE_INFINITY
  finalBeforeMs = Number.NEGATIVE_INFINITY

  constructor(partition: number, epoch: number, settingsJson: string | null, outageAfterMs: number | null, emit: Emit) {
    this.partition = partition
    this.epoch = epoch
    this.emit = emit
    this.settings = positionsSettingsOf(settingsJson)
    this.clock = new PartitionClock(this.settings.delayMs, this.settings.allowedLatenessMs)
    this.heartbeats = new HeartbeatWatch(partition, epoch, outageAfterMs ?? DEFAULT_OUTAGE_AFTER_MS)
  }

  /** Applies the record at `offset`. Returns RECORD_FLAGS: `accepted` means that the van's operator judges it. */
  onRecord(offset: number, timestampMs: number, text: string | null, byteLength: number, validUtf8: boolean): number {
    this.van = null
    this.watermarkBeforeMs = this.clock.watermarkMs
    this.finalBeforeMs = this.clock.finalMs
    const flags = this.apply(offset, timestampMs, text, byteLength, validUtf8)
    this.next = offset + 1
    if (this.recordMs === null || timestampMs > this.recordMs) this.recordMs = timestampMs
    return this.clock.watermarkMs > this.watermarkBeforeMs ? flags | RECORD_FLAGS.watermarkMoved : flags
  }

  private apply(offset: number, timestampMs: number, text: string | null, byteLength: number, validUtf8: boolean): number {
    const record = readPositionRecord(text, byteLength, validUtf8, this.settings.refuseNullIsland)
    switch (record.kind) {
      case 'invalid':
        this.refuse(offset, timestampMs, null, INVALID_TEXT)
        return RECORD_FLAGS.invalid
      case 'heartbeat':
        this.clock.observe(Math.min(record.eventMs, timestampMs))
        this.hear(offset, timestampMs, text)
        return RECORD_FLAGS.heartbeat
      case 'settings':
        this.clock.configure(record.delayMs, record.allowedLatenessMs)
        return RECORD_FLAGS.settings
      case 'position': {
        const { van, eventMs } = record
        const reason = offTheClock(eventMs, timestampMs, this.settings.maxFutureMs, this.settings.maxAgeMs)
        if (reason !== null) {
          this.refuse(offset, timestampMs, van, offTheClockText(reason, eventMs))
          return reason === 'futur' ? RECORD_FLAGS.future : RECORD_FLAGS.ancient
        }
        this.van = van
        this.clock.observe(Math.min(eventMs, timestampMs))
        return RECORD_FLAGS.accepted
      }
    }
  }

  private hear(offset: number, timestampMs: number, text: string | null): void {
    const outage = this.heartbeats.hear(offset, timestampMs, text)
    if (outage !== null) this.emit(outage.topic, -1, outage.key, outage.value, outage.timestampMs, '')
  }

  /**
   * Emits how far this partition has come, when that is not told yet. `nowMs` stamps the record and is in no value. Write it when whatever the
   * records so far lead to is written, by all that hold its vans.
   */
  mark(nowMs: number): void {
    if (this.next === this.markedOffset) return
    this.markedOffset = this.next
    const { partition, epoch, next: nextOffset, recordMs, heartbeats, clock } = this
    const host = { watermarkMs: () => clock.watermarkMs, progressMs: () => clock.progressMs }
    const value = markText({ partition, epoch, nextOffset, recordMs, heartbeats, host })
    this.emit(TOPICS.marks.name, -1, String(partition), value, nowMs, '')
  }

  private refuse(offset: number, timestampMs: number, key: string | null, value: string): void {
    this.emit(TOPICS.deadLetters.name, -1, key, value, timestampMs, sourceHeaders(this.epoch, this.partition, offset))
  }

  get watermarkMs(): number {
    return this.clock.watermarkMs
  }

  get finalMs(): number {
    return this.clock.finalMs
  }

  get progressMs(): number {
    return this.clock.progressMs
  }

  snapshot(): string {
    const { clock, heartbeats, recordMs, next: nextOffset } = this
    const state: StampSnapshot = { clock: clock.snapshot(), ...heartbeats.snapshot(), recordMs, nextOffset }
    return JSON.stringify(state)
  }

  restore(snapshot: string): void {
    const { clock, heartbeatMs, bridge, recordMs, nextOffset } = JSON.parse(snapshot) as StampSnapshot
    this.clock = PartitionClock.restore(clock)
    this.heartbeats.restore({ heartbeatMs, bridge })
    this.recordMs = recordMs
    this.next = nextOffset
  }
}
