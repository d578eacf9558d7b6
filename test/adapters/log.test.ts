import { setTimeout as sleep } from 'node:timers/promises'
import { TOPICS, type TopicDefinition } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, LogRefusedError, openLog, RecordTooLargeError } from '@km0/transport'
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let services: TestServices<{ kafka: true }>
let log: Log
let raw: Kafka
beforeAll(async () => {
  services = await startServices({ kafka: true })
  log = openLog({ brokers: [services.kafka.brokers], clientId: 'test' })
  raw = new Kafka({ brokers: [services.kafka.brokers], logLevel: logLevel.NOTHING })
})
afterAll(() => services?.stop())

let number = 0
/** A topic of its own for a test. */
async function newTopic(options: Partial<TopicDefinition> = {}): Promise<string> {
  number += 1
  const definition = { ...TOPICS.positions, name: `test.${number}`, partitions: 1, ...options }
  await log.ensureTopics([definition])
  return definition.name
}

async function write(topic: string, values: readonly string[], partition = 0): Promise<void> {
  const producer = await log.openProducer()
  await producer.send(values.map((value) => ({ topic, partition, key: null, value })))
  await producer.close()
}

async function readAll(topic: string): Promise<string[]> {
  const all: string[] = []
  for await (const { records } of log.readTopic({ topic })) all.push(...records.map(({ value }) => String(value)))
  return all
}

async function until(what: string, condition: () => boolean, timeoutMs = 30_000): Promise<void> {
  const endMs = Date.now() + timeoutMs
  while (!condition()) {
    if (Date.now() > endMs) throw new Error(`waited in vain for ${what}`)
    await sleep(20)
  }
}

describe('topics', () => {
  it('are made once, also by two programs at a time, and tell their partitions', async () => {
    const definitions = Object.values(TOPICS)
    const [first, second] = await Promise.all([log.ensureTopics(definitions), log.ensureTopics(definitions)])
    expect(first.get(TOPICS.panel.name)).toBe(TOPICS.panel.partitions)
    expect(second).toEqual(first)
    expect(await log.partitionCount(TOPICS.marks.name)).toBe(1)
  })

  it('take the settings of the installation and keep what somebody else has set', async () => {
    const name = await newTopic()
    const definition = { ...TOPICS.positions, name, partitions: 1 }
    await log.ensureTopics([definition], { [name]: { retentionBytes: 1_000_000 } })
    await log.ensureTopics([definition], { [name]: { retentionMs: 5_000 } })
    const admin = raw.admin()
    await admin.connect()
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: 2, name }] })
    await admin.disconnect()
    const config = new Map(resources[0]?.configEntries.map((entry) => [entry.configName, entry.configValue]))
    expect([config.get('retention.bytes'), config.get('retention.ms'), config.get('cleanup.policy')]).toEqual(['1000000', '5000', 'delete'])
  })

  it('keep their number of partitions, whatever the table says', async () => {
    const name = await newTopic({ partitions: 3 })
    expect((await log.ensureTopics([{ ...TOPICS.positions, name, partitions: 5 }])).get(name)).toBe(3)
  })
})

describe('reader', () => {
  it.each(['gzip', 'snappy', 'lz4', 'zstd'])('reads what the Java client compressed with %s', async (compression) => {
    const topic = await newTopic()
    // The broker packs with its own Java codec what arrives, whatever the producer did.
    const admin = raw.admin()
    await admin.connect()
    await admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: 2, name: topic, configEntries: [{ name: 'compression.type', value: compression }] }],
    })
    await admin.disconnect()
    // More than one block of each codec, and more than one record.
    const values = ['Besalú', 'x'.repeat(100_000), Array.from({ length: 20_000 }, (_, index) => index * 7_919).join(' ')]
    await write(topic, values)
    expect(await readAll(topic)).toEqual(values)
  })
})

describe('producer', () => {
  it('chooses the partition that the Java client chooses, for ç, é and emoji too (S35)', async () => {
    // From org.apache.kafka.common.utils.Utils.murmur2 of kafka-clients 4.4.0, 12 partitions.
    const expected = new Map([
      ['furgoneta-3', 8],
      ['furgoneta-14', 9],
      ['100:48069', 9],
      ['Plaça-Ça', 5],
      ['Besalú é', 4],
      ['furgoneta 🚚', 10],
      ['€', 10],
      ['km0-中', 0],
    ])
    const topic = await newTopic({ partitions: 12 })
    const producer = await log.openProducer()
    await producer.send([...expected.keys()].map((key) => ({ topic, key, value: 'x' })))
    await producer.close()
    const found = new Map<string | null, number>()
    for await (const { records } of log.readTopic({ topic })) for (const { key, partition } of records) found.set(key, partition)
    expect(found).toEqual(expected)
  })

  it('keeps headers, timestamps, null keys and tombstones', async () => {
    const topic = await newTopic()
    const producer = await log.openProducer()
    await producer.send([
      { topic, key: null, value: Buffer.from([0xff, 0]), timestampMs: 1_772_442_000_000, headers: { epoca: '1', ç: '🚚' } },
      { topic, key: 'k', value: null },
    ])
    await producer.close()
    const records = []
    for await (const batch of log.readTopic({ topic })) records.push(...batch.records)
    expect(records[0]).toMatchObject({ offset: 0, timestampMs: 1_772_442_000_000, headers: { epoca: '1', ç: '🚚' } })
    expect([records[0]?.key, records[0]?.value]).toEqual([null, Buffer.from([0xff, 0])])
    expect([records[1]?.key, records[1]?.value]).toEqual(['k', null])
  })

  it('refuses a record that is too large before anything is sent; its neighbours go through (B21)', async () => {
    const topic = await newTopic()
    const producer = await log.openProducer()
    const good = Array.from({ length: 49 }, (_, index) => ({ topic, key: null, value: `good ${index}` }))
    const large = { topic, key: null, value: 'x'.repeat(2_000_000) }
    const refused = producer.send([...good.slice(0, 20), large, ...good.slice(20)])
    await expect(refused).rejects.toBeInstanceOf(RecordTooLargeError)
    await expect(refused).rejects.toMatchObject({ index: 20, limitBytes: 1_048_576 })
    expect(await readAll(topic)).toEqual([])
    await producer.send(good)
    await producer.close()
    expect(await readAll(topic)).toHaveLength(49)
  })

  it('says why the broker refuses for good, and goes on', async () => {
    const topic = await newTopic()
    const producer = await log.openProducer()
    const tooFarAhead = producer.send([{ topic, key: null, value: 'x', timestampMs: Date.now() + 7_200_000 }])
    await expect(tooFarAhead).rejects.toBeInstanceOf(LogRefusedError)
    await expect(tooFarAhead).rejects.toMatchObject({ reason: 'INVALID_TIMESTAMP' })
    await producer.send([{ topic, key: null, value: 'y' }])
    await producer.close()
    expect(await readAll(topic)).toEqual(['y'])
  })

  it('serves overlapping calls one after the other, in order (S34)', async () => {
    const topic = await newTopic()
    const producer = await log.openProducer()
    const values = Array.from({ length: 300 }, (_, index) => String(index))
    await Promise.all(values.map((value) => producer.send([{ topic, key: null, value }])))
    await producer.close()
    expect(await readAll(topic)).toEqual(values)
  })

  it('writes a batch that is larger than one request whole and in order', async () => {
    const topic = await newTopic()
    const values = Array.from({ length: 40 }, (_, index) => `${index} ${'x'.repeat(100_000)}`)
    await write(topic, values)
    expect(await readAll(topic)).toEqual(values)
  })
})

describe('tail', () => {
  it.each([
    ['start', ['0', '1', '2', 'new']],
    ['end', ['new']],
    [new Map([[0, 1]]), ['1', '2', 'new']],
  ] as const)('begins at %s, tells when it has caught up, and goes on', async (from, expected) => {
    const topic = await newTopic()
    await write(topic, ['0', '1', '2'])
    const got: string[] = []
    let caughtUpAt = -1
    const tail = await log.tailTopic({
      topic,
      from,
      onBatch: (records) => void got.push(...records.map(({ value }) => String(value))),
      onCaughtUp: () => {
        caughtUpAt = got.length
      },
    })
    await until('the reader to catch up', () => caughtUpAt >= 0)
    expect(caughtUpAt).toBe(expected.length - 1)
    await write(topic, ['new'])
    await until('the new record', () => got.includes('new'))
    expect(got).toEqual(expected)
    expect(tail.nextOffsets()).toEqual(new Map([[0, 4]]))
    await tail.close()
  })

  it('leaves no group behind', async () => {
    const topic = await newTopic()
    const tail = await log.tailTopic({ topic, from: 'start', onBatch: () => undefined })
    await tail.close()
    const admin = raw.admin()
    await admin.connect()
    const { groups } = await admin.listGroups()
    await admin.disconnect()
    expect(groups.filter(({ groupId }) => groupId.includes('lector'))).toEqual([])
  })

  it('stops and says so when its reader fails', async () => {
    const topic = await newTopic()
    await write(topic, ['0'])
    const errors: Error[] = []
    const onBatch = () => Promise.reject(new TypeError('a bug'))
    const tail = await log.tailTopic({ topic, from: 'start', onBatch, onError: (error) => errors.push(error) })
    await until('the error', () => errors.length > 0)
    await tail.close()
    expect(errors).toEqual([new TypeError('a bug')])
  })

  it('begins at the start of a log that ends before the offset it was told, and says so', async () => {
    const topic = await newTopic({ partitions: 2 })
    await write(topic, ['0', '1', '2'])
    await write(topic, ['a'], 1)
    const others: number[][] = []
    const got: string[] = []
    const tail = await log.tailTopic({
      topic,
      from: new Map([
        [0, 5_000],
        [1, 1],
      ]),
      onBatch: (records) => void got.push(...records.map(({ value }) => String(value))),
      onOtherLog: (...told) => others.push(told),
    })
    await until('what is there', () => got.length === 3)
    await write(topic, ['b'], 1)
    await until('the new record', () => got.length === 4)
    await tail.close()
    expect(others).toEqual([[0, 5_000, 3]])
    expect(got).toEqual(['0', '1', '2', 'b'])
  })

  it('ends when its signal says so', async () => {
    const topic = await newTopic()
    const stopping = new AbortController()
    const got: string[] = []
    const tail = await log.tailTopic({
      topic,
      from: 'start',
      onBatch: (records) => void got.push(...records.map(({ value }) => String(value))),
      signal: stopping.signal,
    })
    stopping.abort()
    await tail.close()
    await write(topic, ['0'])
    await sleep(500)
    expect(got).toEqual([])
  })
})

describe('bounded reading', () => {
  it('ends where the log ended when it began, over many fetches and partitions', async () => {
    const topic = await newTopic({ partitions: 3 })
    for (const partition of [0, 2])
      await write(
        topic,
        Array.from({ length: 30 }, (_, n) => `${partition}/${n} ${'x'.repeat(90_000)}`),
        partition,
      )
    const read = log.readTopic({ topic })
    const seen: string[] = []
    for await (const { partition, records } of read) {
      if (seen.length === 0) await write(topic, ['later'], 1)
      seen.push(...records.map(({ value }) => `${partition}:${String(value).split(' ')[0]}`))
    }
    expect(seen.filter((text) => text.startsWith('0:'))).toEqual(Array.from({ length: 30 }, (_, n) => `0:0/${n}`))
    expect(seen).toHaveLength(60)
  })

  it('ends at once for an empty topic, and in the middle when asked', async () => {
    expect(await readAll(await newTopic())).toEqual([])
    const topic = await newTopic()
    await write(topic, ['0', '1', '2', '3'])
    const seen: string[] = []
    for await (const { records } of log.readTopic({ topic, from: new Map([[0, 1]]), until: new Map([[0, 3]]) })) {
      seen.push(...records.map(({ value }) => String(value)))
    }
    expect(seen).toEqual(['1', '2'])
  })
})
