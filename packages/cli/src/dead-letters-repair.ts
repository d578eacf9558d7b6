import { encodeRepair, offTheClock, type PositionsSettings, parseJsonObject, type Repair, readPositionRecord, TOPICS } from '@km0/contracts'
import type { OutRecord } from '@km0/transport'

/** A refused message with what it was, as far as it can still be found. */
export interface DeadLetter {
  readonly offset: number
  readonly reason: string
  /** Of the original; rule 2 of section 3 is judged by it. */
  readonly arrivalMs: number
  /** Partition of the topic of positions in which the original stands; null when it never got there. */
  readonly partition: number | null
  /** Original bytes as text; null when they are gone, were cut, or are no UTF-8. */
  readonly text: string | null
  /** Why there is no text. */
  readonly missing: string | null
  /** What the original says of itself; null when it cannot be read. */
  readonly van: string | null
  readonly eventMs: number | null
}

export interface RepairOptions {
  /** Added to the event time, in ms; negative when the clock was ahead. */
  readonly shiftMs: number
  readonly rules: Pick<PositionsSettings, 'maxFutureMs' | 'maxAgeMs' | 'refuseNullIsland'>
  readonly by: string
  readonly atMs: number
}

export type Repaired = { readonly record: OutRecord; readonly van: string; readonly eventMs: number } | { readonly refused: string }

/**
 * The record that puts a dead letter right, or why it would be refused again (rules 1 and 2 of section 3). Its timestamp is the original's
 * arrival time, so that live, lake and every replay judge it by that. Its members stay as they are but for the event time.
 */
export function repairLetter(letter: DeadLetter, options: RepairOptions): Repaired {
  const { text } = letter
  if (text === null) return { refused: letter.missing ?? 'the original is gone' }
  const value = options.shiftMs === 0 ? text : shifted(text, options.shiftMs)
  if (value === null) return { refused: 'invalid: no JSON object with a number data_ms' }
  const read = readPositionRecord(value, Buffer.byteLength(value), true, options.rules.refuseNullIsland)
  if (read.kind !== 'position') return { refused: 'invalid' }
  const reason = offTheClock(read.eventMs, letter.arrivalMs, options.rules.maxFutureMs, options.rules.maxAgeMs)
  if (reason !== null) return { refused: reason }
  const repair: Repair = { by: options.by, atMs: options.atMs, deadLetterOffset: letter.offset }
  const record: OutRecord = {
    topic: TOPICS.positions.name,
    key: read.van,
    value,
    headers: encodeRepair(repair),
    timestampMs: letter.arrivalMs,
    // The van's own partition; what never got into the log has none, and goes by its key as all do.
    ...(letter.partition === null ? {} : { partition: letter.partition }),
  }
  return { record, van: read.van, eventMs: read.eventMs }
}

function shifted(text: string, shiftMs: number): string | null {
  const value = parseJsonObject(text, Buffer.byteLength(text), true)
  return value !== null && typeof value.data_ms === 'number' ? JSON.stringify({ ...value, data_ms: value.data_ms + shiftMs }) : null
}

/** Van and event time that a text names, whatever else is wrong with it. */
export function namesOf(text: string | null): { readonly van: string | null; readonly eventMs: number | null } {
  const value = parseJsonObject(text, text === null ? 0 : Buffer.byteLength(text), true)
  const van = typeof value?.repartidor === 'string' ? value.repartidor : null
  return { van, eventMs: Number.isSafeInteger(value?.data_ms) ? (value?.data_ms as number) : null }
}
