import { setTimeout as sleep } from 'node:timers/promises'
import { TOPICS } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type LogHole, openLog, type PartitionConsumer, type PartitionConsumerOptions, type PartitionSlice } from '@km0/transport'
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
async function newTopic(partitions = 1): Promise<string> {
  number += 1
  const name = `test.${number}`
  await log.ensureTopics([{ ...TOPICS.positions, name, partitions }])
  return name
}

async function write(topic: string, count: number, partition = 0, first = 0): Promise<void> {
  const producer = await log.openProducer()
  await producer.send(Array.from({ length: count }, (_, n) => ({ topic, partition, key: null, value: String(first + n) })))
  await producer.close()
}

async function until(what: string, condition: () => boolean, timeoutMs = 60_000): Promise<void> {
  const endMs = Date.now() + timeoutMs
  while (!condition()) {
    if (Date.now() > endMs) throw new Error(`waited in vain for ${what}`)
    await sleep(20)
  }
}

/** A job with the least state there is: the values of each partition, in order, and where each slice was. */
class Collector {
  readonly values = new Map<number, string[]>()
  /** Every value applied, over all rebalances. */
  readonly applied: string[] = []
  readonly fatal: Error[] = []
  readonly holes: LogHole[] = []
  readonly starts: number[] = []
  drops = 0
  commitEach = true
  beforeSlice: (slice: PartitionSlice) => Promise<void> = async () => undefined
  consumer: PartitionConsumer | undefined

  async run(topic: string, groupId: string, more: Partial<PartitionConsumerOptions> = {}): Promise<this> {
    this.consumer = await log.consumePartitions({
      groupId,
      topics: [topic],
      onStart: async (_topic, partition, firstOffset) => {
        this.starts.push(firstOffset)
        this.values.set(partition, [])
        return firstOffset
      },
      onSlice: async (slice) => {
        await this.beforeSlice(slice)
        if (slice.isStale()) return false
        const values = slice.records.map(({ value }) => String(value))
        this.values.get(slice.partition)?.push(...values)
        this.applied.push(...values)
        if (this.commitEach) await slice.commit(slice.nextOffset)
        return true
      },
      onDrop: () => {
        this.drops += 1
      },
      onHole: (hole) => this.holes.push(hole),
      onFatal: (error) => this.fatal.push(error),
      maxSliceRecords: 10,
      ...more,
    })
    return this
  }

  get count(): number {
    return [...this.values.values()].reduce((sum, list) => sum + list.length, 0)
  }
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => String(from + n))

describe('a place in the log', () => {
  it('begins at the first record of a new group, in slices, and goes on after the committed one (S31, S32)', async () => {
    const topic = await newTopic()
    await write(topic, 42)
    const first = await new Collector().run(topic, 'g-place')
    await until('42 records', () => first.count === 42)
    expect(first.values.get(0)).toEqual(numbers(0, 42))
    await first.consumer?.stop()
    expect(await log.committedOffsets('g-place', topic)).toEqual(new Map([[0, 42]]))
    for (let restart = 0; restart < 3; restart += 1) {
      await write(topic, 1, 0, 42 + restart)
      const next = await new Collector().run(topic, 'g-place')
      await until('one record', () => next.count > 0)
      await next.consumer?.stop()
      expect(next.values.get(0)).toEqual([String(42 + restart)])
    }
  })

  it('stays where it was when the work fails, and the process hears of it (S30)', async () => {
    const topic = await newTopic()
    await write(topic, 3)
    const broken = new Collector()
    broken.beforeSlice = () => Promise.reject(new TypeError('a bug'))
    await broken.run(topic, 'g-broken')
    await until('the fault', () => broken.fatal.length > 0)
    await broken.consumer?.stop()
    expect(broken.fatal).toEqual([new TypeError('a bug')])
    expect(await log.committedOffsets('g-broken', topic)).toEqual(new Map())
    const mended = await new Collector().run(topic, 'g-broken')
    await until('all records', () => mended.count === 3)
    await mended.consumer?.stop()
    expect(mended.values.get(0)).toEqual(['0', '1', '2'])
  })

  it('goes back to where a restored state ends', async () => {
    const topic = await newTopic()
    await write(topic, 30)
    const first = await new Collector().run(topic, 'g-back')
    await until('all records', () => first.count === 30)
    await first.consumer?.stop()
    await write(topic, 1, 0, 30)
    const restored = new Collector()
    await restored.run(topic, 'g-back', {
      onStart: async (_topic, partition) => {
        restored.values.set(partition, ['state'])
        return 12
      },
    })
    await until('the rest', () => restored.count === 20)
    await restored.consumer?.stop()
    expect(restored.values.get(0)).toEqual(['state', ...numbers(12, 31)])
    expect(restored.holes).toEqual([])
  })

  it('is asked for again when a slice is given up', async () => {
    const topic = await newTopic()
    await write(topic, 5)
    const collector = new Collector()
    let gaveUp = 0
    await collector.run(topic, 'g-give-up', {
      onSlice: async ({ records }) => {
        if (gaveUp++ === 0) return false
        collector.values.get(0)?.push(...records.map(({ value }) => String(value)))
        return true
      },
    })
    await until('all records', () => collector.count === 5)
    await collector.consumer?.stop()
    expect(collector.starts).toEqual([0, 0])
  })

  it('notices what retention has deleted, counts it and goes on behind (S24, S25)', async () => {
    const topic = await newTopic()
    await write(topic, 10)
    const first = await new Collector().run(topic, 'g-hole', { onSlice: async (slice) => slice.commit(5).then(() => true) })
    await until('the commit', () => first.consumer !== undefined && first.starts.length > 0)
    await first.consumer?.stop()
    const admin = raw.admin()
    await admin.connect()
    // kafkajs deletes only in topics that it has heard of.
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '8' }] })
    await admin.disconnect()
    const next = new Collector()
    await next.run(topic, 'g-hole', {
      onStart: async (_topic, partition) => {
        next.values.set(partition, [])
        return 5
      },
    })
    await until('the rest', () => next.count === 2)
    await next.consumer?.stop()
    expect(next.values.get(0)).toEqual(['8', '9'])
    expect(next.holes).toEqual([{ topic, partition: 0, expectedOffset: 5, foundOffset: 8 }])
  })

  it('is committed once more by an ordered stop, before the group is left', async () => {
    const topic = await newTopic()
    await write(topic, 7)
    const collector = new Collector()
    collector.commitEach = false
    await collector.run(topic, 'g-stop')
    await until('all records', () => collector.count === 7)
    await collector.consumer?.stop((commit) => commit(topic, 0, 7))
    expect(await log.committedOffsets('g-stop', topic)).toEqual(new Map([[0, 7]]))
  })
})

describe('a group', () => {
  it('shares partitions with members that come and go; each record is applied in order, none lost (S26, S33)', async () => {
    const topic = await newTopic(6)
    const counts = 300
    const members: Collector[] = []
    /** Partition -> values, from whoever owned it: what a forward-only sink would hold. */
    const sink = new Map<number, number>()
    const gaps: string[] = []
    const join = async () => {
      const member = new Collector()
      member.beforeSlice = async (slice) => {
        await sleep(30)
        if (slice.isStale()) return
        for (const { value } of slice.records) {
          const found = Number(value)
          const expected = (sink.get(slice.partition) ?? -1) + 1
          if (found > expected) gaps.push(`${slice.partition}: ${expected} expected, ${found} came`)
          sink.set(slice.partition, Math.max(found, expected - 1))
        }
      }
      members.push(await member.run(topic, 'g-share'))
      return member
    }
    for (let partition = 0; partition < 6; partition += 1) await write(topic, counts, partition)
    const [first] = [await join()]
    await sleep(800)
    const second = await join()
    await until('both to own partitions', () => [first, second].every((m) => (m.consumer?.assignment()?.get(topic)?.length ?? 0) === 3))
    await sleep(300)
    await first.consumer?.stop()
    const third = await join()
    await until('everything', () => [0, 1, 2, 3, 4, 5].every((partition) => sink.get(partition) === counts - 1))
    await Promise.all([second, third].map((member) => member.consumer?.stop()))
    expect(gaps).toEqual([])
    expect(members.flatMap((member) => member.fatal)).toEqual([])
    const committed = await log.committedOffsets('g-share', topic)
    expect([...committed.values()]).toEqual(new Array(6).fill(counts))
  })

  it('keeps a member whose slices are slow, as long as it sends heartbeats (S27)', async () => {
    const topic = await newTopic()
    await write(topic, 20)
    const slow = new Collector()
    slow.beforeSlice = async (slice) => {
      for (let n = 0; n < 8; n += 1) {
        await sleep(1_000)
        await slice.heartbeat()
      }
    }
    await slow.run(topic, 'g-slow')
    await until('all records', () => slow.count === 20)
    await slow.consumer?.stop()
    expect(slow.starts).toEqual([0])
    expect(slow.values.get(0)).toEqual(numbers(0, 20))
  })

  it('keeps one whose sink stands still: what is fetched stays bounded, and the rest waits in the log', async () => {
    const topic = await newTopic(2)
    const count = 40_000
    const producer = await log.openProducer()
    const value = 'x'.repeat(1_000)
    await producer.send(Array.from({ length: count }, (_, n) => ({ topic, partition: n % 2, key: null, value })))
    await producer.close()
    const stuck = new Collector()
    stuck.commitEach = false
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let beats = 0
    let open = false
    void released.then(() => {
      open = true
    })
    stuck.beforeSlice = async (slice) => {
      while (!open) {
        await Promise.race([released, sleep(1_000)])
        await slice.heartbeat()
        beats += 1
      }
    }
    const bytes = () => process.memoryUsage().arrayBuffers
    const before = bytes()
    await stuck.run(topic, 'g-still', { maxSliceRecords: 5_000 })
    await until('some heartbeats of a sink that stands still', () => beats >= 4)
    expect(stuck.applied).toEqual([])
    // The topic holds 40 MB.
    expect(bytes() - before).toBeLessThan(16_000_000)
    release()
    await until('all records', () => stuck.applied.length === count)
    expect(stuck.starts).toHaveLength(2)
    await stuck.consumer?.stop()
  })

  it('takes partitions away from a member that hangs; what it says afterwards changes nothing', async () => {
    const topic = await newTopic()
    await write(topic, 10)
    const hung = new Collector()
    let wake: () => void = () => undefined
    const asleep = new Promise<void>((resolve) => {
      wake = resolve
    })
    let staleCommit: unknown = 'nothing'
    hung.beforeSlice = async (slice) => {
      await asleep
      staleCommit = await slice.commit(3).catch((error: unknown) => error)
    }
    await hung.run(topic, 'g-hang')
    await until('the slice', () => hung.starts.length > 0)
    const heir = await new Collector().run(topic, 'g-hang')
    await until('the heir to have all', () => heir.count === 10)
    wake()
    await until('the late commit', () => staleCommit !== 'nothing')
    expect(staleCommit).toBeInstanceOf(Error)
    expect(await log.committedOffsets('g-hang', topic)).toEqual(new Map([[0, 10]]))
    await Promise.all([hung.consumer?.stop(), heir.consumer?.stop()])
  })
})

describe('a broker that restarts', () => {
  it('is found again by consumer, tail and producer; nothing is lost or comes twice (S28)', async () => {
    const topic = await newTopic(2)
    const collector = await new Collector().run(topic, 'g-restart')
    const tailed: string[] = []
    const tail = await log.tailTopic({
      topic,
      from: 'start',
      onBatch: (records) => void tailed.push(...records.map(({ partition, offset }) => `${partition}:${offset}`)),
    })
    const producer = await log.openProducer()
    let sent = 0
    const send = async () => {
      const batch = Array.from({ length: 50 }, (_, n) => ({ topic, partition: n % 2, key: null, value: String(sent + n) }))
      for (;;) {
        try {
          await producer.send(batch)
          break
        } catch {
          await sleep(200)
        }
      }
      sent += batch.length
    }
    await send()
    await until('the first batch', () => tailed.length === 50)
    for (const end of ['stop', 'kill9'] as const) {
      await services.kafka[end]()
      const waiting = send()
      await sleep(5_000)
      expect(Date.now() - (collector.consumer?.lastContactMs() ?? 0)).toBeGreaterThan(3_000)
      await services.restart('kafka')
      await waiting
      await send()
      await until(`everything after ${end}`, () => tailed.length === sent)
      await until('an answer', () => Date.now() - (collector.consumer?.lastContactMs() ?? 0) < 3_000)
    }
    expect(new Set(tailed).size).toBe(sent)
    await until('the group to have everything', () => new Set(collector.applied).size === sent)
    expect(collector.fatal).toEqual([])
    await collector.consumer?.stop()
    await tail.close()
    await producer.close()
    const committed = await log.committedOffsets('g-restart', topic)
    expect([...committed.values()].reduce((a, b) => a + b, 0)).toBe(sent)
  })
})
