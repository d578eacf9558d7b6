import { HEARTBEAT_KIND, SETTINGS_KIND } from './control.ts'
import { HEADERS } from './headers.ts'

/**
 * Records of the shuffle's topic, the log of the stock pipeline (section 6): events with their value as it came, heartbeats and settings of a
 * source partition (copied to every target partition), and the shuffle's own heartbeats and settings for a source partition.
 */
export interface ShuffledHeaders {
  readonly sourcePartition: number
  /** Offset of the record in its source partition; of one of the shuffle's own: the source offset that it follows, -1 before the first. */
  readonly sourceOffset: number
  /** Record timestamp in the source partition; of one of the shuffle's own: its event time. */
  readonly arrivalMs: number
  /** Of an event: its source partition's watermark before it; null before the first record that counts. */
  readonly watermarkMs: number | null
  /** Of the shuffle's own: grows by one; own records that follow the same offset are ordered by it. null for a record of the source. */
  readonly number: number | null
  /** Source partitions that there are, as the shuffle knows when it writes one of its own. */
  readonly sourcePartitions: number | null
}

const NAMES = {
  partition: HEADERS.sourcePartition,
  offset: HEADERS.sourceOffset,
  arrival: HEADERS.arrivalMs,
  watermark: HEADERS.watermarkMs,
  number: 'numero',
  sourcePartitions: 'particions',
} as const

/** Text headers of a shuffled record. What is not known is left out. */
export function encodeShuffled(headers: ShuffledHeaders): Record<string, string> {
  const { sourcePartition, sourceOffset, arrivalMs, watermarkMs, number, sourcePartitions } = headers
  return {
    [NAMES.partition]: String(sourcePartition),
    [NAMES.offset]: String(sourceOffset),
    [NAMES.arrival]: String(arrivalMs),
    ...(watermarkMs === null ? {} : { [NAMES.watermark]: String(watermarkMs) }),
    ...(number === null ? {} : { [NAMES.number]: String(number) }),
    ...(sourcePartitions === null ? {} : { [NAMES.sourcePartitions]: String(sourcePartitions) }),
  }
}

/** The headers of a shuffled record; null when they are not of the shuffle. */
export function decodeShuffled(headers: Readonly<Record<string, string>>): ShuffledHeaders | null {
  const sourcePartition = integerIn(headers, NAMES.partition)
  const sourceOffset = integerIn(headers, NAMES.offset)
  const arrivalMs = integerIn(headers, NAMES.arrival)
  const watermarkMs = integerIn(headers, NAMES.watermark)
  const number = integerIn(headers, NAMES.number)
  const sourcePartitions = integerIn(headers, NAMES.sourcePartitions)
  if (sourcePartition === null || sourceOffset === null || arrivalMs === null) return null
  if (Number.isNaN(sourcePartition + sourceOffset + arrivalMs + (watermarkMs ?? 0) + (number ?? 0) + (sourcePartitions ?? 0))) return null
  if (sourcePartition < 0 || sourceOffset < -1) return null
  return { sourcePartition, sourceOffset, arrivalMs, watermarkMs, number, sourcePartitions }
}

/** null when it is missing, NaN when it is no safe integer. */
function integerIn(headers: Readonly<Record<string, string>>, name: string): number | null {
  const text = headers[name]
  if (text === undefined) return null
  const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? value : Number.NaN
}

/** Value of a heartbeat: no event earlier than `eventMs` less the delay is expected any more. */
export function encodeHeartbeat(eventMs: number): string {
  return `{"tipus":"${HEARTBEAT_KIND}","data_ms":${eventMs}}`
}

/** Value of a settings record. */
export function encodeSettings(eventMs: number, delayMs: number, allowedLatenessMs: number): string {
  return `{"tipus":"${SETTINGS_KIND}","data_ms":${eventMs},"retard_ms":${delayMs},"marge_ms":${allowedLatenessMs}}`
}
