import { DEFAULT_PANEL_LIMITS, type DistanceView, type FeedView, type PanelPoint, type PanelSnapshot } from '@km0/contracts'
import { madridDate } from '@km0/contracts/madrid'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clockDuration, isoDuration, shortAge } from './durations.ts'
import { applyDelta, modelOf, platformNowMs } from './panel-model.ts'
import { prepareFeed } from './prepare-feed.ts'
import { type DeafSpan, silenceOf } from './prepare-silence.ts'

const NOW = 1_789_380_000_000
const point = (van: string, eventMs: number): PanelPoint => ({
  van,
  depotId: null,
  lat: 42,
  lon: 2.8,
  eventMs,
  arrivalMs: eventMs + 1_000,
  speedMmPerS: null,
  headingDegrees: null,
  doubtful: false,
  motion: 'moving',
  place: null,
  partition: 0,
  batteryPercent: null,
})
const distance = (van: string, windowEndMs: number, distanceMm = 1, revision = 0): DistanceView => ({
  van,
  depotId: null,
  windowStartMs: windowEndMs - 300_000,
  windowEndMs,
  distanceMm,
  positions: 2,
  jumps: 0,
  displacementMm: 1,
  revision,
})
const live: FeedView = {
  state: 'live',
  noDataSinceMs: null,
  trouble: null,
  partitions: [
    { partition: 0, watermarkMs: null, progressMs: null, newestHeartbeatMs: NOW, newestRecordMs: NOW },
    { partition: 1, watermarkMs: null, progressMs: null, newestHeartbeatMs: NOW - 300_000, newestRecordMs: NOW },
  ],
}
const snapshot: PanelSnapshot = {
  sequence: 4,
  clock: 'machine',
  nowMs: NOW,
  limits: DEFAULT_PANEL_LIMITS,
  feed: live,
  outages: [],
  depots: [],
  registered: [],
  points: [point('a', NOW)],
  signals: [],
  distances: [distance('a', NOW)],
  acknowledgements: [],
}

describe('the model', () => {
  test('a delta in order is applied, one already held is passed over, one after a gap asks for a snapshot', () => {
    const model = modelOf(snapshot, 500)
    const next = applyDelta(model, { sequence: 5, nowMs: NOW + 1_000, points: [point('b', NOW)] }, 1_500)
    expect([...(next?.points.keys() ?? [])]).toEqual(['a', 'b'])
    expect(model.points.size).toBe(1)
    expect(applyDelta(model, { sequence: 4, nowMs: NOW }, 1_500)).toBe(model)
    expect(applyDelta(model, { sequence: 6, nowMs: NOW }, 1_500)).toBeNull()
  })

  test('parts that did not change stay the same objects', () => {
    const model = modelOf(snapshot, 500)
    const next = applyDelta(model, { sequence: 5, nowMs: NOW + 1_000 }, 1_500)
    expect(next?.points).toBe(model.points)
    expect(next?.distances).toBe(model.distances)
  })

  test('a point never goes back in event time', () => {
    const next = applyDelta(modelOf(snapshot, 0), { sequence: 5, nowMs: NOW, points: [point('a', NOW - 5_000)] }, 0)
    expect(next?.points.get('a')?.eventMs).toBe(NOW)
  })

  test('windows stay sorted, are replaced by revisions, and old ones go', () => {
    const rows = [distance('a', NOW - 60_000), distance('a', NOW, 9, 1), distance('a', NOW - 40 * 60_000)]
    const next = applyDelta(modelOf(snapshot, 0), { sequence: 5, nowMs: NOW, distances: rows }, 0)
    expect(next?.distances.get('a')?.map((row) => [row.windowEndMs, row.distanceMm])).toEqual([
      [NOW - 60_000, 1],
      [NOW, 9],
    ])
    const back = applyDelta(next as NonNullable<typeof next>, { sequence: 6, nowMs: NOW, distances: [distance('a', NOW, 5, 0)] }, 0)
    expect(back?.distances.get('a')?.at(-1)?.distanceMm).toBe(9)
  })

  test('an acknowledgement that comes twice is held once', () => {
    const ack = { van: 'a', sinceMs: 1, atMs: 2, note: '', actor: { id: '1', name: 'M', roles: [] } }
    const once = applyDelta(modelOf(snapshot, 0), { sequence: 5, nowMs: NOW, acknowledgements: [ack] }, 0)
    const twice = applyDelta(once as NonNullable<typeof once>, { sequence: 6, nowMs: NOW, acknowledgements: [{ ...ack }] }, 0)
    expect(twice?.acknowledgements).toHaveLength(1)
  })
})

describe('now', () => {
  test('goes on by this browser between messages, however wrong its clock is: a tab that slept 5 minutes is right at once', () => {
    const model = modelOf(snapshot, 1_000)
    expect(platformNowMs(model, 1_000)).toBe(NOW)
    expect(platformNowMs(model, 301_000)).toBe(NOW + 300_000)
  })

  test("stands still with the player's clock", () => {
    expect(platformNowMs(modelOf({ ...snapshot, clock: 'play' }, 1_000), 301_000)).toBe(NOW)
  })
})

describe('the feed', () => {
  const given = { feed: live, points: new Map([['a', point('a', NOW - 5_000)]]), connected: true, serverNowMs: NOW, nowMs: NOW }

  test('says what is the matter, the nearest cause first', () => {
    const well = { sinceMs: null, cause: null, partitions: null, newestPointAgeMs: 4_000 }
    expect(prepareFeed(given)).toEqual({ ...well, kind: 'live' })
    expect(prepareFeed({ ...given, feed: { ...live, state: 'none' }, points: new Map() })).toEqual({
      ...well,
      kind: 'none',
      newestPointAgeMs: null,
    })
    const since = { cause: 'bridge', sinceMs: NOW - 90_000 } as const
    const stale: FeedView = { ...live, state: 'stale', noDataSinceMs: NOW - 90_000, trouble: { ...since, partitions: null } }
    expect(prepareFeed({ ...given, feed: stale })).toEqual({ ...well, ...since, kind: 'stale' })
    expect(prepareFeed({ ...given, feed: { ...live, trouble: { ...since, partitions: [1] } } })).toEqual({
      ...well,
      ...since,
      kind: 'partly',
      partitions: [1],
    })
    expect(prepareFeed({ ...given, feed: stale, connected: false, serverNowMs: NOW - 3_000 })).toEqual({
      ...well,
      kind: 'lost',
      sinceMs: NOW - 3_000,
    })
  })
})

describe('silence', () => {
  const EPISODE_MS = 180_000
  const of = (lastMs: number, nowMs: number, ...spans: readonly (readonly [number, number | null])[]) =>
    silenceOf(
      lastMs,
      nowMs,
      spans.map(([fromMs, toMs]) => ({ fromMs, toMs })),
      EPISODE_MS,
    )

  test('without an outage it is the time since the last sign', () => {
    expect(of(0, 200_000)).toEqual({ silenceMs: 200_000, knownUntilMs: 200_000, outage: null })
    expect(of(100_000, 200_000, [0, 90_000], [20_000, 100_000])).toMatchObject({ silenceMs: 100_000, outage: null })
    expect(of(0, 200_000, [200_000, null])).toMatchObject({ silenceMs: 200_000, outage: null })
  })

  test('stands still while an outage lasts', () => {
    expect(of(0, 900_000, [50_000, null])).toEqual({ silenceMs: 50_000, knownUntilMs: 50_000, outage: { fromMs: 50_000, toMs: null } })
    expect(of(100_000, 900_000, [50_000, null])).toMatchObject({ silenceMs: 0 })
  })

  test('after it, whoever was silent before goes on, any other begins anew at its end', () => {
    expect(of(0, 600_000, [180_000, 500_000])).toMatchObject({ silenceMs: 280_000, outage: { fromMs: 180_000, toMs: 500_000 } })
    expect(of(0, 600_000, [179_999, 500_000])).toMatchObject({ silenceMs: 100_000 })
    expect(of(0, 600_000, [100_000, 200_000], [300_000, 400_000])).toMatchObject({ silenceMs: 200_000 })
  })

  test('never holds time of an outage, and never grows in one', () => {
    const spans = fc
      .uniqueArray(fc.integer({ min: 0, max: 2_000 }), { minLength: 0, maxLength: 8 })
      .map((times) => [...times].sort((a, b) => a - b))
      .map((times) =>
        Array.from(
          { length: Math.ceil(times.length / 2) },
          (_, n): DeafSpan => ({
            fromMs: times[2 * n] as number,
            toMs: times[2 * n + 1] ?? null,
          }),
        ),
      )
    fc.assert(
      fc.property(spans, fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 2_000 }), (given, lastMs, forMs) => {
        const nowMs = lastMs + forMs
        const { silenceMs, knownUntilMs } = silenceOf(lastMs, nowMs, given, 180)
        const isDeaf = (ms: number) => given.some((span) => span.fromMs <= ms && ms < (span.toMs ?? Number.POSITIVE_INFINITY))
        let heardMs = 0
        for (let ms = lastMs; ms < nowMs; ms += 1) if (!isDeaf(ms)) heardMs += 1
        expect(silenceMs).toBeLessThanOrEqual(heardMs)
        expect(silenceMs).toBeGreaterThanOrEqual(0)
        if (!given.some((span) => span.fromMs < nowMs && (span.toMs ?? Number.POSITIVE_INFINITY) > lastMs)) expect(silenceMs).toBe(forMs)
        if (isDeaf(nowMs)) expect(silenceOf(lastMs, nowMs + 1, given, 180).silenceMs).toBeLessThanOrEqual(silenceMs)
        else expect(knownUntilMs).toBe(nowMs)
      }),
    )
  })
})

describe('durations', () => {
  test.each([
    [-5, '0:00'],
    [192_000, '3:12'],
    [3_599_999, '59:59'],
    [3_912_000, '1:05:12'],
    [2 * 86_400_000, '2 d'],
  ])('%d ms on a clock is %s', (ms, text) => expect(clockDuration(ms)).toBe(text))

  test.each([
    [40_999, '40 s'],
    [60_000, '1 min'],
    [3_600_000, '1 h'],
    [86_400_000, '24 h'],
    [3 * 86_400_000, '3 d'],
  ])('%d ms in one unit is %s', (ms, text) => expect(shortAge(ms)).toBe(text))

  test('ISO 8601', () => expect(isoDuration(192_500)).toBe('PT192S'))
})

test('a day is that of Madrid', () => {
  expect(madridDate(Date.UTC(2026, 6, 1, 22, 30))).toBe('2026-07-02')
  expect(madridDate(Date.UTC(2026, 0, 1, 22, 59))).toBe('2026-01-01')
})
