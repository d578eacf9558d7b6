import { createRequire } from 'node:module'
import { crc32c } from './crc32c.ts'

/**
 * Encoding what is written, under kafkajs' own interface. kafkajs 2.2.4 allocates half a kilobyte for each record and each header, and copies
 * them five times; here a batch is written once, in place. Compressed batches go the library's own way.
 * Format: https://kafka.apache.org/documentation/#recordbatch
 */

interface Message {
  readonly key?: Buffer | string | null
  readonly value: Buffer | string | null
  readonly headers?: Readonly<Record<string, Buffer | string | (Buffer | string)[] | undefined>>
  readonly timestamp?: string
}

interface PartitionData {
  readonly partition: number
  readonly messages: readonly Message[]
  readonly firstSequence: number
}

interface ProduceOptions {
  readonly acks: number
  readonly timeout: number
  readonly transactionalId?: string | null
  readonly producerId?: unknown
  readonly producerEpoch?: number
  readonly compression?: number
  readonly topicData: readonly { readonly topic: string; readonly partitions: readonly PartitionData[] }[]
}

interface ProduceRequest {
  readonly apiKey: number
  readonly apiVersion: number
  readonly apiName: string
  expectResponse(): boolean
  /** kafkajs asks of an encoder that it has `buf` and `buffer`. */
  encode(): Promise<{ readonly buf: Buffer; readonly buffer: Buffer }>
}

/** A record batch around its records, and a partition's number and length around the batch. */
const BATCH_BYTES = 61
const PARTITION_BYTES = 8
const MAGIC = 2
const TRANSACTIONAL_FLAG = 0x10
/** Shorter texts are written unit by unit: a call into the runtime costs more. */
const SHORT_TEXT = 40

function bytesOf(value: Buffer | string): number {
  return typeof value === 'string' ? Buffer.byteLength(value, 'utf8') : value.length
}

/** How many bytes a number takes as zigzag varint. */
function varintBytes(value: number): number {
  let zigzag = value < 0 ? -2 * value - 1 : 2 * value
  let bytes = 1
  for (; zigzag >= 0x80; zigzag = Math.floor(zigzag / 0x80)) bytes += 1
  return bytes
}

class Writer {
  readonly buffer: Buffer
  at = 0

  constructor(bytes: number) {
    this.buffer = Buffer.allocUnsafe(bytes)
  }

  int16(value: number): void {
    this.at = this.buffer.writeInt16BE(value, this.at)
  }

  int32(value: number): void {
    this.at = this.buffer.writeInt32BE(value, this.at)
  }

  int64(value: bigint): void {
    this.at = this.buffer.writeBigInt64BE(value, this.at)
  }

  varint(value: number): void {
    let zigzag = value < 0 ? -2 * value - 1 : 2 * value
    for (; zigzag >= 0x80; zigzag = Math.floor(zigzag / 0x80)) {
      this.buffer[this.at] = (zigzag % 0x80) + 0x80
      this.at += 1
    }
    this.buffer[this.at] = zigzag
    this.at += 1
  }

  /** With its length before it; -1 for null. */
  sized(value: Buffer | string | null | undefined, bytes: number): void {
    this.varint(bytes)
    if (value === null || value === undefined) return
    this.raw(value, bytes)
  }

  raw(value: Buffer | string, bytes: number): void {
    if (typeof value !== 'string') value.copy(this.buffer, this.at)
    else if (bytes > SHORT_TEXT || bytes !== value.length) this.buffer.write(value, this.at, bytes, 'utf8')
    else for (let index = 0; index < bytes; index += 1) this.buffer[this.at + index] = value.charCodeAt(index)
    this.at += bytes
  }
}

/** A header for each of its values. */
function headersOf({ headers }: Message): [string, Buffer | string][] {
  const list: [string, Buffer | string][] = []
  for (const name in headers) {
    const value = headers[name]
    if (Array.isArray(value)) for (const one of value) list.push([name, one])
    else if (value !== undefined) list.push([name, value])
  }
  return list
}

interface Sized {
  readonly message: Message
  readonly timestampMs: number
  readonly headers: readonly [string, Buffer | string][]
  readonly keyBytes: number
  readonly valueBytes: number
  /** All but the times and offsets, which are known when the whole batch is. */
  readonly bytes: number
}

function measure(message: Message, nowMs: number): Sized {
  const headers = headersOf(message)
  const keyBytes = message.key === null || message.key === undefined ? -1 : bytesOf(message.key)
  const valueBytes = message.value === null ? -1 : bytesOf(message.value)
  let bytes =
    1 + varintBytes(keyBytes) + Math.max(0, keyBytes) + varintBytes(valueBytes) + Math.max(0, valueBytes) + varintBytes(headers.length)
  for (const [name, value] of headers) {
    const [nameBytes, size] = [bytesOf(name), bytesOf(value)]
    bytes += varintBytes(nameBytes) + nameBytes + varintBytes(size) + size
  }
  const timestampMs = message.timestamp === undefined ? nowMs : Number(message.timestamp)
  return { message, timestampMs, headers, keyBytes, valueBytes, bytes }
}

/** The largest that a record's length, time and offset take. */
const RECORD_HEAD_BYTES = 5 + 10 + 5

function writeRecord(
  to: Writer,
  { message, timestampMs, headers, keyBytes, valueBytes, bytes }: Sized,
  firstMs: number,
  index: number,
): void {
  const delta = timestampMs - firstMs
  to.varint(bytes + varintBytes(delta) + varintBytes(index))
  // No attributes are in use.
  to.varint(0)
  to.varint(delta)
  to.varint(index)
  to.sized(message.key, keyBytes)
  to.sized(message.value, valueBytes)
  to.varint(headers.length)
  for (const [name, value] of headers) {
    to.sized(name, bytesOf(name))
    to.sized(value, bytesOf(value))
  }
}

/** One partition's number and record batch. */
export function encodePartition({ partition, messages, firstSequence }: PartitionData, options: ProduceOptions): Buffer {
  const nowMs = Date.now()
  const sized = messages.map((message) => measure(message, nowMs))
  let [firstMs, lastMs, bytes] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, PARTITION_BYTES + BATCH_BYTES]
  for (const record of sized) {
    firstMs = Math.min(firstMs, record.timestampMs)
    lastMs = Math.max(lastMs, record.timestampMs)
    bytes += record.bytes + RECORD_HEAD_BYTES
  }
  const to = new Writer(bytes)
  to.at = PARTITION_BYTES + BATCH_BYTES
  sized.forEach((record, index) => {
    writeRecord(to, record, firstMs, index)
  })
  const end = to.at
  to.at = 0
  to.int32(partition)
  to.int32(end - PARTITION_BYTES)
  to.int64(0n)
  to.int32(end - PARTITION_BYTES - 12)
  to.int32(0)
  to.buffer[to.at] = MAGIC
  const checksumAt = to.at + 1
  to.at = checksumAt + 4
  to.int16(options.transactionalId ? TRANSACTIONAL_FLAG : 0)
  to.int32(sized.length - 1)
  to.int64(BigInt(firstMs))
  to.int64(BigInt(lastMs))
  to.int64(BigInt(String(options.producerId ?? -1)))
  to.int16(options.producerEpoch ?? 0)
  to.int32(firstSequence ?? 0)
  to.int32(sized.length)
  to.buffer.writeUInt32BE(crc32c(to.buffer, checksumAt + 4, end), checksumAt)
  return to.buffer.subarray(0, end)
}

/** Version 7 of the request, the newest that kafkajs speaks; as in its protocol/requests/produce/v3/request.js. */
function encodeRequest(options: ProduceOptions): Buffer {
  const { acks, timeout, transactionalId, topicData } = options
  const topics = topicData.map(({ topic, partitions }) => ({ topic, batches: partitions.map((data) => encodePartition(data, options)) }))
  const head = 2 + bytesOf(transactionalId ?? '') + 2 + 4 + 4
  const bytes = topics.reduce(
    (sum, { topic, batches }) => batches.reduce((all, { length }) => all + length, sum + 2 + bytesOf(topic) + 4),
    head,
  )
  const to = new Writer(bytes)
  to.int16(transactionalId == null ? -1 : bytesOf(transactionalId))
  if (transactionalId != null) to.raw(transactionalId, bytesOf(transactionalId))
  to.int16(acks)
  to.int32(timeout)
  to.int32(topics.length)
  for (const { topic, batches } of topics) {
    to.int16(bytesOf(topic))
    to.raw(topic, bytesOf(topic))
    to.int32(batches.length)
    for (const batch of batches) to.raw(batch, batch.length)
  }
  return to.buffer
}

let isInUse = false

/** From now on all that this process writes is encoded here. */
export function useProduceEncoder(): void {
  if (isInUse) return
  isInUse = true
  const load = createRequire(import.meta.url)
  const path = load.resolve('kafkajs/src/protocol/requests/produce/v7/request.js')
  const theirs = load(path) as (options: ProduceOptions) => ProduceRequest
  const module = load.cache[path]
  // kafkajs asks for this module anew at each request.
  if (module === undefined) throw new Error(`${path} is not there`)
  module.exports = (options: ProduceOptions): ProduceRequest => {
    const request = theirs(options)
    if ((options.compression ?? 0) !== 0) return request
    return {
      ...request,
      encode: async () => {
        const buffer = encodeRequest(options)
        return { buf: buffer, buffer }
      },
    }
  }
}
