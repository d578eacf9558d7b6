import { MQTT_TOPICS, positionTopic } from '@km0/contracts'
import type { OutRecord } from '@km0/transport'
import type { MqttDelivery } from '@km0/transport/mqtt-input'
import { describe, expect, it } from 'vitest'
import { build, delivery, emptyLog, PARTITIONS, position, RecordingSender, settle, T0, texts, tick } from './pipeline.testbench.ts'

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

  it('tells in each heartbeat what it had received: as many records stand before it, but for twins, ticks and what is refused', async () => {
    const sender = new RecordingSender()
    const { pipeline } = build(sender, { ...play, KM0_BRIDGE_BATCH_RECORDS: '7' })
    pipeline.know(emptyLog())
    for (const [index, message] of recording().entries()) {
      pipeline.take(message)
      if (index % 5 === 0) pipeline.take(message)
      if (index % 11 === 0) pipeline.take(delivery(positionTopic('a'), `broken ${index}`))
      if (index % 13 === 0) await settle()
    }
    await pipeline.stop(5_000)
    let messages = 0
    let beats = 0
    for (const { key, value, partition } of sender.stored) {
      const { tipus, motiu, rebuts, bessons, tics } = JSON.parse(value?.toString() ?? '')
      if (key !== null || motiu !== undefined) messages += 1
      if (tipus !== 'batec' || partition !== 0) continue
      expect(rebuts - bessons - tics).toBe(messages)
      expect(bessons).toBeGreaterThan(0)
      beats += 1
    }
    expect(beats).toBe(11)
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
