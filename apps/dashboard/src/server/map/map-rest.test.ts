import { encodeSource, TOPICS, type TrailPoint } from '@km0/contracts'
import type { LogRecord } from '@km0/transport'
import { describe, expect, test } from 'vitest'
import { thinned } from './map-rest.ts'
import { OnePerKey } from './one-per-key.ts'
import { type PointsLog, RECENT_MS, readRecentPoints } from './recent-points.ts'

const NOW = 1_789_380_000_000

const record = (topic: string, partition: number, offset: number, key: string, value: unknown, headers = {}): LogRecord =>
  ({
    topic,
    partition,
    offset,
    timestampMs: NOW - 1_000 + offset,
    key,
    headers,
    value: Buffer.from(JSON.stringify(value)),
  }) as unknown as LogRecord

/** A log of what a test tells. */
class ToldLog implements PointsLog {
  readonly records: LogRecord[] = []
  readonly asked: { topic: string; from: ReadonlyMap<number, number> }[] = []
  #of(topic: string) {
    return this.records.filter((one) => (one as unknown as { topic: string }).topic === topic)
  }
  async offsetsAt(topic: string, timestampMs: number) {
    const partitions = topic === TOPICS.deadLetters.name ? [0] : [0, 1]
    return new Map(
      partitions.map((partition) => {
        const first = this.#of(topic).find((one) => one.partition === partition && one.timestampMs >= timestampMs)
        return [partition, first?.offset ?? this.#end(topic, partition)]
      }),
    )
  }
  async endOffsets(topic: string) {
    const partitions = topic === TOPICS.deadLetters.name ? [0] : [0, 1]
    return new Map(partitions.map((partition) => [partition, this.#end(topic, partition)]))
  }
  async *readTopic({ topic, from, until }: Parameters<PointsLog['readTopic']>[0]) {
    this.asked.push({ topic, from: from ?? new Map() })
    for (const [partition, end] of until ?? []) {
      const records = this.#of(topic).filter(
        (one) => one.partition === partition && one.offset >= (from?.get(partition) ?? 0) && one.offset < end,
      )
      if (records.length > 0) yield { partition, records }
    }
  }
  #end(topic: string, partition: number): number {
    return Math.max(
      0,
      ...this.#of(topic)
        .filter((one) => one.partition === partition)
        .map((one) => one.offset + 1),
    )
  }
}

describe('recent points', () => {
  const log = new ToldLog()
  const at = (offset: number, key: string, value: unknown) => log.records.push(record(TOPICS.positions.name, 1, offset, key, value))
  const position = (data_ms: number, lat: unknown = 42, lon: unknown = 2.8) => ({ repartidor: 'a', lat, lon, data_ms })
  at(0, 'a', position(NOW))
  at(1, 'b', position(NOW))
  at(2, 'a', position(NOW - 600_000))
  at(3, 'a', position(NOW + 86_400_000))
  at(4, 'a', position(NOW - 1_000, 95))
  at(5, 'a', { tipus: 'batec', data_ms: NOW })
  const of = (partition: number, offset: number) => encodeSource({ epoch: 1, partition, offset })
  log.records.push(record(TOPICS.late.name, 0, 0, 'a', { motiu: 'tard', data_ms: NOW - 600_000 }, of(1, 2)))
  // Of another partition of another day: the same offset is another record.
  log.records.push(record(TOPICS.late.name, 0, 1, 'a', { motiu: 'tard' }, of(0, 0)))
  log.records.push(record(TOPICS.deadLetters.name, 0, 0, 'a', { motiu: 'futur' }, of(1, 3)))
  log.records.push(record(TOPICS.deadLetters.name, 0, 1, 'a', { motiu: 'invalid' }, of(1, 4)))

  test('are those of the van, by event time, each with what became of it', async () => {
    const view = await readRecentPoints(log, 'a', 1, NOW)
    expect(view).toMatchObject({ van: 'a', fromMs: NOW - RECENT_MS, truncated: false })
    expect(view.points.map(({ verdict, reason, eventMs, lat }) => [verdict, reason, eventMs - NOW, lat])).toEqual([
      ['late', 'tard', -600_000, 42],
      ['refused', 'invalid', -1_000, null],
      ['accepted', null, 0, 42],
      ['refused', 'futur', 86_400_000, 42],
    ])
  })

  test('read nothing of the other partitions', async () => {
    log.asked.length = 0
    await readRecentPoints(log, 'a', 1, NOW)
    const positions = log.asked.find(({ topic }) => topic === TOPICS.positions.name)
    expect(positions?.from).toEqual(
      new Map([
        [0, 0],
        [1, 0],
      ]),
    )
  })

  test('of a silent partition are none', async () => {
    expect((await readRecentPoints(new ToldLog(), 'a', 0, NOW)).points).toEqual([])
  })
})

describe('trails of all vans', () => {
  test('have a point in ten seconds, and the newest', () => {
    const points = Array.from({ length: 100 }, (_, second): TrailPoint => [2.8, 42, second * 1_000])
    expect(thinned(points).map(([, , ms]) => ms)).toEqual([
      0, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000, 80_000, 90_000, 99_000,
    ])
    expect(thinned([])).toEqual([])
  })
})

describe('work under way', () => {
  test('is done once for all who ask meanwhile, and again afterwards, also after it failed', async () => {
    const once = new OnePerKey<number>()
    let count = 0
    const work = async () => {
      count += 1
      return count
    }
    expect(await Promise.all([once.of('a', work), once.of('a', work)])).toEqual([1, 1])
    expect(await once.of('a', work)).toBe(2)
    await expect(once.of('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
    expect(await once.of('a', work)).toBe(3)
  })
})
