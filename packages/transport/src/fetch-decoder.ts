import { createRequire } from 'node:module'
import { type BatchContext, decoded, FetchedRecord, type RecordParts, VarintReader } from './fetched-record.ts'

/**
 * Decoding what a fetch brings, under kafkajs' own interface. kafkajs 2.2.4 makes six objects, four big integers and three texts of each
 * record; of these the windowing reads one. Here a record is one object over the answer's bytes, and the rest is made when it is asked for.
 * Anything else than plain record batches (compressed, or of before 2017) goes the library's own way.
 * Format: https://kafka.apache.org/documentation/#recordbatch
 */

const MAGIC = 2
/** From the start of a batch to its length's end, to its magic byte, and to its first record. */
const LENGTH_END = 12
const MAGIC_AT = 16
const RECORDS_AT = 61
const CODEC_MASK = 0x7
const LOG_APPEND_TIME_FLAG = 0x8
const TRANSACTIONAL_FLAG = 0x10
const CONTROL_FLAG = 0x20

interface Decoder {
  readonly buffer: Buffer
  offset: number
  readInt16(): number
  readInt32(): number
  readInt64(): bigint
  readString(): string | null
  readArray<T>(read: (decoder: Decoder) => T): T[]
  readArrayAsync<T>(read: (decoder: Decoder) => Promise<T>): Promise<T[]>
}

type DecodeMessages = (decoder: Decoder) => Promise<unknown[]>

interface FetchResponse {
  decode(raw: Buffer): Promise<unknown>
}

/** All batches of a partition's part of an answer; null when one of them is not plain. A batch that the answer cut off is left out. */
export function decodeBatches(bytes: Buffer): FetchedRecord[] | null {
  const records: FetchedRecord[] = new RecordsOfAnswer()
  // A message of the old formats may be shorter than the head of a batch.
  for (let at = 0; at + MAGIC_AT < bytes.length; ) {
    if (bytes[at + MAGIC_AT] !== MAGIC) return null
    if (at + RECORDS_AT > bytes.length) break
    if ((bytes.readInt16BE(at + 21) & CODEC_MASK) !== 0) return null
    const end = at + LENGTH_END + bytes.readInt32BE(at + 8)
    if (end < at + RECORDS_AT) throw new RangeError(`a record batch of ${end - at} bytes is shorter than its head`)
    if (end > bytes.length) break
    decodeBatch(bytes, at, records)
    at = end
  }
  return records
}

/**
 * kafkajs 2.2.4 looks at each record of an answer for whether it is before the place that was asked for (a batch is sent whole): a text and two
 * big integers each. Offsets ascend, so here only those before it are looked at, and one more. Its list of what is left is a plain one.
 */
class RecordsOfAnswer extends Array<FetchedRecord> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  override filter(isWithin: (record: FetchedRecord, index: number, all: FetchedRecord[]) => unknown): FetchedRecord[] {
    const first = this.findIndex(isWithin)
    return first === -1 ? [] : this.slice(first)
  }
}

function decodeBatch(bytes: Buffer, at: number, into: FetchedRecord[]): void {
  const attributes = bytes.readInt16BE(at + 21)
  const firstOffset = Number(bytes.readBigInt64BE(at))
  const firstTimestamp = Number(bytes.readBigInt64BE(at + 27))
  const maxTimestamp = Number(bytes.readBigInt64BE(at + 35))
  const isAppendTime = (attributes & LOG_APPEND_TIME_FLAG) !== 0
  const context: BatchContext = {
    firstOffset: String(firstOffset),
    firstTimestamp: String(firstTimestamp),
    partitionLeaderEpoch: bytes.readInt32BE(at + 12),
    inTransaction: (attributes & TRANSACTIONAL_FLAG) !== 0,
    isControlBatch: (attributes & CONTROL_FLAG) !== 0,
    lastOffsetDelta: bytes.readInt32BE(at + 23),
    producerId: bytes.readBigInt64BE(at + 43).toString(),
    producerEpoch: bytes.readInt16BE(at + 51),
    firstSequence: bytes.readInt32BE(at + 53),
    maxTimestamp: String(maxTimestamp),
    timestampType: isAppendTime ? 1 : 0,
    magicByte: MAGIC,
  }
  const reader = new VarintReader(bytes, at + RECORDS_AT)
  const parts: RecordParts = { keyStart: 0, keyLength: 0, valueStart: 0, valueLength: 0, headersStart: 0 }
  const count = bytes.readInt32BE(at + 57)
  for (let index = 0; index < count; index += 1) {
    const length = reader.signed()
    const next = reader.at + length
    // One byte of attributes, of which none is in use.
    reader.at += 1
    const timestampMs = firstTimestamp + reader.signed()
    const offset = firstOffset + reader.signed()
    parts.keyLength = reader.signed()
    parts.keyStart = reader.at
    reader.at += Math.max(0, parts.keyLength)
    parts.valueLength = reader.signed()
    parts.valueStart = reader.at
    parts.headersStart = reader.at + Math.max(0, parts.valueLength)
    into.push(new FetchedRecord(context, offset, isAppendTime ? maxTimestamp : timestampMs, bytes, parts))
    reader.at = next
  }
  decoded.records += count
}

async function decodeMessages(decoder: Decoder, otherwise: DecodeMessages): Promise<unknown[]> {
  const start = decoder.offset
  const size = decoder.readInt32()
  if (size > 0 && decoder.buffer.length - decoder.offset >= size) {
    const records = decodeBatches(decoder.buffer.subarray(decoder.offset, decoder.offset + size))
    if (records !== null) {
      decoder.offset += size
      return records
    }
  }
  decoder.offset = start
  return otherwise(decoder)
}

/** Version 11 of the answer, the newest that kafkajs speaks; as in its protocol/requests/fetch/v11/response.js. */
async function decodeAnswer(decoder: Decoder, otherwise: DecodeMessages): Promise<unknown> {
  const clientSideThrottleTime = decoder.readInt32()
  const errorCode = decoder.readInt16()
  const sessionId = decoder.readInt32()
  const responses = await decoder.readArrayAsync(async () => ({
    topicName: decoder.readString(),
    partitions: await decoder.readArrayAsync(async () => ({
      partition: decoder.readInt32(),
      errorCode: decoder.readInt16(),
      highWatermark: decoder.readInt64().toString(),
      lastStableOffset: decoder.readInt64().toString(),
      lastStartOffset: decoder.readInt64().toString(),
      abortedTransactions: decoder.readArray(() => ({
        producerId: decoder.readInt64().toString(),
        firstOffset: decoder.readInt64().toString(),
      })),
      preferredReadReplica: decoder.readInt32(),
      messages: await decodeMessages(decoder, otherwise),
    })),
  }))
  return { throttleTime: 0, clientSideThrottleTime, errorCode, sessionId, responses }
}

let isInUse = false

/** From now on all of this process's fetches are decoded here. */
export function useFetchDecoder(): void {
  if (isInUse) return
  isInUse = true
  const load = createRequire(import.meta.url)
  const response = load('kafkajs/src/protocol/requests/fetch/v11/response.js') as FetchResponse
  const otherwise = load('kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js') as DecodeMessages
  const KafkaDecoder = load('kafkajs/src/protocol/decoder.js') as new (bytes: Buffer) => Decoder
  response.decode = (raw) => decodeAnswer(new KafkaDecoder(raw), otherwise)
}
