import { MQTT_TOPICS, positionTopic, TOPICS } from '@km0/contracts'
import { LogRefusedError, LogUnavailableError } from '@km0/transport'
import { describe, expect, it, vi } from 'vitest'
import { build, delivery, emptyLog, PARTITIONS, position, RecordingSender, settle, T0, texts } from './pipeline.testbench.ts'

/** A slow machine is no fault. */
const WITHIN = { timeout: 20_000 }

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

  it('writes nothing while it may not, and goes on when it may; what is left is given up at once', async () => {
    const sender = new RecordingSender()
    const { pipeline, gate } = build(sender)
    gate.open = false
    pipeline.know(emptyLog())
    pipeline.take(position('a', T0))
    await settle()
    expect(sender.calls).toHaveLength(0)
    gate.open = true
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(sender.stored.map(({ key }) => key)).toContain('a')
    gate.open = false
    let acknowledged = false
    pipeline.take({ ...position('b', T0), acknowledge: () => (acknowledged = true) })
    await settle()
    await pipeline.stop(0)
    gate.open = true
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(sender.stored.map(({ key }) => key)).not.toContain('b')
    expect(acknowledged).toBe(false)
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

  it('writes vans and heartbeats to its own partitions alone where it has some', async () => {
    const sender = new RecordingSender()
    const share = { KM0_BRIDGE_FILTERS: 'owntracks/nord/#', KM0_BRIDGE_PARTITIONS: '0,2', KM0_BRIDGE_SETTLE_MS: '0' }
    const { pipeline } = build(sender, share)
    pipeline.setConnected(T0)
    pipeline.know(emptyLog())
    for (let n = 0; n < 40; n += 1) pipeline.take(position(`v${n % 20}`, T0 + n))
    expect(pipeline.beatWhenDue()).toBeNull()
    await pipeline.stop(100)
    const vans = sender.stored.filter(({ key }) => key !== null)
    expect(new Set(vans.map(({ partition }) => partition))).toEqual(new Set([0, 2]))
    expect(new Set(vans.map(({ key, partition }) => `${key} ${partition}`)).size).toBe(20)
    const beats = sender.stored.filter(({ value }) => value?.includes('"batec"'))
    expect(beats.map(({ partition }) => partition)).toEqual([0, 2])
    expect(beats[0]?.value).toContain('"client":"km0-pont"')
    expect(() => build(sender, { ...share, KM0_BRIDGE_PARTITIONS: '0-3' }).pipeline.know(emptyLog())).toThrow('names 3')
  })

  it('measures how late points come in each partition, wrong clocks left out: what the delay has to cover', async () => {
    const sender = new RecordingSender()
    const { pipeline, counters } = build(sender)
    pipeline.know(emptyLog())
    const sent = (van: string, lateS: number) => pipeline.take(position(van, T0 - lateS * 1_000))
    for (let n = 0; n < 98; n += 1) sent(`v${n}`, 1.2)
    sent('v1', 46)
    sent('v2', 1_320)
    sent('v3', -3_600)
    sent('v4', 619_315_200)
    pipeline.take(delivery(positionTopic('x'), { repartidor: 'x', lat: 41.9, lon: 2.8, data_ms: 'ara' }))
    await pipeline.stop(100)
    const { values } = await counters.lateness.get()
    const upTo = (le: number) =>
      values
        .filter(({ metricName, labels }) => metricName?.endsWith('_bucket') && (labels as { le?: number }).le === le)
        .reduce((sum, { value }) => sum + value, 0)
    expect([upTo(1), upTo(2), upTo(45), upTo(50), upTo(1_800)]).toEqual([0, 98, 98, 99, 100])
    expect(new Set(values.map(({ labels }) => labels.partition))).toEqual(new Set([0, 1, 2]))
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

  it('tells since when Kafka has not answered, while no attempt has failed', async () => {
    let answer: () => void = () => undefined
    const sender = new RecordingSender(
      () =>
        new Promise((resolve) => {
          answer = resolve
        }),
    )
    const { pipeline } = build(sender)
    expect(pipeline.state.kafkaUnansweredSinceMs).toBeNull()
    const fromMs = Date.now()
    pipeline.know(emptyLog())
    await vi.waitFor(() => expect(sender.calls).toHaveLength(1), WITHIN)
    expect(pipeline.state.kafkaUnansweredSinceMs).toBeGreaterThanOrEqual(fromMs)
    expect(pipeline.state.kafkaFailingSinceMs).toBeNull()
    answer()
    await vi.waitFor(() => expect(pipeline.state.kafkaUnansweredSinceMs).toBeNull(), WITHIN)
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
      client: 'km0-pont',
      rebuts: 1,
      bessons: 0,
      tics: 0,
      retard_ms: 45_000,
      marge_ms: 0,
    })
    await pipeline.stop(100)
  })

  it('tells in the next heartbeat what held it back for longest, and nothing after a short hold', async () => {
    let machineMs = T0
    const sender = new RecordingSender()
    const { pipeline } = build(sender, {}, () => machineMs)
    const heldWords = () =>
      sender.stored.flatMap(({ value }) => {
        const { tipus, retingut } = JSON.parse(String(value)) as { tipus?: string; retingut?: string }
        return tipus === 'batec' ? [retingut] : []
      })
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        machineMs += 1_000
        pipeline.beatWhenDue()
        while (pipeline.state.queueMessages > 0) await new Promise((resolve) => setImmediate(resolve))
      }
    }
    pipeline.know(emptyLog())
    await pass(3)
    pipeline.setConnected(machineMs)
    await pass(31)
    expect(new Set(heldWords())).toEqual(new Set([undefined]))
    pipeline.setConnected(null)
    await pass(100)
    pipeline.setConnected(machineMs)
    await pass(50)
    expect(heldWords().slice(PARTITIONS, 2 * PARTITIONS)).toEqual(Array(PARTITIONS).fill('sense-connexio'))
    expect(heldWords().slice(2 * PARTITIONS)).toEqual(Array(heldWords().length - 2 * PARTITIONS).fill(undefined))
    expect(heldWords().length).toBeGreaterThan(2 * PARTITIONS)
    await pipeline.stop(100)
  })

  it('holds heartbeats while a fleet that came back sends its backlog (B40)', async () => {
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
