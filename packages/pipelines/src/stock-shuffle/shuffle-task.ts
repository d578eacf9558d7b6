import {
  type ClockSettings,
  decodeHeartbeat,
  decodeSettings,
  decodeStockEvent,
  encodeHeartbeat,
  encodeSettings,
  HEARTBEAT_KIND,
  type JsonObject,
  offTheClock,
  parseJsonObject,
  RECORD_FLAGS,
  SETTINGS_KIND,
  STOCK_EVENT_KIND,
} from '@km0/contracts'
import { PartitionClock } from '@km0/windowing'
import { stockKey } from '../stock/low-stock.ts'
import type { ShuffleSnapshot } from './shuffle-snapshot.ts'

/** Limits of rule 2 of section 3. */
export interface ShuffleLimits {
  readonly maxFutureMs: number
  readonly maxAgeMs: number
}

/** What the task makes of a record, or says of its own accord. The host adds the value of a record as it came. */
export type ShuffleOutput =
  /** To the target partition that the key decides. */
  | {
      readonly kind: 'event'
      readonly offset: number
      readonly arrivalMs: number
      readonly key: string
      /** W of the source partition before the event; null before the first record that counts. */
      readonly watermarkMs: number | null
    }
  /** A heartbeat or settings record of the source: to every target partition. */
  | { readonly kind: 'copied'; readonly offset: number; readonly arrivalMs: number }
  /** To the dead letters. */
  | { readonly kind: 'refused'; readonly offset: number; readonly arrivalMs: number; readonly value: string }
  /** One of the shuffle's own, after source offset `offset`: to every target partition. */
  | { readonly kind: 'own'; readonly offset: number; readonly number: number; readonly eventMs: number; readonly value: string }

/**
 * The shuffle's work on one source partition (section 6, and "Low stock shuffles" of the design). A function of the partition's records and of
 * when it is asked for heartbeats: it reads no clock. Everything it says of its own accord is numbered and part of its state.
 */
export class ShuffleTask {
  private readonly limits: ShuffleLimits
  private clock: PartitionClock
  /** Settings that `configure` has put in force; the source's own records may have changed them since. */
  private configured: ClockSettings | null = null
  private followedOffset = -1
  private number: number
  /** Progress that every target partition knows of. */
  private toldMs = Number.NEGATIVE_INFINITY

  /** A task without a past. Its own records count on from `firstNumber`. */
  constructor(limits: ShuffleLimits, firstNumber: number) {
    this.limits = limits
    this.number = firstNumber
    this.clock = new PartitionClock(0, 0)
  }

  /** Applies the record at `offset`; records come in offset order. Returns RECORD_FLAGS and adds to `out` what it makes of it. */
  onRecord(offset: number, timestampMs: number, text: string | null, byteLength: number, validUtf8: boolean, out: ShuffleOutput[]): number {
    const value = parseJsonObject(text, byteLength, validUtf8)
    const flags = value === null ? RECORD_FLAGS.invalid : this.apply(offset, timestampMs, value, out)
    if (flags === RECORD_FLAGS.invalid) out.push({ kind: 'refused', offset, arrivalMs: timestampMs, value: '{"motiu":"invalid"}' })
    this.followedOffset = offset
    return flags
  }

  private apply(offset: number, arrivalMs: number, value: JsonObject, out: ShuffleOutput[]): number {
    if (value.tipus === STOCK_EVENT_KIND) return this.applyEvent(offset, arrivalMs, value, out)
    if (value.tipus === HEARTBEAT_KIND) {
      const eventMs = decodeHeartbeat(value)
      if (eventMs === null) return RECORD_FLAGS.invalid
      out.push({ kind: 'copied', offset, arrivalMs })
      this.clock.observe(Math.min(eventMs, arrivalMs))
      if (this.clock.progressMs === Math.min(eventMs, arrivalMs)) this.toldMs = this.clock.progressMs
      return RECORD_FLAGS.heartbeat
    }
    if (value.tipus !== SETTINGS_KIND) return RECORD_FLAGS.skipped
    const settings = decodeSettings(value)
    if (settings === null) return RECORD_FLAGS.invalid
    // Each target must be at the same W when the settings change, or their final marks would differ.
    this.mark(out)
    out.push({ kind: 'copied', offset, arrivalMs })
    this.clock.configure(settings.delayMs, settings.allowedLatenessMs)
    return RECORD_FLAGS.settings
  }

  private applyEvent(offset: number, arrivalMs: number, value: JsonObject, out: ShuffleOutput[]): number {
    const event = decodeStockEvent(value)
    if (event === null) return RECORD_FLAGS.invalid
    const reason = offTheClock(event.eventMs, arrivalMs, this.limits.maxFutureMs, this.limits.maxAgeMs)
    if (reason !== null) {
      out.push({ kind: 'refused', offset, arrivalMs, value: `{"motiu":"${reason}","data_ms":${event.eventMs}}` })
      return reason === 'futur' ? RECORD_FLAGS.future : RECORD_FLAGS.ancient
    }
    const { watermarkMs } = this.clock
    out.push({
      kind: 'event',
      offset,
      arrivalMs,
      key: stockKey(event.product, event.market),
      watermarkMs: Number.isFinite(watermarkMs) ? watermarkMs : null,
    })
    this.clock.observe(Math.min(event.eventMs, arrivalMs))
    return RECORD_FLAGS.accepted
  }

  /** Settings that are to be in force: tells every target of them unless they are those of the last call. Returns whether it did. */
  configure(settings: ClockSettings, atMs: number, out: ShuffleOutput[]): boolean {
    const known = this.configured
    if (known !== null && known.delayMs === settings.delayMs && known.allowedLatenessMs === settings.allowedLatenessMs) return false
    this.configured = settings
    this.tellSettings(settings, atMs, out)
    return true
  }

  /** Tells every target the settings in force once more: the headers of own records have news. */
  repeatSettings(atMs: number, out: ShuffleOutput[]): void {
    this.tellSettings(this.clock.snapshot(), atMs, out)
  }

  private tellSettings({ delayMs, allowedLatenessMs }: ClockSettings, atMs: number, out: ShuffleOutput[]): void {
    this.mark(out)
    this.own(atMs, encodeSettings(atMs, delayMs, allowedLatenessMs), out)
    this.clock.configure(delayMs, allowedLatenessMs)
  }

  /** Tells every target how far the source has come, when they do not know. Returns whether it did. */
  mark(out: ShuffleOutput[]): boolean {
    const { progressMs } = this.clock
    if (!(progressMs > this.toldMs)) return false
    this.own(progressMs, encodeHeartbeat(progressMs), out)
    this.toldMs = progressMs
    return true
  }

  /** Tells every target that the source was read to its end and is silent at `nowMs`. Does nothing when it has been later already. */
  beat(nowMs: number, out: ShuffleOutput[]): boolean {
    if (!(nowMs > this.clock.progressMs)) return this.mark(out)
    this.own(nowMs, encodeHeartbeat(nowMs), out)
    this.clock.observe(nowMs)
    this.toldMs = nowMs
    return true
  }

  private own(eventMs: number, value: string, out: ShuffleOutput[]): void {
    out.push({ kind: 'own', offset: this.followedOffset, number: this.number, eventMs, value })
    this.number += 1
  }

  get watermarkMs(): number {
    return this.clock.watermarkMs
  }

  get progressMs(): number {
    return this.clock.progressMs
  }

  /** The whole state; equal states give equal text. Taking it changes nothing. */
  snapshot(): ShuffleSnapshot {
    const { clock, configured, followedOffset, number, toldMs } = this
    return { clock: clock.snapshot(), configured, followedOffset, number, toldMs: Number.isFinite(toldMs) ? toldMs : null }
  }

  /** Replaces the state. */
  restore(from: ShuffleSnapshot): void {
    this.clock = PartitionClock.restore(from.clock)
    this.configured = from.configured
    this.followedOffset = from.followedOffset
    this.number = from.number
    this.toldMs = from.toldMs ?? Number.NEGATIVE_INFINITY
  }
}
