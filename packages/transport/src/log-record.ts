import { isUtf8 } from 'node:buffer'
import type { KafkaMessage } from 'kafkajs'
import { FetchedRecord } from './fetched-record.ts'

/** One record as it was read. Key, value and headers are made when they are asked for, so that a copy by `...record` lacks them. */
export interface LogRecord {
  readonly partition: number
  readonly offset: number
  /** Kafka record timestamp: arrival time of a position. */
  readonly timestampMs: number
  readonly key: string | null
  readonly value: Buffer | null
  readonly headers: Readonly<Record<string, string>>
}

/** One record to be written. Without `partition` the key decides, as Java's default partitioner does; without `timestampMs` the machine's clock is taken. */
export interface OutRecord {
  readonly topic: string
  readonly key: string | null
  readonly value: Buffer | string | null
  readonly headers?: Readonly<Record<string, string>>
  readonly timestampMs?: number
  readonly partition?: number
}

const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({})

/** Decodes key, value and headers when they are asked for: the windowing reads the value's text alone. */
class KafkaRecord implements LogRecord {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly #message: KafkaMessage | FetchedRecord

  constructor(partition: number, message: KafkaMessage | FetchedRecord) {
    this.partition = partition
    this.#message = message
    if (message instanceof FetchedRecord) {
      this.offset = requireOffset(message.offsetNumber)
      this.timestampMs = message.timestampMs
    } else {
      this.offset = toOffset(message.offset)
      this.timestampMs = Number(message.timestamp)
    }
  }

  get value(): Buffer | null {
    return this.#message.value
  }

  /** As our own decoder made it; null when it is the library's. */
  get fetched(): FetchedRecord | null {
    return this.#message instanceof FetchedRecord ? this.#message : null
  }

  get key(): string | null {
    return this.#message.key?.toString('utf8') ?? null
  }

  get headers(): Readonly<Record<string, string>> {
    return toHeaders(this.#message.headers as KafkaMessage['headers'])
  }
}

/** A record's value alone, which any record has. */
type Valued = Pick<LogRecord, 'value'>

const fetchedOf = (record: Valued): FetchedRecord | null => (record instanceof KafkaRecord ? record.fetched : null)

/** What stands for bytes that are no UTF-8; it may also be in a text that is. */
const REPLACEMENT = '\uFFFD'

/**
 * The value of a record as a host takes it (host.ts of contracts): its text, null for none; its length in bytes; whether it is UTF-8. A record
 * as it was fetched makes no buffer for it.
 */
export function valueText(record: Valued): string | null {
  const fetched = fetchedOf(record)
  return fetched === null ? (record.value?.toString('utf8') ?? null) : fetched.text
}

/** Length of a record's value in bytes; 0 without one. */
export function valueBytes(record: Valued): number {
  return fetchedOf(record)?.valueBytes ?? record.value?.length ?? 0
}

/** Whether a record's value is UTF-8, `text` being its `valueText`; true without one. */
export function isValueUtf8(record: Valued, text: string | null): boolean {
  if (text === null || !text.includes(REPLACEMENT)) return true
  return record.value === null || isUtf8(record.value)
}

/** A record from kafkajs' message. Throws when an offset is beyond 2^53, which no log of ours reaches. */
export function toLogRecord(partition: number, message: KafkaMessage): LogRecord {
  return new KafkaRecord(partition, message)
}

/** An offset from Kafka's text. Throws a RangeError when it is no safe integer. */
export function toOffset(text: string): number {
  return requireOffset(Number(text))
}

function requireOffset(offset: number): number {
  if (!Number.isSafeInteger(offset)) throw new RangeError(`offset ${offset} is not a safe integer`)
  return offset
}

function toHeaders(headers: KafkaMessage['headers']): Readonly<Record<string, string>> {
  let texts: Record<string, string> | undefined
  for (const name in headers) {
    const value = headers[name]
    // A repeated header comes as a list; the last one wins, as in JSON.
    // Programs of others may write a header without a value, which kafkajs' types do not know.
    const last: Buffer | string | null | undefined = Array.isArray(value) ? value.at(-1) : value
    if (last === undefined || last === null) continue
    texts ??= {}
    texts[name] = last.toString()
  }
  return texts ?? NO_HEADERS
}

/** Framing of a record and its share of a batch's head, at most. */
const RECORD_OVERHEAD_BYTES = 96

/** Upper bound of what a record takes on the wire, in bytes, uncompressed. */
export function recordBytes(record: OutRecord): number {
  let bytes = RECORD_OVERHEAD_BYTES + textBytes(record.key) + textBytes(record.value)
  for (const name in record.headers) bytes += 10 + textBytes(name) + textBytes(record.headers[name] ?? null)
  return bytes
}

function textBytes(value: Buffer | string | null): number {
  if (value === null) return 0
  return typeof value === 'string' ? Buffer.byteLength(value, 'utf8') : value.length
}
