import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBatches } from './fetch-decoder.ts'
import { FetchedRecord } from './fetched-record.ts'
import { toLogRecord } from './log-record.ts'

// The library's own encoder and decoder say what is right: they are of the pinned version 2.2.4.
const load = createRequire(import.meta.url)
const { RecordBatch } = load('kafkajs/src/protocol/recordBatch/v0/index.js')
const encodeRecord = load('kafkajs/src/protocol/recordBatch/record/v0/index.js')
const decodeBatch = load('kafkajs/src/protocol/recordBatch/v0/decoder.js')
const Decoder = load('kafkajs/src/protocol/decoder.js')
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

describe('decoding what a fetch brings', () => {
  it('says of any record what the library says', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbitrary, { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 0, max: 2 ** 45 }),
        async (sent, firstOffset) => {
          const bytes = await encode(firstOffset, sent)
          const theirs = (await decodeBatch(new Decoder(bytes))).records
          const ours = decodeBatches(bytes) ?? []
          const view = ({
            attributes,
            offset,
            timestamp,
            key,
            value,
            headers,
            isControlRecord,
            batchContext,
            magicByte,
          }: FetchedRecord) => ({
            ...{ attributes, offset, timestamp, key, value, headers: { ...headers }, isControlRecord, batchContext, magicByte },
          })
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

  it('decodes neither keys, headers nor texts of offsets until somebody asks', async () => {
    const [record] = decodeBatches(await encode(5, [{ key: 'k', value: 'v', headers: { a: 'b' }, timestampDelta: 1 }])) ?? []
    expect(record).toBeInstanceOf(FetchedRecord)
    expect(Object.keys(record ?? {})).not.toContain('headers')
    expect(toLogRecord(0, record as never).headers).toEqual({ a: 'b' })
  })
})
