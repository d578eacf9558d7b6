import { decodeSource, HEADERS, TOPICS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import type { LogRecord, OutRecord } from '@km0/transport'
import { describe, expect, it } from 'vitest'
import { PartitionTask } from './partition-task.ts'

const T0 = 1_789_380_000_000

function task(): PartitionTask {
  return new PartitionTask(3, 2, createPositionsHost(undefined, null, { coalesceLivePoints: true }), 0)
}

function record(offset: number, timestampMs: number, value: object | string | Buffer | null): LogRecord {
  const text = typeof value === 'string' || value === null || Buffer.isBuffer(value) ? value : JSON.stringify(value)
  return { partition: 3, offset, timestampMs, key: null, value: typeof text === 'string' ? Buffer.from(text) : text, headers: {} }
}

const position = (offset: number, nowMs: number, latenessMs = 0, van = 'furgoneta-3') =>
  record(offset, nowMs, { repartidor: van, lat: 41.9 + offset / 1e4, lon: 2.8, data_ms: nowMs - latenessMs })
const heartbeat = (offset: number, nowMs: number) => record(offset, nowMs, { tipus: 'batec', data_ms: nowMs })

const of = (records: readonly OutRecord[], topic: { name: string }) => records.filter((out) => out.topic === topic.name)

/** Ten minutes of one van and heartbeats. */
const log = Array.from({ length: 120 }, (_, n) => (n % 2 === 0 ? position(n, T0 + n * 5_000) : heartbeat(n, T0 + n * 5_000)))

describe('the task of a partition', () => {
  it('writes results to the partition of their source, with where they come from and when it arrived', () => {
    const { records, outcomes } = task().apply(log, 120)
    const panel = of(records, TOPICS.panel)
    expect(panel.length).toBeGreaterThan(5)
    expect(panel[0]).toMatchObject({ key: 'senyal|furgoneta-3', partition: 3, timestampMs: T0 })
    for (const out of panel) {
      const source = decodeSource(out.headers ?? {})
      expect(source).toMatchObject({ epoch: 2, partition: 3 })
      expect(out.timestampMs).toBe(T0 + (source?.offset ?? 0) * 5_000)
    }
    expect(Object.keys(panel[0]?.headers ?? {})).toEqual([HEADERS.epoch, HEADERS.sourcePartition, HEADERS.sourceOffset])
    expect(outcomes.get('accepted')).toBe(60)
    expect(outcomes.get('heartbeat')).toBe(60)
  })

  it('hands a trace on with the live point, and not even that where nothing is traced', () => {
    const traced = { ...position(0, T0), headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` } }
    const host = () => createPositionsHost(undefined, null, { coalesceLivePoints: true })
    const [on] = of(new PartitionTask(3, 2, host(), 0, 60_000, true).apply([traced], 1).records, TOPICS.live)
    const [off] = of(task().apply([traced], 1).records, TOPICS.live)
    expect(on?.headers).toEqual({ ...off?.headers, ...traced.headers })
    expect(off?.headers).not.toHaveProperty('traceparent')
  })

  it('a live point takes over the trace of an older one of its van that it stands for', () => {
    const traced = { ...position(0, T0), key: 'furgoneta-3', headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` } }
    const host = createPositionsHost(undefined, null, { coalesceLivePoints: true })
    const slice = [traced, position(1, T0 + 1_000), position(2, T0 + 1_000, 0, 'b')]
    const live = of(new PartitionTask(3, 2, host, 0, 60_000, true).apply(slice, 3).records, TOPICS.live)
    expect(live.map(({ key, headers }) => [key, headers?.traceparent])).toEqual([
      ['furgoneta-3', traced.headers.traceparent],
      ['b', undefined],
    ])
  })

  it('writes of each van one live point a slice, the newest, where its key leads', () => {
    const slice = [position(0, T0), position(1, T0 + 5_000, 0, 'b'), position(2, T0 + 10_000), position(3, T0 + 11_000, 9_000)]
    const live = of(task().apply(slice, 4).records, TOPICS.live)
    expect(live.map(({ key, headers, partition }) => [key, headers?.[HEADERS.sourceOffset], partition])).toEqual([
      ['furgoneta-3', '2', undefined],
      ['b', '1', undefined],
    ])
  })

  it('sends late points, and what cannot be counted, to their own topics', () => {
    const { records, outcomes } = task().apply(
      [
        position(0, T0),
        position(1, T0 + 1_200_000),
        position(2, T0 + 1_201_000, 1_100_000),
        record(3, T0 + 1_202_000, '{"repartidor":'),
        record(4, T0 + 1_203_000, null),
        record(5, T0 + 1_203_000, Buffer.from([0xfc, 0x7e, 0x29])),
        position(6, T0 + 1_204_000, -120_000),
        position(7, T0 + 1_204_000, 8 * 86_400_000),
      ],
      8,
    )
    expect(of(records, TOPICS.late).map(({ key, value }) => [key, JSON.parse(String(value)).motiu])).toEqual([['furgoneta-3', 'tard']])
    expect(of(records, TOPICS.deadLetters).map(({ value }) => JSON.parse(String(value)).motiu)).toEqual([
      'invalid',
      'invalid',
      'invalid',
      'futur',
      'antic',
    ])
    expect([outcomes.get('late'), outcomes.get('invalid'), outcomes.get('future'), outcomes.get('ancient')]).toEqual([1, 3, 1, 1])
  })

  it('writes the same when it is cut into slices, restored in between, or run again', () => {
    const panelOf = (records: readonly OutRecord[]) => of(records, TOPICS.panel)
    const whole = panelOf(task().apply(log, 120).records)
    for (const cut of [1, 17, 60, 119]) {
      const first = task()
      const before = panelOf(first.apply(log.slice(0, cut), cut).records)
      const restored = task()
      restored.restore(first.snapshot(), cut)
      expect(restored.nextOffset).toBe(cut)
      const after = panelOf(restored.apply(log.slice(cut), 120).records)
      expect([...before, ...after]).toEqual(whole)
      expect(restored.snapshot()).toBe(
        (() => {
          const uncut = task()
          uncut.apply(log, 120)
          return uncut.snapshot()
        })(),
      )
    }
  })

  it('tells how far it has come', () => {
    const fresh = task()
    expect(JSON.parse(String(fresh.mark().value))).toEqual({
      particio: 3,
      offset: 0,
      marca_aigua_ms: null,
      progres_ms: null,
      darrer_batec_ms: null,
      darrer_registre_ms: null,
      epoca: 2,
    })
    fresh.apply(log, 125)
    const mark = fresh.mark()
    expect(mark).toMatchObject({ topic: TOPICS.marks.name, key: '3' })
    expect(JSON.parse(String(mark.value))).toMatchObject({
      offset: 125,
      marca_aigua_ms: T0 + 119 * 5_000 - 45_000,
      progres_ms: T0 + 119 * 5_000,
      darrer_batec_ms: T0 + 119 * 5_000,
      darrer_registre_ms: T0 + 119 * 5_000,
    })
  })

  it('tells spans without heartbeats as outages of ours, the same ones however it is cut or run again', () => {
    const beat = (offset: number, nowMs: number, further: object = {}) =>
      record(offset, nowMs, { tipus: 'batec', data_ms: nowMs, pont: 'one', ...further })
    const broken = [
      beat(0, T0),
      // Exactly the limit is none, and positions alone are no heartbeats.
      beat(1, T0 + 60_000),
      position(2, T0 + 100_000),
      beat(3, T0 + 130_000, { pont: 'two' }),
      // Older than the newest one: says nothing.
      beat(4, T0 + 50_000, { pont: 'two' }),
      beat(5, T0 + 200_000, { pont: 'two', retingut: 'sense-connexio' }),
      beat(6, T0 + 300_000, { pont: 'two', retingut: 'nonsense' }),
      beat(7, T0 + 400_000, { pont: 'two', retingut: 'endarreriment' }),
      beat(8, T0 + 500_000, { pont: 'three', retingut: 'endarreriment' }),
      record(9, T0 + 600_000, { tipus: 'batec', data_ms: T0 + 600_000 }),
    ]
    const outagesOf = (records: readonly OutRecord[]) => of(records, TOPICS.marks)
    const whole = outagesOf(task().apply(broken, 10).records)
    expect(whole.map(({ key, value, timestampMs }) => ({ key, timestampMs, ...JSON.parse(String(value)) }))).toEqual(
      (
        [
          [60_000, 130_000, 'pont', 3],
          [130_000, 200_000, 'broker', 5],
          // Held back by nothing: it stood still.
          [200_000, 300_000, 'pont', 6],
          [300_000, 400_000, 'endarreriment', 7],
          [400_000, 500_000, 'pont', 8],
          [500_000, 600_000, null, 9],
        ] as const
      ).map(([from, to, causa, offset]) => ({
        key: `tall|3|${T0 + from}`,
        timestampMs: T0 + to,
        tipus: 'tall',
        particio: 3,
        inici_ms: T0 + from,
        fi_ms: T0 + to,
        causa,
        epoca: 2,
        offset,
      })),
    )
    for (let cut = 1; cut < broken.length; cut += 1) {
      const first = task()
      const before = outagesOf(first.apply(broken.slice(0, cut), cut).records)
      const restored = task()
      restored.restore(first.snapshot(), cut)
      expect([...before, ...outagesOf(restored.apply(broken.slice(cut), 10).records)]).toEqual(whole)
    }
    const patient = new PartitionTask(3, 2, createPositionsHost(), 0, 90_000)
    expect(outagesOf(patient.apply(broken, 10).records)).toHaveLength(4)
  })

  it('goes on from a state of before outages were told', () => {
    const before = task()
    before.apply([heartbeat(0, T0)], 1)
    const [head = '', ...lines] = before.snapshotLines()
    const { bridge, ...old } = JSON.parse(head)
    expect(bridge).toBeNull()
    const restored = task()
    restored.restore([JSON.stringify(old), ...lines].join('\n'), 1)
    expect(of(restored.apply([heartbeat(1, T0 + 61_000)], 2).records, TOPICS.marks)).toHaveLength(1)
  })

  it('carries the battery of a live point where it was sent', () => {
    const sent = (offset: number, van: string, bateria_pct: unknown) =>
      record(offset, T0, { repartidor: van, lat: 41.9, lon: 2.8, data_ms: T0, bateria_pct })
    const { records } = task().apply([sent(0, 'a', 12.4), sent(1, 'b', 101), sent(2, 'c', '12'), position(3, T0), sent(4, 'd', 0)], 5)
    expect(of(records, TOPICS.live).map(({ key, headers }) => [key, headers?.[HEADERS.batteryPercent]])).toEqual([
      ['a', '12'],
      ['b', undefined],
      ['c', undefined],
      ['furgoneta-3', undefined],
      ['d', '0'],
    ])
  })

  it('takes no state that is not its own', () => {
    expect(() => task().restore('{"version":7}', 0)).toThrow()
    expect(() => task().restore('nothing', 0)).toThrow()
  })
})
