import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CHECKPOINTS_LOCAL, LATENESS_STEPS_MS, latenessStep, type PartitionFeed } from '@km0/contracts'
import { Gauge, Health, Histogram, Registry, serveOperations } from '@km0/runtime'
import type { StoredLatenessHour } from '@km0/serving'
import { afterEach, describe, expect, test } from 'vitest'
import { latenessOf, type OperationsFacts, prepareOperations } from './prepare-operations.ts'
import { type ProgramFacts, ProgramFactsReader } from './program-facts.ts'
import { ProgressBook } from './progress-book.ts'

const NOW = 1_789_380_000_000
const HOUR = 3_600_000

function hourOf(hourMs: number, latenesses: readonly number[], more: Partial<StoredLatenessHour> = {}): StoredLatenessHour {
  const counts = new Array<number>(LATENESS_STEPS_MS.length + 1).fill(0)
  for (const lateness of latenesses) counts[latenessStep(lateness)]! += 1
  return { hourMs, points: latenesses.length, late: 0, partlyLate: 0, counts, refused: {}, measuredAtMs: NOW, ...more }
}
const feedOf = (watermarkMs: number | null, partition = 0): PartitionFeed => ({
  ...{ partition, watermarkMs, progressMs: watermarkMs === null ? null : watermarkMs + 45_000 },
  ...{ newestHeartbeatMs: NOW, newestRecordMs: NOW },
})
const programOf = (
  name: string,
  metrics: Record<string, [object, number][]> = {},
  health: ProgramFacts['health'] = null,
): ProgramFacts => ({
  name,
  health,
  metrics: new Map(
    Object.entries(metrics).map(([metric, samples]) => [
      metric,
      samples.map(([labels, value]) => ({ labels: labels as Record<string, string>, value })),
    ]),
  ),
})
const facts = (more: Partial<OperationsFacts> = {}): OperationsFacts => ({
  ...{ nowMs: NOW, platformNowMs: NOW, atMs: 0, programs: [], own: {}, hours: [], runs: [], endOffsets: null },
  feed: { state: 'live', noDataSinceMs: null, trouble: null, partitions: [feedOf(NOW - 46_000)] },
  nextOffsets: new Map([[0, 100]]),
  book: new ProgressBook(),
  targetShare: 0.005,
  ...more,
})

describe('how late positions come', () => {
  const points = [...Array.from({ length: 991 }, () => 1_000), ...[50_000, 55_000], ...Array.from({ length: 7 }, () => 250_000)]

  test('against the delay that is set: both shares of the sentence, and all three of the points', () => {
    const view = latenessOf(
      [hourOf(NOW - HOUR, points.slice(0, 500), { partlyLate: 4 }), hourOf(NOW, points.slice(500), { late: 1 })],
      45_000,
      0.008,
    )
    expect(view).toMatchObject({ points: 1_000, p50Ms: 1_000, p99Ms: 1_000, p999Ms: 250_000, partlyLateShare: 0.004, lateShare: 0.001 })
    expect(view?.set).toEqual({ delayMs: 45_000, share: 0.991 })
    expect(view?.others).toEqual([
      { delayMs: 30_000, share: 0.991 },
      { delayMs: 60_000, share: 0.993 },
      { delayMs: 90_000, share: 0.993 },
    ])
    expect(view?.afterShare).toBeCloseTo(0.009)
    expect(view?.proposed).toEqual({ targetShare: 0.008, delay: { delayMs: 50_000, share: 0.992 } })
  })

  test('without a delay, and without points', () => {
    expect(latenessOf([hourOf(NOW, points)], null, 0.005)).toMatchObject({ set: null, afterShare: null })
    expect(latenessOf([], 45_000, 0.005)).toBeNull()
    expect(latenessOf([hourOf(NOW, [])], 45_000, 0.005)).toBeNull()
  })

  test('the delay that is set is what watermarks are behind; refused ones are of the same day', () => {
    const view = prepareOperations(
      facts({ hours: [hourOf(NOW - HOUR, points, { refused: { json: 2 } }), hourOf(NOW, [], { refused: { json: 1, futur: 9 } })] }),
    )
    expect(view.lateness?.set?.delayMs).toBe(45_000)
    expect(view.refused).toEqual({
      since: 'day',
      rows: [
        { reason: 'futur', count: 9 },
        { reason: 'json', count: 3 },
      ],
    })
  })
})

test('without a lake: what the bridges have counted since they began', () => {
  const bucket = (le: number | string, count: number) => [{ le, partition: '0' }, count] as [object, number]
  const metrics = {
    km0_bridge_lateness_seconds_bucket: [bucket(1, 900), bucket(45, 990), bucket(60, 995), bucket('+Inf', 1_000)],
    process_start_time_seconds: [[{}, (NOW - HOUR) / 1_000]] as [object, number][],
  }
  const late = {
    km0_stream_late_total: [
      [{ reason: 'tard' }, 1],
      [{ reason: 'parcial' }, 4],
    ] as [object, number][],
  }
  const { lateness } = prepareOperations(facts({ programs: [programOf('bridge', metrics), programOf('stream', late)] }))
  expect(lateness).toMatchObject({
    ...{ since: 'start', fromMs: NOW - HOUR, toMs: NOW, points: 1_000, p50Ms: 1_000, p99Ms: 45_000, p999Ms: null },
    ...{ set: { delayMs: 45_000, share: 0.99 }, lateShare: 0.001, partlyLateShare: 0.004 },
  })
  expect(prepareOperations(facts({ programs: [programOf('stream', late)] })).lateness).toBeNull()
})

describe('partitions', () => {
  test('are told by the log, and by the program that has them', () => {
    const metrics = (age: number, pressure: number) => ({
      km0_stream_backpressure_ratio: [[{}, pressure]] as [object, number][],
      km0_stream_lag_seconds: [[{ partition: '0' }, 1.5]] as [object, number][],
      km0_stream_checkpoint_age_seconds: [[{ partition: 0 }, age]] as [object, number][],
    })
    const view = prepareOperations(
      facts({ programs: [programOf('old', metrics(900, 0.9)), programOf('new', metrics(12, 0.2))], endOffsets: new Map([[0, 130]]) }),
    )
    expect(view.partitions).toMatchObject([
      {
        partition: 0,
        nextOffset: 100,
        lagRecords: 30,
        lagMs: 1_500,
        checkpointAgeMs: 12_000,
        checkpointBytes: null,
        backpressure: 0.2,
        recordsPerS: null,
        driftMs: null,
      },
    ])
    expect(prepareOperations(facts()).partitions).toMatchObject([{ lagRecords: null, lagMs: 1_000 }])
  })

  test('a rate and a drift are told against some minutes ago', () => {
    const book = new ProgressBook()
    for (let n = 0; n <= 40; n += 1) book.note(n * 10_000, NOW + n * 10_000, [feedOf(NOW - 46_000)], new Map([[0, n * 500]]))
    // Five minutes on, the watermark stands still.
    expect(book.rate(0, 400_000, 20_000)).toBeCloseTo(50)
    expect(book.drift(0, NOW + 400_000, NOW - 46_000)).toBe(300_000)
    expect(book.drift(0, NOW + 400_000, NOW - 46_000 + 300_000)).toBe(0)
    // The log was replaced; a partition that nobody knew.
    expect(book.rate(0, 400_000, 5)).toBeNull()
    expect([book.rate(9, 400_000, 5), book.drift(9, NOW, 1), book.drift(0, NOW, null)]).toEqual([null, null, null])
    expect([new ProgressBook().rate(0, 1, 1), new ProgressBook().drift(0, 1, 1)]).toEqual([null, null])
  })
})

describe('services', () => {
  test('are as they say, the worst of their parts first; one that does not answer is silent', () => {
    const health: ProgramFacts['health'] = {
      status: 'degraded',
      parts: { a: { status: 'ok' }, b: { status: 'ok', detail: 'fine' }, c: { status: 'degraded', detail: 'slow' } },
    }
    const view = prepareOperations(
      facts({
        programs: [
          programOf('stream', { km0_x_backpressure_ratio: [[{}, 0.1]], km0_y_backpressure_ratio: [[{}, 0.7]] }, health),
          programOf('gone'),
        ],
        own: { kafka: { status: 'ok' }, postgres: { status: 'down', detail: 'away' } },
      }),
    )
    expect(view.services.map(({ name, status, backpressure }) => [name, status, backpressure])).toEqual([
      ['dashboard', 'down', null],
      ['stream', 'degraded', 0.7],
      ['gone', 'silent', null],
    ])
    expect(view.services[1]?.parts.map(({ name }) => name)).toEqual(['c', 'b'])
  })

  test('a folder of checkpoints that one machine sees is told; refused ones since the programs began where nothing was measured', () => {
    const at = (detail: string): ProgramFacts['health'] => ({ status: 'ok', parts: { checkpoints: { status: 'ok', detail } } })
    const view = prepareOperations(
      facts({
        programs: [
          programOf(
            's3',
            {
              km0_bridge_refused_total: [
                [{ reason: 'json' }, 2],
                [{ reason: 'buit' }, 0],
              ],
            },
            at('s3://bucket/states'),
          ),
          programOf('local', {}, at(`/var/x: ${CHECKPOINTS_LOCAL}, which only this machine sees`)),
        ],
      }),
    )
    expect(view.checkpoints).toEqual({ local: true, place: '/var/x' })
    expect(view.refused).toEqual({ since: 'start', rows: [{ reason: 'json', count: 2 }] })
    expect(prepareOperations(facts({ programs: [programOf('s3', {}, at('s3://bucket/states'))] })).checkpoints).toEqual({
      ...{ local: false, place: 's3://bucket/states' },
    })
    expect(prepareOperations(facts()).checkpoints).toBeNull()
  })
})

describe('facts of programs', () => {
  const ends: (() => Promise<void> | void)[] = []
  afterEach(async () => {
    for (const end of ends.splice(0)) await end()
  })

  test('are read from one that runs, and in bounded time from one that hangs, answers nonsense or is not there', {
    timeout: 20_000,
  }, async () => {
    const [health, metrics] = [new Health(), new Registry()]
    health.register('x', () => ({ status: 'degraded', detail: 'why' }))
    new Gauge({ name: 'km0_a', help: 'a', labelNames: ['partition'], registers: [metrics] }).set({ partition: 3 }, 7)
    new Histogram({ name: 'km0_h', help: 'h', buckets: [5], registers: [metrics] }).observe(3)
    new Gauge({ name: 'km0_nan', help: 'a', registers: [metrics] }).set(Number.NaN)
    const program = await serveOperations({ host: '127.0.0.1', port: 0, health, metrics })
    const [hangs, nonsense] = [createServer(() => undefined), createServer((_request, response) => response.end('<html>'))]
    for (const server of [hangs, nonsense]) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    ends.push(
      () => program.close(),
      () => void hangs.close(),
      () => void hangs.closeAllConnections(),
      () => void nonsense.close(),
    )
    const url = (port: number) => `http://127.0.0.1:${port}/health`
    const portOf = (server: typeof hangs) => (server.address() as AddressInfo).port
    const reader = new ProgramFactsReader(
      new Map([
        ['runs', url(program.port)],
        ['hangs', url(portOf(hangs))],
        ['nonsense', url(portOf(nonsense))],
        ['nobody', url(1)],
      ]),
    )
    const [runs, ...others] = await reader.read()
    expect(runs?.health).toEqual({ status: 'degraded', parts: { x: { status: 'degraded', detail: 'why' } } })
    expect(runs?.metrics.get('km0_a')).toEqual([{ labels: { partition: 3 }, value: 7 }])
    expect(runs?.metrics.get('km0_nan')).toEqual([])
    expect(runs?.metrics.get('km0_h_bucket')).toContainEqual({ labels: { le: 5 }, value: 1 })
    expect(others.map(({ health: said, metrics: told }) => [said, told.size])).toEqual([
      [null, 0],
      [null, 0],
      [null, 0],
    ])
  })
})
