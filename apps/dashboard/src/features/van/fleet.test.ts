import type { AcknowledgementView, FeedView, PanelPoint, PanelSnapshot, RegisteredVan, SignalView } from '@km0/contracts'
import { describe, expect, test } from 'vitest'
import { modelOf } from '../feed/panel-model.ts'
import type { FeedStatus } from '../feed/prepare-feed.ts'
import { prepareMarkers } from '../map/prepare-markers.ts'
import { prepareNoSignal } from '../no-signal/prepare-no-signal.ts'
import { searchVans } from '../search/prepare-search.ts'
import { prepareCounters } from '../shell/prepare-counters.ts'
import { compassPoint } from './compass.ts'
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
const liveFeed: FeedView = { state: 'live', noDataSinceMs: null, partitions }
const LIVE: FeedStatus = { kind: 'live', sinceMs: null, newestPointAgeMs: 0 }

function fleetOf(parts: Partial<PanelSnapshot>, feed: FeedStatus = LIVE, nowMs = NOW): Van[] {
  const depots = [{ id: 'girona', name: 'Base de Girona', lat: 42, lon: 2.8, markets: [], shiftStart: null, shiftEnd: null }]
  const empty = { depots, registered: [], points: [], signals: [], distances: [], acknowledgements: [] }
  return prepareFleet(modelOf({ sequence: 1, clock: 'machine', nowMs, feed: liveFeed, ...empty, ...parts }, 0), feed, nowMs)
}
const stateOf = (parts: Partial<PanelSnapshot>, feed?: FeedStatus, nowMs?: number) =>
  fleetOf(parts, feed, nowMs).map((van) => [van.van, van.state])

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
    expect(stateOf({ points: [lost] }, LIVE, midnight)).toEqual([['a', 'provisional']])
    expect(stateOf({ points: [lost] }, LIVE, midnight + 40 * MINUTE)).toEqual([['a', 'not-seen']])
  })

  test('vans out of service are not listed unless they are heard', () => {
    const out = [
      registered('gone', { inServiceToMs: NOW }),
      registered('future', { inServiceFromMs: NOW + 1 }),
      registered('in', { inServiceFromMs: NOW }),
    ]
    expect(fleetOf({ registered: out }).map((van) => van.van)).toEqual(['in'])
    expect(fleetOf({ registered: out, points: [point('gone', 1_000)] }).map((van) => van.van)).toEqual(['gone', 'in'])
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
  const vans = { points: Array.from({ length: 140 }, (_, n) => point(`v${n}`, 10 * MINUTE)) }

  test('is not 140 silent vans', () => {
    const stale: FeedStatus = { kind: 'stale', sinceMs: NOW - 10 * MINUTE, newestPointAgeMs: 0 }
    const lost: FeedStatus = { ...stale, kind: 'lost' }
    expect(prepareCounters(fleetOf(vans)).noSignal).toBe(140)
    expect(prepareCounters(fleetOf(vans, stale))).toEqual({ moving: 140, stopped: 0, noSignal: 0 })
    expect(prepareCounters(fleetOf(vans, lost)).noSignal).toBe(0)
    expect(prepareCounters(fleetOf(vans, { kind: 'none', sinceMs: null, newestPointAgeMs: null })).noSignal).toBe(0)
  })

  test('keeps who was silent before it, at the duration of then', () => {
    const stale: FeedStatus = { kind: 'stale', sinceMs: NOW - 10 * MINUTE, newestPointAgeMs: 0 }
    const [van] = fleetOf({ points: [point('a', 14 * MINUTE)] }, stale)
    expect(van).toMatchObject({ state: 'provisional', silenceMs: 4 * MINUTE })
  })

  test('of one partition hides only its vans', () => {
    const feed: FeedView = {
      ...liveFeed,
      partitions: [...partitions, { ...partitions[0]!, partition: 1, newestHeartbeatMs: NOW - 10 * MINUTE }],
    }
    const points = [point('a', 10 * MINUTE), point('b', 10 * MINUTE, { partition: 1 })]
    expect(stateOf({ points, feed })).toEqual([
      ['a', 'provisional'],
      ['b', 'moving'],
    ])
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
    const { rows } = prepareNoSignal(fleet, [])
    expect(rows.map((row) => [row.key, row.band, row.durationMs])).toEqual([
      ['long', 'long', 16 * MINUTE],
      ['episode', 'episode', 5 * MINUTE],
      ['early', 'provisional', 3 * MINUTE],
    ])
  })

  test('an acknowledgement holds for this silence and no other', () => {
    const fleet = fleetOf({ points: [point('a', 10 * MINUTE)], signals: [silent('a', 10 * MINUTE)] })
    const last = NOW - 10 * MINUTE
    const held = (acks: AcknowledgementView[]) => prepareNoSignal(fleet, acks).rows[0]?.acknowledgement?.note
    expect(held([ack('a', last, NOW - MINUTE, 'this')])).toBe('this')
    expect(held([ack('a', last, NOW - 5 * MINUTE, 'first'), ack('a', last, NOW - MINUTE, 'second')])).toBe('second')
    // Made in the provisional row, before late points moved the beginning.
    expect(held([ack('a', last - MINUTE, NOW - 5 * MINUTE, 'moved')])).toBe('moved')
    expect(held([ack('a', last - 60 * MINUTE, last - 50 * MINUTE, 'an earlier one')])).toBeUndefined()
    expect(held([ack('b', last, NOW, 'another van')])).toBeUndefined()
  })

  test('not seen today: registered ones only, longest first, never seen last', () => {
    const day = 24 * 60 * MINUTE
    const fleet = fleetOf({
      registered: [registered('never'), registered('yesterday'), registered('monday')],
      points: [point('yesterday', day), point('monday', 6 * day), point('stranger', 2 * day)],
    })
    const { rows, notSeen } = prepareNoSignal(fleet, [])
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
