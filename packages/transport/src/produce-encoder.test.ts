import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { crc32c } from './crc32c.ts'
import { useProduceEncoder } from './produce-encoder.ts'

// The library's own encoder says what is right: it is of the pinned version 2.2.4.
const load = createRequire(import.meta.url)
const path = 'kafkajs/src/protocol/requests/produce/v7/request.js'
const theirs = load(path)
const theirCrc = load('kafkajs/src/protocol/recordBatch/crc32C/index.js')

const text = fc.string({ unit: 'binary', maxLength: 120 })
const bytes = fc.uint8Array({ maxLength: 300 }).map(Buffer.from)
const message = fc.record({
  key: fc.option(fc.oneof(text, bytes)),
  value: fc.option(fc.oneof(text, bytes)),
  headers: fc.dictionary(
    fc.string({ minLength: 1 }),
    fc.oneof(text, bytes, fc.array(fc.oneof(text, bytes), { minLength: 1, maxLength: 2 })),
    {
      maxKeys: 3,
    },
  ),
  // As many digits as any time of ours: the library takes the smallest text for the earliest.
  timestamp: fc.integer({ min: 1e12, max: 2e12 }).map(String),
})
const partitions = fc.array(
  fc.record({ partition: fc.nat(31), firstSequence: fc.nat(), messages: fc.array(message, { minLength: 1, maxLength: 12 }) }),
  { minLength: 1, maxLength: 3 },
)

describe('encoding what is written', () => {
  it('gives the bytes that the library gives', async () => {
    useProduceEncoder()
    const ours = load(path)
    expect(ours).not.toBe(theirs)
    const topics = fc.array(fc.record({ topic: fc.constantFrom('repartiment.panell', 'ç'), partitions }), { minLength: 1, maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(topics, fc.option(fc.constantFrom('tx-1')), async (topicData, transactionalId) => {
        const options = { acks: -1, timeout: 30_000, producerId: '4711', producerEpoch: 2, topicData, transactionalId, compression: 0 }
        const [mine, right] = [ours(options), theirs(options)]
        expect({ ...mine, encode: 0, expectResponse: 0 }).toEqual({ ...right, encode: 0, expectResponse: 0 })
        expect((await mine.encode()).buffer.toString('hex')).toBe((await right.encode()).buffer.toString('hex'))
      }),
      { numRuns: 60 },
    )
  })

  it('gives them for records of megabytes too', async () => {
    const messages = [
      { key: null, value: 'é'.repeat(4_500_000), timestamp: '1789380000000' },
      { key: 'k', value: null, timestamp: '1789379999000', headers: { a: Buffer.alloc(70_000, 1) } },
    ]
    const options = { acks: -1, timeout: 30_000, topicData: [{ topic: 't', partitions: [{ partition: 0, firstSequence: 0, messages }] }] }
    const [mine, right] = [await load(path)(options).encode(), await theirs(options).encode()]
    expect(mine.buffer.equals(right.buffer)).toBe(true)
  })

  it('leaves what is compressed to the library', () => {
    const options = { acks: -1, timeout: 1, topicData: [], compression: 1 }
    expect(load(path)(options).encode.toString()).toBe(theirs(options).encode.toString())
  })

  it('checks with the same sum', () => {
    fc.assert(
      fc.property(bytes, (data) => {
        expect(crc32c(data)).toBe(theirCrc(Buffer.from(data)))
      }),
    )
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
  })
})
