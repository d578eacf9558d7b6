import type { PanelPoint, RecentPoint, TrailPoint } from '@km0/contracts'
import { type StyleSpecification, validateStyleMin } from '@maplibre/maplibre-gl-style-spec'
import { describe, expect, test } from 'vitest'
import type { Move } from '../feed/batch-feed.ts'
import { HOME_PLACE } from '../shell/place.ts'
import type { Van } from '../van/prepare-fleet.ts'
import { zoneFeatures } from './map-lines.ts'
import { GLIDE_MS, Motion } from './motion.ts'
import { labelLayers, lineLayers, overlaySources } from './overlay.ts'
import { countStates, depotsOf, isShown, toggled } from './prepare-filter.ts'
import { GROUP_BELOW_ZOOM, GROUP_MIN_VANS, prepareGroups } from './prepare-groups.ts'
import { LABELS_MAX, type LabelView, NAMES_FROM_ZOOM, prepareLabels } from './prepare-labels.ts'
import type { Marker } from './prepare-markers.ts'
import { backlogOf, countPoints, extendTrail, mapPoints, trailPieces } from './prepare-trail.ts'
import { basemapStyle } from './style.ts'

const marker = (van: string, lon: number, lat = 42, eventMs = 0): Marker => ({
  van,
  lon,
  lat,
  eventMs,
  icon: 'moving',
  headingDegrees: 0,
  label: van,
  age: '',
  level: 0,
})
const lonOf = (motion: Motion, nowMs: number) => motion.frame(nowMs).markers[0]?.lon

describe('motion', () => {
  test('glides to the new place and stops there, never beyond', () => {
    const motion = new Motion()
    expect(motion.setMarkers([marker('a', 2.8)], 0, 0)).toBe(false)
    expect(motion.setMarkers([marker('a', 2.801)], 1_000, 0)).toBe(true)
    expect(lonOf(motion, 1_000)).toBe(2.8)
    const half = lonOf(motion, 1_000 + GLIDE_MS / 2) as number
    expect(half).toBeGreaterThan(2.8)
    expect(half).toBeLessThan(2.801)
    expect(motion.frame(1_000 + GLIDE_MS)).toEqual({ markers: [marker('a', 2.801)], moving: false })
  })

  test('a new place on the way goes on from where it is drawn', () => {
    const motion = new Motion()
    motion.setMarkers([marker('a', 2.8)], 0, 0)
    motion.setMarkers([marker('a', 2.801)], 0, 0)
    const drawn = lonOf(motion, 300) as number
    motion.setMarkers([marker('a', 2.802)], 300, 0)
    expect(lonOf(motion, 300)).toBeCloseTo(drawn, 9)
    expect(lonOf(motion, 300 + GLIDE_MS)).toBe(2.802)
  })

  test('a jump of kilometres, and who wants no motion, is put in place at once', () => {
    const motion = new Motion()
    motion.setMarkers([marker('a', 2.8)], 0, 0)
    expect(motion.setMarkers([marker('a', 3.2)], 0, 0)).toBe(false)
    expect(lonOf(motion, 0)).toBe(3.2)
    expect(motion.setMarkers([marker('a', 3.201)], 0, Number.POSITIVE_INFINITY)).toBe(false)
    expect(lonOf(motion, 0)).toBe(3.201)
  })

  test('a step of less than a pixel is not worth a frame', () => {
    const motion = new Motion()
    motion.setMarkers([marker('a', 2.8)], 0, 0)
    expect(motion.setMarkers([marker('a', 2.8005)], 0, 0.1)).toBe(false)
    expect(lonOf(motion, 0)).toBe(2.8005)
    expect(motion.setMarkers([marker('a', 2.804)], 0, 0.1)).toBe(true)
  })

  test('a thousand rounds of 140 vans leave nothing behind', () => {
    const motion = new Motion()
    for (let round = 0; round < 1_000; round += 1) {
      motion.setMarkers(
        Array.from({ length: 140 }, (_, n) => marker(`v${n}`, 2.8 + round * 0.0001)),
        round * 1_000,
        0,
      )
    }
    expect(motion.frame(1_000_000)).toMatchObject({ moving: false })
    expect(motion.frame(1_000_000).markers).toHaveLength(140)
    expect(motion.setMarkers([], 1_000_000, 0)).toBe(false)
    expect(motion.frame(1_000_001)).toEqual({ markers: [], moving: false })
  })
})

describe('the trail', () => {
  const point = (eventMs: number) => ({ van: 'a', lon: 2.8, lat: 42, eventMs }) as PanelPoint
  const trail = { van: 'a', points: [[2.7, 42, 0] as const, [2.75, 42, 60_000] as const] }

  test('grows by newer points and drops what is older than 15 minutes', () => {
    expect(extendTrail(trail, point(120_000)).points).toHaveLength(3)
    expect(extendTrail(trail, point(16 * 60_000)).points.map(([, , ms]) => ms)).toEqual([60_000, 16 * 60_000])
  })

  test('stays the same object when the point is no news', () => {
    expect(extendTrail(trail, point(60_000))).toBe(trail)
    expect(extendTrail(trail, point(1))).toBe(trail)
  })
})

describe('moves between two seconds', () => {
  const move = (van: string, lon: number, eventMs: number, more: Partial<Move> = {}): Move => ({
    ...{ van, lon, lat: 42, eventMs, headingDegrees: 90, doubtful: false, motion: 'moving' },
    ...more,
  })

  test('put a marker where the van is, as what it is now', () => {
    const motion = new Motion()
    motion.setMarkers([{ ...marker('a', 2.8, 42, 100), icon: 'silent', level: 2, age: '4 min' }], 0, Number.POSITIVE_INFINITY)
    motion.move([move('a', 2.9, 200, { doubtful: true })], 0, Number.POSITIVE_INFINITY, 0.1)
    expect(motion.frame(0).markers).toMatchObject([
      { lon: 2.9, icon: 'doubtful-moving', level: 0, age: '', headingDegrees: 90, eventMs: 200 },
    ])
  })

  test('never move a marker back: neither an older move does, nor markers of before', () => {
    const motion = new Motion()
    motion.setMarkers([marker('a', 2.8, 42, 100)], 0, Number.POSITIVE_INFINITY)
    motion.move([move('a', 2.9, 200)], 0, Number.POSITIVE_INFINITY, 0.1)
    motion.move([move('a', 2.7, 150)], 0, Number.POSITIVE_INFINITY, 0.1)
    motion.setMarkers([marker('a', 2.85, 42, 150)], 0, Number.POSITIVE_INFINITY)
    expect(motion.frame(0).markers[0]).toMatchObject({ lon: 2.9, eventMs: 200 })
    motion.setMarkers([marker('a', 2.95, 42, 300)], 0, Number.POSITIVE_INFINITY)
    expect(motion.frame(0).markers[0]).toMatchObject({ lon: 2.95, eventMs: 300 })
  })

  test('of a van that has no marker wait for the next second, and a new snapshot is taken at its word', () => {
    const motion = new Motion()
    motion.setMarkers([marker('a', 2.8, 42, 100)], 0, Number.POSITIVE_INFINITY)
    motion.move([move('b', 2.9, 200), move('a', 2.9, 200)], 0, Number.POSITIVE_INFINITY, 0.1)
    expect(motion.frame(0).markers).toHaveLength(1)
    motion.forget()
    motion.setMarkers([marker('a', 2.1, 42, 50)], 0, Number.POSITIVE_INFINITY)
    expect(motion.frame(0).markers[0]?.lon).toBe(2.1)
  })

  test('are worth a frame of their own when somebody would see them', () => {
    const motion = new Motion()
    const seen = (moves: readonly Move[]) => motion.move(moves, 0, Number.POSITIVE_INFINITY, 0.1).seen
    motion.setMarkers([marker('a', 2.8, 42, 100)], 0, Number.POSITIVE_INFINITY)
    // 41 m where a pixel is 100; then 830.
    expect(seen([move('a', 2.8005, 200)])).toBe(false)
    expect(seen([move('a', 2.8105, 300)])).toBe(true)
    expect(seen([move('a', 2.8105, 400, { motion: 'stopped' })])).toBe(true)
    expect(seen([move('a', 2.8105, 500, { motion: 'stopped' }), move('nobody', 2.9, 500)])).toBe(false)
  })

  test('glide like any other step', () => {
    const motion = new Motion()
    motion.setMarkers([marker('a', 2.8, 42, 100)], 0, 0)
    expect(motion.move([move('a', 2.801, 200)], 0, 0, 0.01)).toEqual({ moving: true, seen: true })
    expect(motion.targets[0]?.lon).toBe(2.801)
    expect(motion.frame(0).markers[0]?.lon).toBe(2.8)
    expect(motion.frame(GLIDE_MS).markers[0]?.lon).toBe(2.801)
  })
})

describe('groups', () => {
  const many = (count: number, more: Partial<Marker> = {}) =>
    Array.from({ length: count }, (_, n) => ({ ...marker(`v${n}`, 2.8), ...more }))

  test('stand for vans too dense to be seen, in their middle, with how many of them move', () => {
    const vans = [
      ...many(GROUP_MIN_VANS - 2),
      { ...marker('s1', 2.8002), icon: 'stopped' as const },
      { ...marker('s2', 2.8002), icon: 'stopped' as const },
    ]
    const { groups, grouped } = prepareGroups(vans, 8, null)
    expect(groups).toMatchObject([{ count: GROUP_MIN_VANS, moving: GROUP_MIN_VANS - 2, lat: 42 }])
    expect(groups[0]?.lon).toBeCloseTo(2.80005, 6)
    expect(grouped.size).toBe(GROUP_MIN_VANS)
    expect(prepareGroups(many(GROUP_MIN_VANS - 1), 8, null).groups).toEqual([])
    expect(prepareGroups(many(100), GROUP_BELOW_ZOOM, null).groups).toEqual([])
  })

  test('never hide who needs somebody: without signal, doubtful, selected', () => {
    const silent = { ...marker('silent', 2.8), icon: 'silent' as const, level: 2 as const }
    const doubtful = { ...marker('doubtful', 2.8), icon: 'doubtful-moving' as const }
    const { grouped } = prepareGroups([...many(50), silent, doubtful], 8, 'v3')
    expect(grouped.size).toBe(49)
    for (const van of ['silent', 'doubtful', 'v3']) expect(grouped.has(van)).toBe(false)
  })

  test('hold every van once, and none is lost', () => {
    const vans = Array.from({ length: 5_000 }, (_, n) => marker(`v${n}`, 2 + (n % 97) / 70, 41.7 + (n % 89) / 130))
    const { groups, grouped } = prepareGroups(vans, 8.3, null)
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(grouped.size)
    expect(grouped.size).toBeLessThanOrEqual(vans.length)
    expect(groups.length).toBeGreaterThan(20)
  })
})

describe('labels', () => {
  const view: LabelView = { selected: null, hovered: null, zoom: 8, isInView: (lon) => lon < 3 }
  const kinds = (markers: readonly Marker[], more: Partial<LabelView> = {}) =>
    prepareLabels(markers, { ...view, ...more }).map(({ van, kind }) => [van, kind])
  const old = { ...marker('old', 2.8), level: 1 as const }
  const silent = { ...marker('silent', 2.8), level: 2 as const }

  test('are of those that need somebody, and of the one that is looked at', () => {
    expect(kinds([marker('a', 2.8), old, silent, marker('b', 2.8), marker('c', 2.8)], { selected: 'a', hovered: 'b' })).toEqual([
      ['a', 'selected'],
      ['old', 'old'],
      ['silent', 'silent'],
      ['b', 'hovered'],
    ])
  })

  test('are names from near, of what is in view, and never more than can be read', () => {
    expect(kinds([marker('a', 2.8), marker('far', 3.5)], { zoom: NAMES_FROM_ZOOM })).toEqual([['a', 'name']])
    const many = Array.from({ length: 10_000 }, (_, n) => marker(`v${n}`, 2.8))
    expect(kinds(many, { zoom: 12, selected: 'v9999' })).toHaveLength(LABELS_MAX + 1)
    // The selected one is told wherever it is.
    expect(kinds([marker('far', 3.5)], { selected: 'far' })).toEqual([['far', 'selected']])
  })
})

describe('ways', () => {
  const at = (...minutes: number[]) => minutes.map((minute): TrailPoint => [2.8, 42, minute * 60_000])
  const arrived = (minute: number, lateMinutes = 0, more: Partial<RecentPoint> = {}): RecentPoint => ({
    ...{ lon: 2.8, lat: 42, eventMs: minute * 60_000, arrivalMs: (minute + lateMinutes) * 60_000, verdict: 'accepted', reason: null },
    ...more,
  })
  const minutes = (lines: readonly (readonly TrailPoint[])[]) => lines.map((line) => line.map(([, , ms]) => ms / 60_000))

  test('are not joined where nothing is known for long', () => {
    expect(minutes(trailPieces(at(0, 1, 2, 7, 8)))).toEqual([
      [0, 1, 2],
      [7, 8],
    ])
    expect(trailPieces([])).toEqual([])
  })

  test('what came late is a stretch of its own, joined to what was known before and after', () => {
    const points = [arrived(0), arrived(1), arrived(2, 9), arrived(3, 8), arrived(4, 7, { verdict: 'late' }), arrived(5), arrived(6)]
    expect(minutes(backlogOf(points))).toEqual([[1, 2, 3, 4, 5]])
    expect(backlogOf([arrived(0), arrived(1)])).toEqual([])
    // Refused points, and those that name no place, are on no way.
    expect(minutes(backlogOf([arrived(0), arrived(1, 9, { verdict: 'refused' }), arrived(2, 9, { lon: null }), arrived(1.5)]))).toEqual([])
  })

  test('single points are drawn where they have a place, and counted all', () => {
    const points = [arrived(0), arrived(1, 9, { verdict: 'late' }), arrived(2, 0, { verdict: 'refused', lon: null, lat: null })]
    expect(mapPoints(points).map(({ verdict }) => verdict)).toEqual(['accepted', 'late'])
    expect(countPoints(points)).toEqual({ accepted: 1, late: 1, refused: 1, nowhere: 1 })
  })
})

describe('the filter', () => {
  const van = (state: Van['state'], depotId: string | null) => ({ state, depotId, depotName: depotId, point: {} }) as Van

  test('leaves out states and other depots', () => {
    const place = { ...HOME_PLACE, hidden: ['stopped' as const], depot: 'olot' }
    expect(isShown(van('moving', 'olot'), place)).toBe(true)
    expect(isShown(van('stopped', 'olot'), place)).toBe(false)
    expect(isShown(van('moving', 'girona'), place)).toBe(false)
    expect(isShown(van('moving', null), HOME_PLACE)).toBe(true)
  })

  test('counts what it would show, and switches', () => {
    const fleet = [van('moving', 'olot'), van('moving', 'girona'), van('silent', 'olot'), van('unheard', 'olot')]
    expect(countStates(fleet, 'olot')).toMatchObject({ moving: 1, silent: 1, stopped: 0 })
    expect(countStates(fleet, null)).toMatchObject({ moving: 2 })
    expect(depotsOf(fleet).map(({ id }) => id)).toEqual(['girona', 'olot'])
    expect(toggled(toggled([], 'a'), 'b')).toEqual(['a', 'b'])
    expect(toggled(['a', 'b'], 'a')).toEqual(['b'])
  })
})

test('a zone is drawn as it is and named once, in its middle, however many parts it has', () => {
  const box = (lon: number) => [
    [lon, 41],
    [lon + 1, 41],
    [lon + 1, 42],
    [lon, 41],
  ]
  const geometry = { type: 'MultiPolygon' as const, coordinates: [[box(1)], [box(3)]] }
  const zone = { type: 'Feature' as const, properties: { market: 'lleo', name: 'Lleó' }, geometry }
  expect(zoneFeatures([zone]).features).toEqual([
    zone,
    { type: 'Feature', properties: { name: 'Lleó' }, geometry: { type: 'Point', coordinates: [2.5, 41.5] } },
  ])
})

describe('what the panel adds to a style', () => {
  const colors = {
    text: '#000000',
    halo: '#000000',
    accent: '#000000',
    silent: '#000000',
    soft: '#000000',
    moving: '#000000',
    surface: '#000000',
  }
  const layers = [...lineLayers(colors, 1), ...labelLayers(colors, 1)]

  test('has names of its own, and every layer a source', () => {
    const base = basemapStyle('dark', 'http://panel', 1)
    const sources = Object.keys(overlaySources())
    for (const name of [...sources, ...layers.map(({ id }) => id)]) {
      expect(name).toMatch(/^km0-/)
      expect(Object.keys(base.sources)).not.toContain(name)
    }
    for (const layer of layers) expect(sources).toContain('source' in layer ? layer.source : '')
    expect(new Set(layers.map(({ id }) => id)).size).toBe(layers.length)
  })

  test('is a style that the library takes', () => {
    const style = { ...basemapStyle('dark', 'http://panel', 1), glyphs: 'http://panel/{fontstack}/{range}.pbf' }
    const sources = { ...style.sources, ...overlaySources() }
    const found = validateStyleMin({ ...style, sources, layers: [...style.layers, ...layers] } as StyleSpecification)
    expect(found.map(({ message }) => message).filter((message) => !message.includes('font-faces'))).toEqual([])
  })
})
