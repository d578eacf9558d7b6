import {
  type Depot,
  type DistanceValue,
  EVERYTHING,
  type LiveValue,
  type RegisteredVan,
  type Scope,
  type SourcePosition,
} from '@km0/contracts'
import { beforeEach, describe, expect, test } from 'vitest'
import { DISTANCES_KEPT_MS } from './distance-book.ts'
import type { PanelEvent } from './panel-events.ts'
import { PanelState } from './panel-state.ts'

const NOW = 1_789_380_000_000
const at = (offset: number, epoch = 1): SourcePosition => ({ epoch, partition: 3, offset })

const point = (van: string, eventMs: number, source: SourcePosition | null = at(1), over: Partial<LiveValue> = {}): PanelEvent => ({
  kind: 'point',
  source,
  value: {
    repartidor: van,
    lat: 41.98,
    lon: 2.82,
    data_ms: eventMs,
    arribada_ms: eventMs + 900,
    velocitat_mm_s: 9_000,
    rumb_graus: 45,
    dubtos: false,
    estat: 'en-moviment',
    ...over,
  },
})
const signal = (van: string, estat: 'amb-senyal' | 'sense-senyal', sinceMs: number, source: SourcePosition | null): PanelEvent => ({
  kind: 'signal',
  source,
  value: { tipus: 'senyal', repartidor: van, estat, des_de_ms: sinceMs },
})
const distance = (
  van: string,
  endMs: number,
  mm: number,
  source: SourcePosition | null,
  over: Partial<DistanceValue> = {},
): PanelEvent => ({
  kind: 'distance',
  source,
  value: {
    tipus: 'distancia',
    repartidor: van,
    inici_ms: endMs - 300_000,
    fi_ms: endMs,
    distancia_mm: mm,
    posicions: 60,
    salts: 0,
    desplacament_mm: mm,
    ...over,
  },
})
const mark = (
  partition: number,
  offset: number,
  heartbeatMs: number | null,
  recordMs: number | null = heartbeatMs,
  epoch = 1,
): PanelEvent => ({
  kind: 'mark',
  value: {
    particio: partition,
    offset,
    marca_aigua_ms: null,
    progres_ms: null,
    darrer_batec_ms: heartbeatMs,
    darrer_registre_ms: recordMs,
    epoca: epoch,
  },
})
const depot = (id: string, markets: string[] = []): Depot => ({
  id,
  name: id,
  lat: 42,
  lon: 2.8,
  markets,
  shiftStart: null,
  shiftEnd: null,
})
const registered = (van: string, depotId: string | null): RegisteredVan => ({
  van,
  name: van,
  plate: null,
  depotId,
  inServiceFromMs: null,
  inServiceToMs: null,
})

let state: PanelState
beforeEach(() => {
  state = new PanelState({ clock: 'machine', placeOf: (lat) => (lat > 42 ? 'Figueres' : 'Girona') })
})

describe('points', () => {
  test('move forward by event time only', () => {
    expect(state.apply(point('a', NOW))).toBe(true)
    expect(state.apply(point('a', NOW - 1, at(9), { lat: 43 }))).toBe(false)
    expect(state.apply(point('a', NOW + 5_000, at(2), { lat: 42.27 }))).toBe(true)
    const [seen] = state.snapshot(EVERYTHING, NOW).points
    expect(seen).toMatchObject({
      van: 'a',
      eventMs: NOW + 5_000,
      lat: 42.27,
      place: 'Figueres',
      partition: 3,
      motion: 'moving',
      depotId: null,
    })
  })

  test('of the same event time the later record wins, and says that a doubt is gone', () => {
    state.apply(point('a', NOW, at(5), { dubtos: true }))
    expect(state.apply(point('a', NOW, at(5), { dubtos: false }))).toBe(false)
    expect(state.apply(point('a', NOW, at(4), { dubtos: false }))).toBe(false)
    expect(state.apply(point('a', NOW, at(6), { dubtos: false }))).toBe(true)
    expect(state.snapshot(EVERYTHING, NOW).points[0]?.doubtful).toBe(false)
  })

  test('a second reading of the topic changes nothing', () => {
    const events = [
      point('a', NOW, at(1)),
      point('a', NOW + 1_000, at(2)),
      signal('a', 'sense-senyal', NOW, at(3)),
      distance('a', NOW, 5, at(4)),
    ]
    for (const event of events) state.apply(event)
    const before = state.snapshot(EVERYTHING, NOW)
    expect(events.map((event) => state.apply(event))).toEqual([false, false, false, false])
    expect(state.snapshot(EVERYTHING, NOW)).toEqual(before)
  })
})

describe('signal states', () => {
  test('move forward by epoch, then offset', () => {
    state.apply(signal('a', 'sense-senyal', NOW, at(10)))
    expect(state.apply(signal('a', 'amb-senyal', NOW + 1, at(9)))).toBe(false)
    expect(state.apply(signal('a', 'amb-senyal', NOW + 1, at(2, 2)))).toBe(true)
    expect(state.apply(signal('a', 'sense-senyal', NOW, at(99, 1)))).toBe(false)
    expect(state.snapshot(EVERYTHING, NOW).signals).toEqual([{ van: 'a', depotId: null, state: 'signal', sinceMs: NOW + 1 }])
  })

  test('the log wins over what was stored without its place', () => {
    state.apply(signal('a', 'sense-senyal', NOW, null))
    expect(state.apply(signal('a', 'amb-senyal', NOW + 1, at(0)))).toBe(true)
    expect(state.apply(signal('a', 'sense-senyal', NOW, null))).toBe(false)
  })
})

describe('distances', () => {
  test('move forward by revision, then place in the log', () => {
    state.apply(distance('a', NOW, 100, at(10), { revisio: 1 }))
    expect(state.apply(distance('a', NOW, 50, at(20)))).toBe(false)
    expect(state.apply(distance('a', NOW, 60, at(9), { revisio: 1 }))).toBe(false)
    expect(state.apply(distance('a', NOW, 150, at(30), { revisio: 2 }))).toBe(true)
    expect(state.snapshot(EVERYTHING, NOW).distances).toMatchObject([{ distanceMm: 150, revision: 2 }])
  })

  test('are kept for 35 minutes before the newest window', () => {
    for (let minute = 0; minute <= 60; minute += 1) state.apply(distance('a', NOW + minute * 60_000, 1, at(minute)))
    const ends = state.snapshot(EVERYTHING, NOW).distances.map((row) => row.windowEndMs)
    expect(Math.min(...ends)).toBe(NOW + 60 * 60_000 - DISTANCES_KEPT_MS)
    expect(ends).toHaveLength(36)
    expect(state.apply(distance('b', NOW, 1, at(99)))).toBe(false)
  })

  test('a van whose windows are all too old is forgotten', () => {
    state.apply(distance('a', NOW, 1, at(1)))
    state.apply(distance('b', NOW + 40 * 60_000, 1, at(2)))
    expect(state.snapshot(EVERYTHING, NOW).distances.map((row) => row.van)).toEqual(['b'])
  })
})

describe('feed and clock', () => {
  test('none before the first heartbeat, live with it, stale 60 s after it', () => {
    expect(state.feed(NOW).state).toBe('none')
    state.apply(mark(0, 1, null, NOW))
    expect(state.feed(NOW).state).toBe('none')
    state.apply(mark(0, 2, NOW))
    expect(state.feed(NOW + 60_000)).toMatchObject({ state: 'live', noDataSinceMs: null })
    expect(state.feed(NOW + 60_001)).toMatchObject({ state: 'stale', noDataSinceMs: NOW })
  })

  test('marks do not go back; a newer epoch may begin at a smaller offset', () => {
    state.apply(mark(0, 10, NOW))
    expect(state.apply(mark(0, 9, NOW + 5))).toBe(false)
    expect(state.apply(mark(0, 3, NOW + 9, NOW + 9, 2))).toBe(true)
    expect(state.feed(NOW + 9).partitions[0]?.newestHeartbeatMs).toBe(NOW + 9)
  })

  test('outages that are over go out once, and are in every snapshot', () => {
    const value = { tipus: 'tall', particio: 2, inici_ms: NOW, fi_ms: NOW + 90_000, causa: 'broker', epoca: 1, offset: 7 } as const
    const views = [{ partition: 2, fromMs: NOW, toMs: NOW + 90_000, cause: 'broker' }]
    expect(state.apply({ kind: 'outage', value })).toBe(true)
    expect(state.apply({ kind: 'outage', value })).toBe(false)
    expect(state.snapshot(EVERYTHING, NOW).outages).toEqual(views)
    expect(state.deltaFor(EVERYTHING, state.takeChanges(NOW)).outages).toEqual(views)
    expect(state.deltaFor(EVERYTHING, state.takeChanges(NOW))).not.toHaveProperty('outages')
  })

  test('the cause of an outage is asked for where there is one', () => {
    state.explainWith((partitions, whole) => (whole ? 'bridge' : partitions[0] === 1 ? 'partition' : 'unknown'))
    state.apply(mark(0, 1, NOW))
    state.apply(mark(1, 1, NOW - 61_000))
    expect(state.feed(NOW).trouble).toEqual({ cause: 'partition', sinceMs: NOW - 61_000, partitions: [1] })
    expect(state.feed(NOW + 61_000).trouble).toEqual({ cause: 'bridge', sinceMs: NOW, partitions: null })
  })

  test('in play mode now is the newest record that a mark told, until it meets the machine', () => {
    const play = new PanelState({ clock: 'play', placeOf: () => null })
    const later = NOW + 3_600_000
    expect(play.nowMs(later)).toBe(later)
    play.apply(mark(0, 1, NOW, NOW + 3_000))
    play.apply(mark(1, 1, NOW, NOW + 1_000))
    expect(play.nowMs(later)).toBe(NOW + 3_000)
    expect(play.snapshot(EVERYTHING, later)).toMatchObject({ clock: 'play', nowMs: NOW + 3_000, feed: { state: 'live' } })
    play.takeChanges(later)
    play.apply(mark(0, 2, later - 5_000, later - 5_000))
    // Browsers are told by a snapshot, and a feed that stops from here on does not stop the clock.
    expect(play.takeChanges(later)).toMatchObject({ nowMs: later, everything: true })
    expect(play.snapshot(EVERYTHING, later + 600_000)).toMatchObject({ clock: 'machine', nowMs: later + 600_000, feed: { state: 'stale' } })
  })
})

describe('changes', () => {
  test('hold what changed since the last ones, once, newest only', () => {
    state.apply(point('a', NOW, at(1)))
    state.apply(point('a', NOW + 1_000, at(2)))
    state.apply(mark(0, 1, NOW))
    const first = state.deltaFor(EVERYTHING, state.takeChanges(NOW))
    expect(first).toMatchObject({ sequence: 1, nowMs: NOW, feed: { state: 'live' } })
    expect(first.points?.map((one) => one.eventMs)).toEqual([NOW + 1_000])
    expect(state.deltaFor(EVERYTHING, state.takeChanges(NOW + 1_000))).toEqual({ sequence: 2, nowMs: NOW + 1_000 })
  })

  test('a feed that goes stale by time alone is a change', () => {
    state.apply(mark(0, 1, NOW))
    state.takeChanges(NOW)
    expect(state.takeChanges(NOW + 70_000).feed).toMatchObject({ state: 'stale' })
  })

  test('a snapshot and the deltas after it give what a later snapshot gives', () => {
    state.apply(point('a', NOW, at(1)))
    const { sequence } = state.snapshot(EVERYTHING, NOW)
    const changes = state.takeChanges(NOW)
    expect(changes.sequence).toBe(sequence + 1)
    expect(state.snapshot(EVERYTHING, NOW).sequence).toBe(changes.sequence)
  })

  test('a changed register means a new snapshot; the same register read again means nothing', () => {
    const event: PanelEvent = { kind: 'register', depots: [depot('girona')], registered: [registered('a', 'girona')] }
    expect(state.apply(event)).toBe(true)
    expect(state.takeChanges(NOW).everything).toBe(true)
    expect(state.apply(structuredClone(event))).toBe(false)
    expect(state.takeChanges(NOW).everything).toBe(false)
  })

  test('an acknowledgement is told once', () => {
    const view = { van: 'a', sinceMs: NOW, atMs: NOW + 1, note: 'x', actor: { id: '1', name: 'M', roles: [] } }
    expect(state.apply({ kind: 'acknowledgement', view })).toBe(true)
    expect(state.apply({ kind: 'acknowledgement', view: { ...view } })).toBe(false)
    expect(state.deltaFor(EVERYTHING, state.takeChanges(NOW)).acknowledgements).toEqual([view])
    expect(state.snapshot(EVERYTHING, NOW).acknowledgements).toEqual([view])
  })
})

describe('scopes', () => {
  const limited: Scope = { kind: 'limited', depots: ['girona'], markets: ['olot'] }
  beforeEach(() => {
    state.apply({
      kind: 'register',
      depots: [depot('girona'), depot('garrotxa', ['olot']), depot('blanes', ['lloret'])],
      registered: [registered('a', 'girona'), registered('b', 'garrotxa'), registered('c', 'blanes')],
    })
    for (const [n, van] of ['a', 'b', 'c', 'stranger'].entries()) {
      state.apply(point(van, NOW, at(n)))
      state.apply(signal(van, 'sense-senyal', NOW, at(10 + n)))
      state.apply(distance(van, NOW, 5, at(20 + n)))
      state.apply({ kind: 'acknowledgement', view: { van, sinceMs: NOW, atMs: NOW, note: '', actor: { id: '1', name: 'M', roles: [] } } })
    }
  })

  test('a limited one sees the vans of its depots and markets, in every part, and no stranger', () => {
    const seen = state.snapshot(limited, NOW)
    for (const part of [seen.points, seen.signals, seen.distances, seen.acknowledgements, seen.registered]) {
      expect(part.map((one) => one.van)).toEqual(['a', 'b'])
    }
    expect(seen.depots.map((one) => one.id)).toEqual(['girona', 'garrotxa'])
    expect(state.trail(limited, 'a')?.points).toHaveLength(1)
    expect(state.trail(limited, 'c')).toBeNull()
    expect(state.trail(limited, 'stranger')).toBeNull()
  })

  test('deltas keep to it too', () => {
    const changes = state.takeChanges(NOW)
    const delta = state.deltaFor(limited, changes)
    for (const part of [delta.points, delta.signals, delta.distances, delta.acknowledgements])
      expect(part?.map((one) => one.van)).toEqual(['a', 'b'])
    expect(state.deltaFor(EVERYTHING, changes).points).toHaveLength(4)
  })
})
