const NO_HEADERS: Readonly<Record<string, never>> = Object.freeze({})

/** What is the same for all records of a batch, under the names that kafkajs gives it. */
export interface BatchContext {
  readonly firstOffset: string
  readonly firstTimestamp: string
  readonly partitionLeaderEpoch: number
  readonly inTransaction: boolean
  readonly isControlBatch: boolean
  readonly lastOffsetDelta: number
  readonly producerId: string
  readonly producerEpoch: number
  readonly firstSequence: number
  readonly maxTimestamp: string
  readonly timestampType: number
  readonly magicByte: number
}

/** Numbers of records that were decoded, and of parts that somebody asked for: the performance guard counts them. */
export const decoded = { records: 0, keys: 0, values: 0, headers: 0, offsetTexts: 0 }

/** A record as kafkajs' consumers see it (KafkaMessage). Key, value, headers and the texts of offset and time are made when they are asked for. */
export class FetchedRecord {
  readonly attributes = 0
  readonly batchContext: BatchContext
  /** The same as `offset`, without the text. */
  readonly offsetNumber: number
  readonly timestampMs: number
  readonly #bytes: Buffer
  readonly #keyStart: number
  readonly #keyLength: number
  readonly #valueStart: number
  readonly #valueLength: number
  readonly #headersStart: number

  constructor(batchContext: BatchContext, offset: number, timestampMs: number, bytes: Buffer, parts: RecordParts) {
    this.batchContext = batchContext
    this.offsetNumber = offset
    this.timestampMs = timestampMs
    this.#bytes = bytes
    this.#keyStart = parts.keyStart
    this.#keyLength = parts.keyLength
    this.#valueStart = parts.valueStart
    this.#valueLength = parts.valueLength
    this.#headersStart = parts.headersStart
  }

  get magicByte(): number {
    return this.batchContext.magicByte
  }

  get isControlRecord(): boolean {
    return this.batchContext.isControlBatch
  }

  get offset(): string {
    decoded.offsetTexts += 1
    return String(this.offsetNumber)
  }

  get timestamp(): string {
    return String(this.timestampMs)
  }

  get key(): Buffer | null {
    decoded.keys += 1
    return this.#keyLength < 0 ? null : this.#bytes.subarray(this.#keyStart, this.#keyStart + this.#keyLength)
  }

  get value(): Buffer | null {
    decoded.values += 1
    return this.#valueLength < 0 ? null : this.#bytes.subarray(this.#valueStart, this.#valueStart + this.#valueLength)
  }

  /** The value as UTF-8, without a buffer of its own in between. */
  get text(): string | null {
    return this.#valueLength < 0 ? null : this.#bytes.toString('utf8', this.#valueStart, this.#valueStart + this.#valueLength)
  }

  /** Length of the value; 0 without one. */
  get valueBytes(): number {
    return Math.max(0, this.#valueLength)
  }

  get hasHeaders(): boolean {
    return this.#bytes[this.#headersStart] !== 0
  }

  /** Values of a name that comes more than once are a list, as with kafkajs. */
  get headers(): Readonly<Record<string, Buffer | Buffer[] | null>> {
    if (!this.hasHeaders) return NO_HEADERS
    decoded.headers += 1
    const reader = new VarintReader(this.#bytes, this.#headersStart)
    const headers: Record<string, Buffer | Buffer[] | null> = {}
    for (let left = reader.signed(); left > 0; left -= 1) {
      const name = reader.bytes()?.toString('utf8') ?? ''
      const value = reader.bytes()
      const before = Object.hasOwn(headers, name) ? headers[name] : undefined
      if (before === undefined) headers[name] = value
      else headers[name] = [...(Array.isArray(before) ? before : [before as Buffer]), value as Buffer]
    }
    return headers
  }
}

/** Where the parts of a record lie in its batch; a length of -1 is null. */
export interface RecordParts {
  keyStart: number
  keyLength: number
  valueStart: number
  valueLength: number
  headersStart: number
}

/** Reads Kafka's zigzag varints one after the other. */
export class VarintReader {
  readonly #bytes: Buffer
  at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  /** Exact up to 2^53, which no time or length of ours reaches. Throws a RangeError at the end of the bytes. */
  signed(): number {
    const bytes = this.#bytes
    let byte = bytes[this.at]
    this.at += 1
    if (byte === undefined) throw new RangeError('a record batch ends within a number')
    if (byte < 0x80) return (byte >>> 1) ^ -(byte & 1)
    let value = byte & 0x7f
    for (let scale = 0x80; ; scale *= 0x80) {
      byte = bytes[this.at]
      this.at += 1
      if (byte === undefined) throw new RangeError('a record batch ends within a number')
      value += (byte & 0x7f) * scale
      if (byte < 0x80) break
    }
    // Zigzag: odd numbers are the negative ones.
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }

  bytes(): Buffer | null {
    const length = this.signed()
    if (length < 0) return null
    const start = this.at
    this.at += length
    return this.#bytes.subarray(start, this.at)
  }
}
