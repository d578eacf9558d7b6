/** Kafka headers of result records. All values are decimal text. */
export const HEADERS = {
  /** Log epoch: raised by reset, repartition and restore. A sink moves forward by (epoch, offset). */
  epoch: 'epoca',
  sourcePartition: 'particio_origen',
  sourceOffset: 'offset_origen',
  /** Of the stock shuffle only. */
  arrivalMs: 'arribada_ms',
  watermarkMs: 'marca_aigua_ms',
  /** Of live points: what the van's battery held, per cent, where it was sent. */
  batteryPercent: 'bateria_pct',
} as const

/** Of a position that is traced, in its record and in the live point that comes of it: W3C traceparent. A message may carry it as a member of that name. */
export const TRACE_HEADER = 'traceparent'

/** Kafka headers of a repaired position: it enters the log as a new record, whose timestamp is the arrival time of the original. */
export const REPAIR_HEADERS = {
  by: 'reparat_per',
  atMs: 'reparat_ms',
  /** Offset of the dead letter that was repaired. */
  deadLetter: 'rebuig_offset',
} as const

/** Who put a record right, when (ms since 1970), and out of which dead letter. */
export interface Repair {
  readonly by: string
  readonly atMs: number
  readonly deadLetterOffset: number
}

export function encodeRepair({ by, atMs, deadLetterOffset }: Repair): Record<string, string> {
  return { [REPAIR_HEADERS.by]: by, [REPAIR_HEADERS.atMs]: String(atMs), [REPAIR_HEADERS.deadLetter]: String(deadLetterOffset) }
}

/** Where a result comes from, and how far a sink has moved: later means greater epoch, then greater offset within one source partition. */
export interface SourcePosition {
  readonly epoch: number
  readonly partition: number
  readonly offset: number
}

/** Text headers of a result that was caused by the record at `source`. */
export function encodeSource(source: SourcePosition): Record<string, string> {
  return {
    [HEADERS.epoch]: String(source.epoch),
    [HEADERS.sourcePartition]: String(source.partition),
    [HEADERS.sourceOffset]: String(source.offset),
  }
}

/** The source position in a record's headers; null when one is missing or is not a non-negative integer. */
export function decodeSource(headers: Readonly<Record<string, string>>): SourcePosition | null {
  const numbers = [HEADERS.epoch, HEADERS.sourcePartition, HEADERS.sourceOffset].map((name) => {
    const text = headers[name]
    return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  })
  const [epoch, partition, offset] = numbers
  if (epoch === undefined || partition === undefined || offset === undefined || numbers.some((n) => !Number.isSafeInteger(n))) return null
  return { epoch, partition, offset }
}

/** Battery of a live point in per cent; null when it was not sent. */
export function decodeBattery(headers: Readonly<Record<string, string>>): number | null {
  const text = headers[HEADERS.batteryPercent]
  return text !== undefined && /^(100|\d{1,2})$/.test(text) ? Number(text) : null
}
