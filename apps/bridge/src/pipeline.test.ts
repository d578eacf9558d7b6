import { MQTT_TOPICS, positionTopic, TOPICS } from '@km0/contracts'
import { createLogger, parseEnvironment, Registry } from '@km0/runtime'
import { LogRefusedError, LogUnavailableError, type OutRecord } from '@km0/transport'
import type { MqttDelivery } from '@km0/transport/mqtt-input'
import { describe, expect, it } from 'vitest'
import { BridgeCounters } from './counters.ts'
import type { RecordSender } from './forwarder.ts'
import { Pipeline } from './pipeline.ts'
import { bridgeEnvironment } from './settings.ts'
import type { PartitionInForce } from './settings-in-force.ts'

const T0 = 1_772_442_000_000
const PARTITIONS = 3
const NOTHING_KNOWN: PartitionInForce = { settings: null, newestMs: null, playing: false }
const emptyLog = () => new Map(Array.from({ length: PARTITIONS }, (_, partition) => [partition, NOTHING_KNOWN] as const))

/** Takes what it is sent; each call first asks `behave`, which may throw. */
class RecordingSender implements RecordSender {
  readonly calls: (readonly OutRecord[])[] = []
  readonly stored: OutRecord[] = []
  readonly #behave: (records: readonly OutRecord[], call: number) => Promise<void> | void

  constructor(behave: (records: readonly OutRecord[], call: number) => Promise<void> | void = () => undefined) {
    this.#behave = behave
  }

  async send(records: readonly OutRecord[]): Promise<void> {
    this.calls.push(records)
    await this.#behave(records, this.calls.length)
    this.stored.push(...records)
  }

  async close(): Promise<void> {}
}

function build(sender: RecordingSender, environment: Record<string, string> = {}, machineMs: () => number = () => T0) {
  const metrics = new Registry()
  const counters = new BridgeCounters(metrics)
  let rooms = 0
  const probes: string[] = []
  const pipeline = new Pipeline({
    settings: parseEnvironment(bridgeEnvironment, environment),
    instance: 'prova',
    counters,
    logger: createLogger('prova', 'silent'),
    openSender: async () => sender,
    machineMs,
    onRoom: () => {
      rooms += 1
    },
    onProbe: (payload) => probes.push(payload.toString()),
    onFatal: (error) => {
      throw error
    },
  })
  const refusedCount = async (reason: string) =>
    (await counters.refused.get()).values.find((value) => value.labels.reason === reason)?.value
  return { pipeline, probes, counters, refusedCount, rooms: () => rooms }
}

function delivery(topic: string, message: unknown, acknowledge: () => boolean = () => true, retain = false): MqttDelivery {
  return {
    topic,
    payload: Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)),
    retain,
    connection: 1,
    acknowledge,
  }
}
const position = (van: string, ms: number) => delivery(positionTopic(van), { repartidor: van, lat: 41.9, lon: 2.8, data_ms: ms })
const tick = (ms: number) => delivery(MQTT_TOPICS.clock, { ara_ms: ms })
const settle = () => new Promise((resolve) => setTimeout(resolve, 20))
const texts = (records: readonly OutRecord[]) => records.map(({ value }) => value?.toString() ?? '')

describe('pipeline on the machine’s clock', () => {
  it('shows a probe at once, acknowledges it behind what came before, and counts it as no message', async () => {
    const sender = new RecordingSender()
    const { pipeline, probes, counters } = build(sender)
    const acknowledged: string[] = []
    const note = (name: string) => () => acknowledged.push(name) > 0
    pipeline.take({ ...position('a', T0), acknowledge: note('a') })
    pipeline.take(delivery(MQTT_TOPICS.probe, '{"pont":"prova","n":1}', note('probe')))
    expect(probes).toEqual(['{"pont":"prova","n":1}'])
    expect(acknowledged).toEqual([])
    pipeline.know(emptyLog())
    await settle()
    expect(acknowledged).toEqual(['a', 'probe'])
    expect(sender.stored.filter(({ key, topic }) => key !== null || topic === TOPICS.deadLetters.name)).toHaveLength(1)
    expect(counters.receivedTotal).toBe(1)
  })

  it('writes nothing before the log is read, then settings to every partition first', async () => {
    const sender = new RecordingSender()
    const { pipeline } = build(sender)
    pipeline.take(position('a', T0))
    await settle()
    expect(sender.calls).toHaveLength(0)
    pipeline.know(emptyLog())
    await settle()
    expect(sender.stored.slice(0, PARTITIONS).map(({ partition }) => partition)).toEqual([0, 1, 2])
    expect(sender.stored[0]?.value).toBe(`{"tipus":"parametres","data_ms":${T0},"retard_ms":45000,"marge_ms":0}`)
    expect(sender.stored[PARTITIONS]).toMatchObject({ topic: TOPICS.positions.name, key: 'a', timestampMs: T0 })
    await pipeline.stop(100)
  })

  it('writes settings only to partitions where others are in force', async () => {
    const sender = new RecordingSender()
    const { pipeline } = build(sender)
    const known = emptyLog()
    known.set(1, { settings: { delayMs: 45_000, allowedLatenessMs: 0 }, newestMs: T0 - 1, playing: false })
    known.set(2, { settings: { delayMs: 45_000, allowedLatenessMs: 1 }, newestMs: T0 - 1, playing: false })
    pipeline.know(known)
    await pipeline.stop(100)
    expect(sender.stored.map(({ partition }) => partition)).toEqual([0, 2])
  })

  it('acknowledges after Kafka, not before; the same batch again while Kafka is away (B33, B35)', async () => {
    let away = true
    const sender = new RecordingSender(() => {
      if (away) throw new LogUnavailableError('away')
    })
    const { pipeline } = build(sender)
    pipeline.know(emptyLog())
    let told = 0
    for (let n = 0; n < 5; n += 1) {
      pipeline.take(
        delivery(positionTopic('a'), { repartidor: 'a', lat: 1, lon: 1, data_ms: n }, () => {
          told += 1
          return true
        }),
      )
    }
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(told).toBe(0)
    expect(sender.calls.length).toBeGreaterThan(1)
    expect(new Set(sender.calls).size).toBe(1)
    expect(pipeline.state.kafkaFailingSinceMs).not.toBeNull()
    away = false
    await new Promise((resolve) => setTimeout(resolve, 600))
    expect(told).toBe(5)
    expect(sender.stored.filter(({ key }) => key === 'a')).toHaveLength(5)
    expect(pipeline.state.kafkaFailingSinceMs).toBeNull()
    await pipeline.stop(100)
  })

  it('a record that Kafka refuses for good goes to the dead letters, its neighbours into the log (B21)', async () => {
    const sender = new RecordingSender((records) => {
      if (records.some(({ key, topic }) => key === 'dolenta' && topic === TOPICS.positions.name)) {
        throw new LogRefusedError('too large', 'MESSAGE_TOO_LARGE')
      }
    })
    const { pipeline, refusedCount } = build(sender)
    for (let n = 0; n < 49; n += 1) pipeline.take(position(n === 20 ? 'dolenta' : `bona-${n}`, T0 + n))
    pipeline.know(emptyLog())
    await pipeline.stop(500)
    const good = sender.stored.filter(({ key }) => key?.startsWith('bona') === true)
    expect(good.map(({ key }) => key)).toEqual(Array.from({ length: 49 }, (_, n) => `bona-${n}`).filter((key) => key !== 'bona-20'))
    const letters = sender.stored.filter(({ topic }) => topic === TOPICS.deadLetters.name)
    expect(JSON.parse(texts(letters)[0] ?? '')).toMatchObject({ motiu: 'massa-gran', tema: positionTopic('dolenta') })
    expect(letters).toHaveLength(1)
    expect(await refusedCount('massa-gran')).toBe(1)
    expect(pipeline.state.queueMessages).toBe(0)
  })

  it('merges redeliveries by content, also of what is in Kafka, and acknowledges each', async () => {
    const sender = new RecordingSender()
    const { pipeline, counters } = build(sender)
    let told = 0
    const tell = () => {
      told += 1
      return true
    }
    const message = { repartidor: 'a', lat: 1, lon: 1, data_ms: 1 }
    pipeline.take(delivery(positionTopic('a'), message, () => false))
    pipeline.take(delivery(positionTopic('a'), message, tell))
    pipeline.know(emptyLog())
    await settle()
    pipeline.take(delivery(positionTopic('a'), message, tell))
    await settle()
    expect(told).toBe(2)
    expect(counters.mergedTotal).toBe(2)
    expect(sender.stored.filter(({ key }) => key === 'a')).toHaveLength(1)
    await pipeline.stop(100)
  })

  it('a refused retained copy does not swallow the message itself', async () => {
    const sender = new RecordingSender()
    const { pipeline } = build(sender)
    pipeline.know(emptyLog())
    const message = { repartidor: 'a', lat: 1, lon: 1, data_ms: 1 }
    pipeline.take(delivery(positionTopic('a'), message, undefined, true))
    await settle()
    pipeline.take(delivery(positionTopic('a'), message))
    await pipeline.stop(100)
    expect(sender.stored.filter(({ key }) => key === 'a')).toHaveLength(1)
  })

  it('asks to hold at the bound and says when there is room', async () => {
    let away = true
    const sender = new RecordingSender(() => {
      if (away) throw new LogUnavailableError('away')
    })
    const { pipeline, rooms } = build(sender, { KM0_BRIDGE_QUEUE_MESSAGES: '10' })
    pipeline.know(emptyLog())
    await settle()
    const verdicts = Array.from({ length: 12 }, (_, n) => pipeline.take(position('a', n)))
    expect(verdicts.filter((verdict) => verdict === 'hold').length).toBeGreaterThanOrEqual(2)
    expect(rooms()).toBe(0)
    away = false
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(rooms()).toBeGreaterThan(0)
    expect(pipeline.take(position('a', 99))).toBe('more')
    await pipeline.stop(100)
  })

  it('stops within its time when Kafka does not come back, and has acknowledged nothing', async () => {
    const sender = new RecordingSender(() => {
      throw new LogUnavailableError('away')
    })
    const { pipeline } = build(sender)
    pipeline.know(emptyLog())
    let told = 0
    pipeline.take(
      delivery(positionTopic('a'), { repartidor: 'a', lat: 1, lon: 1, data_ms: 1 }, () => {
        told += 1
        return true
      }),
    )
    const startMs = performance.now()
    await pipeline.stop(200)
    expect(performance.now() - startMs).toBeLessThan(1_000)
    expect(told).toBe(0)
  })

  it('writes a heartbeat to every partition each 10 s, behind what came before it', async () => {
    let machineMs = T0
    const sender = new RecordingSender()
    const { pipeline } = build(sender, {}, () => machineMs)
    pipeline.know(emptyLog())
    await settle()
    expect(pipeline.beatWhenDue()).toBe('not-connected')
    pipeline.setConnected(machineMs)
    expect(pipeline.beatWhenDue()).toBe('just-connected')
    machineMs += 30_000
    pipeline.take(position('a', machineMs))
    expect(pipeline.beatWhenDue()).toBeNull()
    machineMs += 9_999
    expect(pipeline.beatWhenDue()).toBeNull()
    await settle()
    const beats = sender.stored.filter(({ value }) => value?.includes('batec') === true)
    expect(beats.map(({ partition }) => partition)).toEqual([0, 1, 2])
    expect(sender.stored.findIndex(({ key }) => key === 'a')).toBeLessThan(sender.stored.indexOf(beats[0]!))
    expect(JSON.parse(texts(beats)[0] ?? '')).toEqual({
      tipus: 'batec',
      data_ms: T0 + 30_000,
      pont: 'prova',
      rebuts: 1,
      bessons: 0,
      retard_ms: 45_000,
      marge_ms: 0,
    })
    await pipeline.stop(100)
  })

  it('holds heartbeats while a fleet that came back sends its backlog', async () => {
    let machineMs = T0
    const { pipeline } = build(new RecordingSender(), {}, () => machineMs)
    pipeline.know(emptyLog())
    pipeline.setConnected(machineMs)
    machineMs += 31_000
    for (const van of ['a', 'b', 'c']) pipeline.take(position(van, machineMs - 1_200_000))
    await settle()
    expect(pipeline.beatWhenDue()).toBe('backlog')
    for (const van of ['a', 'b']) pipeline.take(position(van, machineMs - 1_000))
    await settle()
    expect(pipeline.beatWhenDue()).toBeNull()
    await pipeline.stop(100)
  })
})

describe('play mode', () => {
  const START = T0 - 3_600_000
  const play = { KM0_CLOCK: 'play' }

  /** Two minutes of three vans, a tick a second of the recording, in the order in which the player publishes. */
  function recording(): MqttDelivery[] {
    return Array.from({ length: 120 }, (_, second) => {
      const ms = START + second * 1_000
      return [tick(ms), ...['a', 'b', 'c'].filter((_van, index) => second % (index + 2) === 0).map((van) => position(van, ms - 300))]
    }).flat()
  }

  async function playAll(pausesEvery: number, knowAfter: number, batchRecords: string): Promise<OutRecord[]> {
    const sender = new RecordingSender(() => (pausesEvery % 2 === 0 ? settle().then(() => undefined) : undefined))
    const { pipeline } = build(sender, { ...play, KM0_BRIDGE_BATCH_RECORDS: batchRecords })
    for (const [index, message] of recording().entries()) {
      if (index === knowAfter) pipeline.know(emptyLog())
      pipeline.take(message)
      if (index % pausesEvery === 0) await settle()
    }
    await pipeline.stop(5_000)
    return sender.stored
  }

  it('gives the same records and timestamps at any speed', async () => {
    const reference = await playAll(1_000, 0, '2000')
    expect(reference.length).toBeGreaterThan(150)
    expect(await playAll(7, 0, '5')).toEqual(reference)
    expect(await playAll(12, 100, '40')).toEqual(reference)
    expect(await playAll(1, 50, '1')).toEqual(reference)
  })

  it('stamps positions with the newest tick, and puts heartbeats before everything later', async () => {
    const records = await playAll(1_000, 0, '2000')
    expect(records.slice(0, PARTITIONS).map(({ value, timestampMs }) => [value?.includes('parametres'), timestampMs])).toEqual(
      Array.from({ length: PARTITIONS }, () => [true, START]),
    )
    let beatMs = 0
    for (const { value, timestampMs } of records) {
      const message = JSON.parse(value?.toString() ?? '') as { tipus?: string; data_ms: number }
      if (message.tipus === 'batec') {
        expect(message).toMatchObject({ data_ms: timestampMs, rellotge: 'reproduccio' })
        expect(message.data_ms % 10_000).toBe(0)
        beatMs = message.data_ms
      } else if (message.tipus === undefined) {
        expect(timestampMs).toBe(message.data_ms + 300)
        if (beatMs > 0) expect(timestampMs).toBeGreaterThanOrEqual(beatMs)
      }
    }
    expect(records.filter(({ value }) => value?.includes('batec') === true)).toHaveLength(11 * PARTITIONS)
  })

  it('lets positions wait unacknowledged for the first tick, behind the settings', async () => {
    const sender = new RecordingSender()
    const { pipeline } = build(sender, play)
    pipeline.know(emptyLog())
    let told = 0
    pipeline.take(
      delivery(positionTopic('a'), { repartidor: 'a', lat: 1, lon: 1, data_ms: 1 }, () => {
        told += 1
        return true
      }),
    )
    await settle()
    expect([sender.calls.length, told, pipeline.state.clockUnknown]).toEqual([0, 0, true])
    pipeline.take(tick(START))
    await settle()
    expect(told).toBe(1)
    expect(sender.stored[0]?.value).toContain('parametres')
    expect(sender.stored.at(-1)).toMatchObject({ key: 'a', timestampMs: START })
    await pipeline.stop(100)
  })

  it('refuses ticks that are none, and never turns back', async () => {
    const sender = new RecordingSender()
    const { pipeline, refusedCount } = build(sender, play)
    pipeline.know(emptyLog())
    pipeline.take(tick(START))
    pipeline.take(tick(START - 60_000))
    pipeline.take(delivery(MQTT_TOPICS.clock, '{"ara_ms":"now"}'))
    pipeline.take(tick(T0 + 7_200_000))
    pipeline.take(position('a', START))
    await pipeline.stop(100)
    expect(await refusedCount('camps')).toBe(2)
    expect(sender.stored.at(-1)?.timestampMs).toBe(START)
  })

  it('goes on at the machine’s pace when the clocks meet, heartbeats by the rule then', async () => {
    let machineMs = T0
    const sender = new RecordingSender()
    const { pipeline } = build(sender, play, () => machineMs)
    pipeline.know(emptyLog())
    pipeline.take(tick(T0 - 30_000))
    expect(pipeline.beatWhenDue()).toBeNull()
    pipeline.take(tick(T0 - 500))
    await settle()
    machineMs += 20_000
    expect(pipeline.beatWhenDue()).toBe('not-connected')
    pipeline.setConnected(T0 - 60_000)
    pipeline.take(position('a', machineMs))
    expect(pipeline.beatWhenDue()).toBeNull()
    await pipeline.stop(100)
    expect(sender.stored.find(({ key }) => key === 'a')?.timestampMs).toBe(T0 + 20_000)
    const beats = texts(sender.stored.filter(({ value }) => value?.includes('batec') === true))
    expect(beats.at(-1)).toContain(`"data_ms":${T0 + 20_000}`)
    expect(beats.at(-1)).not.toContain('rellotge')
  })

  it('takes the clock up again where the log ends', async () => {
    const sender = new RecordingSender()
    const { pipeline } = build(sender, play)
    pipeline.take(position('a', START))
    const inForce = { settings: { delayMs: 45_000, allowedLatenessMs: 0 }, newestMs: START + 5_000, playing: true }
    pipeline.know(new Map([[0, inForce]]))
    await pipeline.stop(100)
    expect(sender.stored).toMatchObject([{ key: 'a', timestampMs: START + 5_000 }])
  })
})
