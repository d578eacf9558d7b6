import { isUtf8 } from 'node:buffer'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBatches } from './fetch-decoder.ts'
import { decoded, FetchedRecord } from './fetched-record.ts'
import { isValueUtf8, toLogRecord, valueBytes, valueText } from './log-record.ts'

// The library's own encoder and decoder say what is right: they are of the pinned version 2.2.4.
const load = createRequire(import.meta.url)
const { RecordBatch } = load('kafkajs/src/protocol/recordBatch/v0/index.js')
const encodeRecord = load('kafkajs/src/protocol/recordBatch/record/v0/index.js')
const decodeBatch = load('kafkajs/src/protocol/recordBatch/v0/decoder.js')
const Decoder = load('kafkajs/src/protocol/decoder.js')
const encodeOldSet = load('kafkajs/src/protocol/messageSet/index.js')
const Batch = load('kafkajs/src/consumer/batch.js')
const Long = load('kafkajs/src/utils/long.js')

interface Sent {
  readonly key: string | null
  readonly value: string | null
  readonly headers: Record<string, string | string[]>
  readonly timestampDelta: number
}

const START_MS = 1_789_380_000_000

async function encode(firstOffset: number, sent: readonly Sent[], compression = 0): Promise<Buffer> {
  const records = sent.map((record, offsetDelta) => encodeRecord({ ...record, offsetDelta }))
  const options = {
    firstOffset: Long.fromValue(firstOffset),
    firstTimestamp: START_MS,
    maxTimestamp: START_MS + 5,
    lastOffsetDelta: sent.length - 1,
  }
  return (await RecordBatch({ ...options, compression, records, producerId: Long.fromValue(7), firstSequence: 3 })).buffer
}

const arbitrary = fc.record({
  key: fc.option(fc.string({ unit: 'binary' })),
  value: fc.option(fc.string({ unit: 'binary', maxLength: 300 })),
  headers: fc.dictionary(
    // The library stumbles over names that every object has.
    fc.string({ minLength: 1 }).filter((name) => !(name in {})),
    fc.oneof(fc.string(), fc.array(fc.string(), { minLength: 2, maxLength: 3 })),
    { maxKeys: 3 },
  ),
  timestampDelta: fc.integer({ min: -(2 ** 31), max: 2 ** 40 }),
})

/** Flags of a batch (its checksum is looked at by neither). */
const APPEND_TIME = 0x8
const TRANSACTIONAL = 0x10
const CONTROL = 0x20

function flagged(batch: Buffer, flags: number): Buffer {
  const bytes = Buffer.from(batch)
  bytes.writeInt16BE(flags, 21)
  return bytes
}

/** All that kafkajs reads of a record. */
function view(record: FetchedRecord) {
  const { attributes, offset, timestamp, key, value, headers, isControlRecord, batchContext, magicByte } = record
  return { attributes, offset, timestamp, key, value, headers: { ...headers }, isControlRecord, batchContext, magicByte }
}

describe('decoding what a fetch brings', () => {
  it('says of any record what the library says', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitrary, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 0, max: 2 ** 45 }),
        fc.constantFrom(0, APPEND_TIME, TRANSACTIONAL, CONTROL | TRANSACTIONAL),
        async (sent, firstOffset, flags) => {
          const bytes = flagged(await encode(firstOffset, sent), flags)
          const theirs = (await decodeBatch(new Decoder(bytes))).records
          const ours = decodeBatches(bytes) ?? []
          expect(ours.map(view)).toEqual(theirs.map(view))
          const read = (record: never) => {
            const { partition, offset, timestampMs, key, value, headers } = toLogRecord(4, record)
            return { partition, offset, timestampMs, key, value, headers }
          }
          expect(ours.map((record) => read(record as never))).toEqual(theirs.map(read))
        },
      ),
      { numRuns: 60 },
    )
  })

  it('takes several batches, leaves out the one that the answer cut off, and leaves compressed ones to the library', async () => {
    const record = { key: 'furgoneta-1', value: '{}', headers: {}, timestampDelta: 0 }
    const [first, second] = [await encode(10, [record, record]), await encode(12, [record])]
    const both = Buffer.concat([first, second])
    expect(decodeBatches(both)?.map(({ offset }) => offset)).toEqual(['10', '11', '12'])
    expect(decodeBatches(both.subarray(0, both.length - 1))?.map(({ offset }) => offset)).toEqual(['10', '11'])
    expect(decodeBatches(await encode(10, [record], 1))).toBeNull()
  })

  it('gives of any value its text, length and whether it is UTF-8, as its bytes have them', async () => {
    const values = fc.option(
      fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.string({ unit: 'binary' }), fc.constantFrom('\uFFFD', '\uFEFF{}', 'é\uFFFDé')),
    )
    await fc.assert(
      fc.asyncProperty(values, async (given) => {
        const value = given === null ? null : Buffer.from(given as string)
        const bytes = await encode(10, [{ key: null, value: value as never, headers: {}, timestampDelta: 0 }])
        const fetched = toLogRecord(0, decodeBatches(bytes)?.[0] as never)
        const theirs = toLogRecord(0, (await decodeBatch(new Decoder(bytes))).records[0])
        for (const record of [fetched, theirs, { ...fetched, key: null, value, headers: {} }]) {
          const text = valueText(record)
          expect([text, valueBytes(record)]).toEqual([value?.toString('utf8') ?? null, value?.length ?? 0])
          expect(isValueUtf8(record, text)).toBe(value === null || isUtf8(value))
        }
      }),
    )
  })

  it('decodes neither keys, headers nor texts of offsets until somebody asks', async () => {
    const [record] = decodeBatches(await encode(5, [{ key: 'k', value: 'v', headers: { a: 'b' }, timestampDelta: 1 }])) ?? []
    expect(record).toBeInstanceOf(FetchedRecord)
    expect(Object.keys(record ?? {})).not.toContain('headers')
    expect(toLogRecord(0, record as never).headers).toEqual({ a: 'b' })
  })

  it('leaves messages of the old formats to the library, however short, and stops at a batch that cannot be', async () => {
    for (const messageVersion of [0, 1]) {
      const { buffer } = encodeOldSet({ messageVersion, entries: [{ key: null, value: 'v', timestamp: START_MS }] })
      expect(buffer.length).toBeLessThan(61)
      expect(decodeBatches(buffer)).toBeNull()
      // The answer has both: the library takes what comes before, and fetches the rest anew.
      const batch = await encode(1, [{ key: null, value: 'v', headers: {}, timestampDelta: 0 }])
      expect(decodeBatches(Buffer.concat([batch, buffer]))).toBeNull()
    }
    const broken = await encode(10, [{ key: 'k', value: '{}', headers: {}, timestampDelta: 0 }])
    broken.writeInt32BE(-12, 8)
    expect(() => decodeBatches(broken)).toThrow(RangeError)
  })

  it('takes a batch of which compaction has left the head alone', async () => {
    const record = { key: 'k', value: 'v', headers: {}, timestampDelta: 0 }
    const head = (await encode(10, [record])).subarray(0, 61)
    head.writeInt32BE(61 - 12, 8)
    head.writeInt32BE(0, 57)
    expect(decodeBatches(head)).toEqual([])
    expect(decodeBatches(Buffer.concat([head, await encode(11, [record])]))?.map(({ offset }) => offset)).toEqual(['11'])
  })

  it('hides what was given up, as the library does, and its markers', async () => {
    const record = { key: 'k', value: 'v', headers: {}, timestampDelta: 0 }
    const marker = { key: '\0\0\0\0', value: '\0\0\0\0\0\0', headers: {}, timestampDelta: 0 }
    const messages = decodeBatches(
      Buffer.concat([
        flagged(await encode(10, [record, record]), TRANSACTIONAL),
        flagged(await encode(12, [marker]), TRANSACTIONAL | CONTROL),
        flagged(await encode(13, [record]), TRANSACTIONAL),
      ]),
    )
    const data = { partition: 0, highWatermark: '14', messages, abortedTransactions: [{ producerId: '7', firstOffset: '10' }] }
    const batch = new Batch('t', '10', data)
    expect(batch.messages.map(({ offset }: FetchedRecord) => offset)).toEqual(['13'])
    expect(batch.lastOffset()).toBe('13')
  })

  it('gives nothing before the place that was asked for, and looks at no record behind it', async () => {
    const record = { key: 'k', value: 'v', headers: {}, timestampDelta: 0 }
    const bytes = Buffer.concat([await encode(10, [record, record, record]), await encode(13, [record, record])])
    for (const from of [3, 10, 11, 12, 13, 14, 15]) {
      const messages = decodeBatches(bytes)
      decoded.offsetTexts = 0
      const batch = new Batch('t', String(from), { partition: 0, highWatermark: '15', messages, abortedTransactions: [] })
      expect(decoded.offsetTexts).toBeLessThanOrEqual(Math.max(0, from - 10) + 1)
      expect(batch.messages.map(({ offset }: FetchedRecord) => Number(offset))).toEqual(
        [10, 11, 12, 13, 14].filter((offset) => offset >= from),
      )
      expect(batch.rawMessages.map(({ offset }: FetchedRecord) => Number(offset))).toEqual([10, 11, 12, 13, 14])
    }
  })

  it('takes records of megabytes and headers without a value', async () => {
    const value = 'x'.repeat(9_000_000)
    const [record] = decodeBatches(await encode(5, [{ key: null, value, headers: {}, timestampDelta: 0 }])) ?? []
    expect(record?.value?.length).toBe(value.length)
    const [bare] = decodeBatches(await encode(5, [{ key: null, value: null, headers: { a: 'b', c: 'd' }, timestampDelta: 0 }])) ?? []
    expect(toLogRecord(0, bare as never)).toMatchObject({ key: null, value: null, headers: { a: 'b', c: 'd' } })
    // kafkajs writes none such: the length of b becomes -1.
    const bytes = await encode(5, [{ key: null, value: null, headers: { a: 'b', c: 'd' }, timestampDelta: 0 }])
    const nulled = Buffer.concat([bytes.subarray(0, -6), Buffer.from([1]), bytes.subarray(-4)])
    nulled.writeInt32BE(nulled.length - 12, 8)
    const [foreign] = decodeBatches(nulled) ?? []
    expect(foreign?.headers).toEqual({ a: null, c: Buffer.from('d') })
    expect(toLogRecord(0, foreign as never).headers).toEqual({ c: 'd' })
  })
})
