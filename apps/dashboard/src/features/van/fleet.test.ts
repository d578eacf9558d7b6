import {
  type AcknowledgementView,
  DEFAULT_PANEL_LIMITS,
  type FeedTrouble,
  type FeedView,
  type OutageView,
  type PanelPoint,
  type PanelSnapshot,
  type RegisteredVan,
  type SignalView,
} from '@km0/contracts'
import { describe, expect, test } from 'vitest'
import { modelOf } from '../feed/panel-model.ts'
import { prepareFeed } from '../feed/prepare-feed.ts'
import { prepareMarkers } from '../map/prepare-markers.ts'
import { prepareNoSignal } from '../no-signal/prepare-no-signal.ts'
import { searchVans } from '../search/prepare-search.ts'
import { prepareCounters } from '../shell/prepare-counters.ts'
import { compassPoint } from './compass.ts'
import { lastKnown } from './last-known.ts'
import { prepareFleet, type Van } from './prepare-fleet.ts'

/** 12:00 in Madrid. */
const NOW = Date.UTC(2026, 10, 29, 11, 0, 0)
const MINUTE = 60_000

const point = (van: string, ageMs: number, over: Partial<PanelPoint> = {}): PanelPoint => ({
  van,
  depotId: null,
  lat: 42,
  lon: 2.8,
  eventMs: NOW - ageMs,
  arrivalMs: NOW - ageMs + 900,
  speedMmPerS: 9_000,
  headingDegrees: 90,
  doubtful: false,
  motion: 'moving',
  place: 'Salt',
  partition: 0,
  batteryPercent: null,
  ...over,
})
const silent = (van: string, ageMs: number): SignalView => ({ van, depotId: null, state: 'no-signal', sinceMs: NOW - ageMs })
const heard = (van: string, ageMs: number): SignalView => ({ van, depotId: null, state: 'signal', sinceMs: NOW - ageMs })
const registered = (van: string, over: Partial<RegisteredVan> = {}): RegisteredVan => ({
  van,
  name: van,
  plate: '1234 BCD',
  depotId: 'girona',
  inServiceFromMs: null,
  inServiceToMs: null,
  ...over,
})
const partitions = [{ partition: 0, watermarkMs: null, progressMs: null, newestHeartbeatMs: NOW, newestRecordMs: NOW }]
const liveFeed: FeedView = { state: 'live', noDataSinceMs: null, trouble: null, partitions }
/** Nothing has been heard from any partition for so long. */
const deafFor = (ms: number, cause: FeedTrouble['cause'] = 'bridge'): FeedView => ({
  state: 'stale',
  noDataSinceMs: NOW - ms,
  trouble: { cause, sinceMs: NOW - ms, partitions: null },
  partitions: [{ ...partitions[0]!, newestHeartbeatMs: NOW - ms }],
})

interface When {
  readonly nowMs?: number
  readonly connected?: boolean
}

function fleetOf(parts: Partial<PanelSnapshot>, { nowMs = NOW, connected = true }: When = {}): Van[] {
  const depots = [{ id: 'girona', name: 'Base de Girona', lat: 41.9, lon: 2.8, markets: [], shiftStart: null, shiftEnd: null }]
  const empty = { depots, registered: [], points: [], signals: [], distances: [], acknowledgements: [], outages: [] }
  const model = modelOf({ sequence: 1, clock: 'machine', nowMs, limits: DEFAULT_PANEL_LIMITS, feed: liveFeed, ...empty, ...parts }, 0)
  return prepareFleet(
    model,
    prepareFeed({ feed: model.feed, points: model.points, connected, serverNowMs: model.serverNowMs, nowMs }),
    nowMs,
  )
}
const stateOf = (parts: Partial<PanelSnapshot>, when?: When) => fleetOf(parts, when).map((van) => [van.van, van.state])
const NEAR_MM = DEFAULT_PANEL_LIMITS.nearDistanceMm

describe('state of a van', () => {
  test('moving or stopped as the stream job says', () => {
    expect(stateOf({ points: [point('a', 5_000), point('b', 5_000, { motion: 'stopped' })] })).toEqual([
      ['a', 'moving'],
      ['b', 'stopped'],
    ])
  })

  test('from 3:00 without data provisional, with `senyal` an episode', () => {
    expect(stateOf({ points: [point('a', 179_999)] })).toEqual([['a', 'moving']])
    expect(stateOf({ points: [point('a', 180_000)], signals: [heard('a', 10 * MINUTE)] })).toEqual([['a', 'provisional']])
    expect(stateOf({ points: [point('a', 230_000)], signals: [silent('a', 230_000)] })).toEqual([['a', 'silent']])
  })

  test('a fresh point ends an episode before its `senyal` comes', () => {
    expect(stateOf({ points: [point('a', 2_000)], signals: [silent('a', 10 * MINUTE)] })).toEqual([['a', 'moving']])
  })

  test('a late point of the tunnel makes the silence shorter, not gone', () => {
    const [van] = fleetOf({ points: [point('a', 5 * MINUTE)], signals: [silent('a', 9 * MINUTE)] })
    expect(van).toMatchObject({ state: 'silent', silenceMs: 5 * MINUTE, sinceMs: NOW - 9 * MINUTE })
  })

  test('silent for an hour is silent, also right after the page was opened', () => {
    expect(stateOf({ points: [point('a', 61 * MINUTE)] })).toEqual([['a', 'provisional']])
    expect(stateOf({ signals: [silent('a', 61 * MINUTE)] })).toEqual([['a', 'silent']])
  })

  test('no point today is "not seen", no point ever "unheard"; what was lost before midnight stays lost after it', () => {
    expect(stateOf({ registered: [registered('a'), registered('b')], points: [point('a', 20 * 60 * MINUTE)] })).toEqual([
      ['a', 'not-seen'],
      ['b', 'unheard'],
    ])
    const midnight = Date.UTC(2026, 10, 28, 23, 10)
    const lost = { ...point('a', 0), eventMs: midnight - 30 * MINUTE }
    expect(stateOf({ points: [lost] }, { nowMs: midnight })).toEqual([['a', 'provisional']])
    expect(stateOf({ points: [lost] }, { nowMs: midnight + 40 * MINUTE })).toEqual([['a', 'not-seen']])
  })

  test('nobody expects vans out of service, unless they are heard', () => {
    const register = [
      registered('future', { inServiceFromMs: NOW + 1 }),
      registered('gone', { inServiceToMs: NOW }),
      registered('in', { inServiceFromMs: NOW, inServiceToMs: NOW + 1 }),
    ]
    expect(stateOf({ registered: register })).toEqual([
      ['future', 'away'],
      ['gone', 'away'],
      ['in', 'unheard'],
    ])
    expect(stateOf({ registered: register, points: [point('gone', 1_000)] })).toContainEqual(['gone', 'moving'])
  })

  test('are in the order of their numbers', () => {
    expect(fleetOf({ points: ['furgoneta-10', 'furgoneta-9', 'furgoneta-1'].map((van) => point(van, 0)) }).map((van) => van.van)).toEqual([
      'furgoneta-1',
      'furgoneta-9',
      'furgoneta-10',
    ])
  })
})

describe('a dead feed', () => {
  const vans = Array.from({ length: 140 }, (_, n) => point(`v${n}`, 10 * MINUTE))

  test('is not 140 silent vans', () => {
    expect(prepareCounters(fleetOf({ points: vans })).noSignal).toBe(140)
    const unknown = { moving: 0, stopped: 0, noSignal: 0, unknown: 140 }
    expect(prepareCounters(fleetOf({ points: vans, feed: deafFor(10 * MINUTE) }))).toEqual(unknown)
    expect(prepareCounters(fleetOf({ points: vans, nowMs: NOW - 10 * MINUTE }, { connected: false }))).toEqual(unknown)
    const never: FeedView = { state: 'none', noDataSinceMs: null, trouble: null, partitions: [] }
    expect(prepareCounters(fleetOf({ points: vans, feed: never }))).toEqual(unknown)
    const { rows, count, unknown: hidden } = prepareNoSignal(fleetOf({ points: vans, feed: deafFor(10 * MINUTE) }), [], NEAR_MM)
    expect([rows, count, hidden]).toEqual([[], 0, 140])
  })

  test('hides nobody who is heard: heartbeats may be held back while positions come', () => {
    expect(stateOf({ points: [point('a', 30_000), point('b', 70_000)], feed: deafFor(90_000) })).toEqual([
      ['a', 'moving'],
      ['b', 'unknown'],
    ])
  })

  test('keeps who was silent before it, at the duration of then, and counts them not', () => {
    const fleet = fleetOf({ points: [point('a', 14 * MINUTE)], feed: deafFor(10 * MINUTE) })
    expect(fleet).toMatchObject([{ state: 'provisional', silenceMs: 4 * MINUTE, outage: { fromMs: NOW - 10 * MINUTE, toMs: null } }])
    expect(prepareNoSignal(fleet, [], NEAR_MM)).toMatchObject({ count: 0, unknown: 0, rows: [{ hidden: true, durationMs: 4 * MINUTE }] })
    expect(prepareCounters(fleet)).toEqual({ moving: 0, stopped: 0, noSignal: 0, unknown: 1 })
  })

  test('of one partition hides only its vans', () => {
    const feed: FeedView = {
      ...liveFeed,
      trouble: { cause: 'partition', sinceMs: NOW - 10 * MINUTE, partitions: [1] },
      partitions: [...partitions, { ...partitions[0]!, partition: 1, newestHeartbeatMs: NOW - 10 * MINUTE }],
    }
    const points = [point('a', 10 * MINUTE), point('b', 10 * MINUTE, { partition: 1 }), point('c', 10 * MINUTE, { partition: null })]
    expect(stateOf({ points, feed })).toEqual([
      ['a', 'provisional'],
      ['b', 'unknown'],
      ['c', 'provisional'],
    ])
    expect(prepareNoSignal(fleetOf({ points, feed }), [], NEAR_MM)).toMatchObject({ count: 2, unknown: 1 })
  })
})

describe('an outage that is over', () => {
  /** From 12 minutes ago to `endedAgoMs` ago. */
  const outage = (endedAgoMs: number, partition = 0): OutageView => ({
    partition,
    fromMs: NOW - 12 * MINUTE,
    toMs: NOW - endedAgoMs,
    cause: 'bridge',
  })

  test('a silence that it hides is unknown until three minutes after it, then listed again and counted', () => {
    const points = [point('a', 12 * MINUTE + 5_000)]
    const just = fleetOf({ points, outages: [outage(2 * MINUTE)] })
    expect(just).toMatchObject([{ state: 'unknown', silenceMs: 2 * MINUTE }])
    expect(prepareNoSignal(just, [], NEAR_MM)).toMatchObject({ rows: [], count: 0, unknown: 1 })
    const known = fleetOf({ points, signals: [silent('a', 12 * MINUTE + 5_000)], outages: [outage(4 * MINUTE)] })
    expect(known).toMatchObject([{ state: 'silent', silenceMs: 4 * MINUTE }])
    expect(prepareNoSignal(known, [], NEAR_MM)).toMatchObject({
      count: 1,
      unknown: 0,
      rows: [{ band: 'episode', durationMs: 4 * MINUTE, hidden: false, outage: { toMs: NOW - 4 * MINUTE } }],
    })
  })

  test('who was silent before it is listed at once, without its time', () => {
    const fleet = fleetOf({ points: [point('a', 20 * MINUTE)], outages: [outage(MINUTE)] })
    expect(fleet).toMatchObject([{ state: 'provisional', silenceMs: 9 * MINUTE }])
    expect(prepareNoSignal(fleet, [], NEAR_MM)).toMatchObject({ count: 1, rows: [{ hidden: false }] })
  })

  test('says nothing of vans that were heard since, nor of those of other partitions', () => {
    const points = [point('a', 2 * MINUTE), point('b', 20 * MINUTE, { partition: 1 })]
    expect(fleetOf({ points, outages: [outage(3 * MINUTE)] })).toMatchObject([
      { state: 'moving', outage: null },
      { state: 'provisional', silenceMs: 20 * MINUTE, outage: null },
    ])
  })

  test('of the whole platform holds for a van whose partition is not known', () => {
    const feed = { ...liveFeed, partitions: [...partitions, { ...partitions[0]!, partition: 1 }] }
    const signals = [silent('a', 13 * MINUTE)]
    const silenceMs = (outages: OutageView[]) => fleetOf({ signals, feed, outages })[0]?.silenceMs
    expect(silenceMs([outage(4 * MINUTE)])).toBe(13 * MINUTE)
    expect(silenceMs([outage(4 * MINUTE), outage(4 * MINUTE, 1)])).toBe(4 * MINUTE)
  })
})

describe('the no-signal list', () => {
  const ack = (van: string, sinceMs: number, atMs: number, note = ''): AcknowledgementView => ({
    van,
    sinceMs,
    atMs,
    note,
    actor: { id: '1', name: 'Marta', roles: [] },
  })

  test('oldest first, in bands at 3 and 15 minutes', () => {
    const fleet = fleetOf({
      points: [point('long', 16 * MINUTE), point('early', 3 * MINUTE), point('episode', 5 * MINUTE), point('fine', 1_000)],
      signals: [silent('long', 16 * MINUTE), silent('episode', 5 * MINUTE)],
    })
    const { rows } = prepareNoSignal(fleet, [], NEAR_MM)
    expect(rows.map((row) => [row.key, row.band, row.durationMs])).toEqual([
      ['long', 'long', 16 * MINUTE],
      ['episode', 'episode', 5 * MINUTE],
      ['early', 'provisional', 3 * MINUTE],
    ])
  })

  test('an acknowledgement holds for this silence and no other', () => {
    const fleet = fleetOf({ points: [point('a', 10 * MINUTE)], signals: [silent('a', 10 * MINUTE)] })
    const last = NOW - 10 * MINUTE
    const held = (acks: AcknowledgementView[]) => prepareNoSignal(fleet, acks, NEAR_MM).rows[0]?.acknowledgement?.note
    expect(held([ack('a', last, NOW - MINUTE, 'this')])).toBe('this')
    expect(held([ack('a', last, NOW - 5 * MINUTE, 'first'), ack('a', last, NOW - MINUTE, 'second')])).toBe('second')
    // Made in the provisional row, before late points moved the beginning.
    expect(held([ack('a', last - MINUTE, NOW - 5 * MINUTE, 'moved')])).toBe('moved')
    expect(held([ack('a', last - 60 * MINUTE, last - 50 * MINUTE, 'an earlier one')])).toBeUndefined()
    expect(held([ack('b', last, NOW, 'another van')])).toBeUndefined()
  })

  test('says how many others near it are silent, and what is known of it', () => {
    const fleet = fleetOf({
      points: [
        point('a', 5 * MINUTE, { batteryPercent: 7, speedMmPerS: 15_000 }),
        point('b', 5 * MINUTE, { lat: 42.0178, speedMmPerS: 500 }),
        point('c', 5 * MINUTE, { lat: 42.0182, speedMmPerS: null }),
        point('heard', 0),
      ],
    })
    const { rows } = prepareNoSignal(fleet, [], NEAR_MM)
    // 0.018 degrees of latitude are 2,001 m.
    expect(rows.map((row) => [row.key, row.near])).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 1],
    ])
    expect(rows.map((row) => lastKnown(row.van))).toEqual([
      { speedKmh: 54, batteryPercent: 7 },
      { speedKmh: null, batteryPercent: null },
      { speedKmh: null, batteryPercent: null },
    ])
  })

  test('not seen today: registered ones only, longest first, never seen last', () => {
    const day = 24 * 60 * MINUTE
    const fleet = fleetOf({
      registered: [registered('never'), registered('yesterday'), registered('monday')],
      points: [point('yesterday', day), point('monday', 6 * day), point('stranger', 2 * day)],
    })
    const { rows, notSeen } = prepareNoSignal(fleet, [], NEAR_MM)
    expect(rows).toEqual([])
    expect(notSeen.map((van) => van.van)).toEqual(['monday', 'yesterday', 'never'])
  })
})

describe('markers', () => {
  test('shape by state; hollow when doubtful; age from 60 s; silent ones on top', () => {
    const markers = prepareMarkers(
      fleetOf({
        registered: [registered('nowhere')],
        points: [
          point('lost', 20 * MINUTE),
          point('old', 61_000),
          point('doubtful', 0, { doubtful: true }),
          point('parked', 0, { motion: 'stopped', headingDegrees: null }),
          point('fresh', 59_000),
          point('turning', 0, { headingDegrees: null }),
        ],
        signals: [silent('lost', 20 * MINUTE)],
      }),
    )
    expect(Object.fromEntries(markers.map((marker) => [marker.van, [marker.icon, marker.age]]))).toEqual({
      lost: ['silent', '20 min'],
      old: ['moving', '1 min'],
      doubtful: ['doubtful-moving', ''],
      parked: ['stopped', ''],
      fresh: ['moving', ''],
      turning: ['moving-unknown', ''],
    })
    expect(markers.at(-1)?.van).toBe('lost')
    expect(markers.map((marker) => marker.level)).toEqual([0, 0, 0, 0, 1, 2])
  })
})

describe('search', () => {
  const fleet = fleetOf({
    registered: [
      registered('furgoneta-3', { plate: '7717 BNK' }),
      registered('furgoneta-30', { depotId: null }),
      registered('furgoneta-13'),
    ],
    points: [point('furgoneta-3', 0, { place: 'Castelló d’Empúries' }), point('èxit', 0, { place: 'Olot' })],
  })
  const names = (query: string) => searchVans(fleet, query).map((van) => van.van)

  test('by name, the exact number first', () => {
    expect(names('3')).toEqual(['furgoneta-3', 'furgoneta-30', 'furgoneta-13'])
    expect(names('furgoneta-13')).toEqual(['furgoneta-13'])
    expect(names('EXIT')).toEqual(['èxit'])
  })

  test('by plate, depot and municipality, every word must fit', () => {
    expect(names('7717bnk')).toEqual(['furgoneta-3'])
    expect(names('base girona')).toEqual(['furgoneta-3', 'furgoneta-13'])
    expect(names('castello')).toEqual(['furgoneta-3'])
    expect(names('castello olot')).toEqual([])
    expect(names('  ')).toEqual([])
  })

  test('is bounded', () => expect(searchVans(fleet, 'furgoneta', 2)).toHaveLength(2))
})

test('eight points of the compass', () => {
  expect([0, 22, 23, 90, 180, 270, 350, 360, -45].map(compassPoint)).toEqual(['N', 'N', 'NE', 'E', 'S', 'W', 'N', 'N', 'NW'])
})
