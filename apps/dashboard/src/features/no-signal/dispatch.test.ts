import {
  type AcknowledgementView,
  DEFAULT_PANEL_LIMITS,
  type Depot,
  type DispatchView,
  EMPTY_DISPATCH,
  type MuteView,
  type PanelPoint,
  type RegisteredVan,
  type SilenceEpisode,
} from '@km0/contracts'
import { metresBetween } from '@km0/contracts/metres-between'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { modelOf } from '../feed/panel-model.ts'
import { prepareFeed } from '../feed/prepare-feed.ts'
import { prepareCounters } from '../shell/prepare-counters.ts'
import { prepareFleet } from '../van/prepare-fleet.ts'
import { muteChoices } from './prepare-mute.ts'
import { type NoSignalRow, prepareNoSignal } from './prepare-no-signal.ts'
import { prepareNotices, type Told } from './prepare-notices.ts'

/** Monday, 12:00 in Madrid. */
const NOW = Date.UTC(2026, 10, 30, 11, 0, 0)
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const depot = (id: string, over: Partial<Depot> = {}): Depot => ({
  id,
  name: `Base ${id}`,
  lat: 41.9,
  lon: 2.8,
  markets: [],
  shiftStart: null,
  shiftEnd: null,
  ...over,
})
const registered = (van: string, over: Partial<RegisteredVan> = {}): RegisteredVan => ({
  ...{ van, name: van, plate: null, depotId: 'girona', inServiceFromMs: null, inServiceToMs: null },
  ...over,
})
const point = (van: string, ageMs: number, over: Partial<PanelPoint> = {}): PanelPoint => ({
  ...{ van, depotId: null, lat: 42, lon: 2.8, eventMs: NOW - ageMs, arrivalMs: NOW - ageMs, speedMmPerS: null, headingDegrees: null },
  ...{ doubtful: false, motion: 'moving', place: 'Salt', partition: 0, batteryPercent: null },
  ...over,
})
const mute = (kind: 'van' | 'depot', subject: string, untilMs: number | null = null): MuteView => ({
  ...{ id: 1, kind, subject, untilMs, note: 'taller', actor: { id: '1', name: 'Marta', roles: [] }, atMs: NOW - HOUR },
})
const episode = (van: string, sinceMs: number, endedMs: number | null, over: Partial<SilenceEpisode> = {}): SilenceEpisode => ({
  ...{ van, depotId: 'girona', sinceMs, endedMs, latePoints: 0, longestGapMs: (endedMs ?? sinceMs) - sinceMs, overOutage: false },
  ...over,
})

interface Given {
  readonly depots?: readonly Depot[]
  readonly vans: readonly RegisteredVan[]
  readonly points?: readonly PanelPoint[]
  readonly dispatch?: Partial<DispatchView>
  readonly acknowledgements?: readonly AcknowledgementView[]
  readonly nowMs?: number
}

function listOf({ depots = [depot('girona')], vans, points = [], dispatch = {}, acknowledgements = [], nowMs = NOW }: Given) {
  const partitions = [{ partition: 0, watermarkMs: null, progressMs: null, newestHeartbeatMs: nowMs, newestRecordMs: nowMs }]
  const feed = { state: 'live' as const, noDataSinceMs: null, trouble: null, partitions }
  const whole = { ...EMPTY_DISPATCH, ...dispatch }
  const parts = { depots, registered: vans, points, signals: [], distances: [], acknowledgements: [], outages: [], dispatch: whole }
  const model = modelOf({ sequence: 1, clock: 'machine', nowMs, limits: DEFAULT_PANEL_LIMITS, feed, ...parts }, 0)
  const status = prepareFeed({ feed, points: model.points, connected: true, serverNowMs: nowMs, nowMs })
  const fleet = prepareFleet(model, status, nowMs)
  return { fleet, list: prepareNoSignal(fleet, acknowledgements, 0, whole, nowMs) }
}
const names = (vans: readonly { readonly van: string }[]) => vans.map(({ van }) => van)
const keys = (rows: readonly { readonly key: string }[]) => rows.map(({ key }) => key)

describe('off shift, at the depot, retired', () => {
  const shifts = [
    { depotId: 'girona', day: 'mon', start: '06:00', end: '14:00' },
    { depotId: 'night', day: 'sun', start: '22:00', end: '06:00' },
  ]
  const depots = [depot('girona'), depot('night'), depot('free')]
  const vans = [
    registered('on'),
    registered('off', { depotId: 'night' }),
    registered('heard-off', { depotId: 'night' }),
    registered('parked', { depotId: 'free' }),
    registered('lost', { depotId: 'free' }),
    registered('old', { inServiceToMs: NOW - 1 }),
    registered('new', { inServiceFromMs: NOW + HOUR }),
  ]
  const points = [
    point('on', 20 * MINUTE),
    point('off', 5 * HOUR + 30 * MINUTE),
    point('heard-off', 1_000),
    point('parked', HOUR, { lat: 41.9 + 0.0013 }),
    point('lost', HOUR, { lat: 41.9 + 0.0014 }),
    point('old', 30 * MINUTE),
  ]

  test('are not in the list but counted, by reason; who is heard off shift is shown', () => {
    const { list, fleet } = listOf({ depots, vans, points, dispatch: { shifts } })
    expect(keys(list.rows)).toEqual(['lost', 'on'])
    expect(names(list.away.off)).toEqual(['off'])
    expect(names(list.away.atDepot)).toEqual(['parked'])
    expect(names(list.away.retired)).toEqual(['new', 'old'])
    expect(names(list.away.heard)).toEqual(['heard-off'])
    expect(list.notSeen).toEqual([])
    expect(prepareCounters(fleet)).toEqual({ moving: 1, stopped: 0, noSignal: 2, unknown: 0 })
  })

  test('a shift that begins makes nobody an alarm at once: who was not heard in it is not seen', () => {
    const { list } = listOf({ depots, vans: [registered('on')], points: [point('on', 8 * HOUR)], dispatch: { shifts } })
    expect(list.rows).toEqual([])
    expect(names(list.notSeen)).toEqual(['on'])
    // Heard at 05:20, before the shift began at 06:00: it was at work.
    expect(
      keys(listOf({ depots, vans: [registered('on')], points: [point('on', 6 * HOUR + 40 * MINUTE)], dispatch: { shifts } }).list.rows),
    ).toEqual(['on'])
  })

  test('a van with a calendar that is on shift is expected, also at its depot', () => {
    const { list } = listOf({ depots, vans: [registered('on')], points: [point('on', HOUR, { lat: 41.9 })], dispatch: { shifts } })
    expect(keys(list.rows)).toEqual(['on'])
  })

  test('each van is in one place: the list, the muted, the away, the not seen, or heard (property)', () => {
    const ages = fc.option(
      fc.integer({ min: 0, max: 40 * 60 }).map((minutes) => minutes * MINUTE),
      { nil: null },
    )
    const one = fc.record({
      depotId: fc.constantFrom('girona', 'night', 'free', null),
      ageMs: ages,
      near: fc.boolean(),
      retired: fc.boolean(),
      muted: fc.boolean(),
      registered: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), (given) => {
        const named = given.map((van, n) => ({ ...van, van: `v${n}` }))
        const { list, fleet } = listOf({
          depots,
          vans: named.flatMap(({ van, depotId, retired, registered: known }) =>
            known ? [registered(van, { depotId, inServiceToMs: retired ? NOW : null })] : [],
          ),
          points: named.flatMap(({ van, ageMs, near }) => (ageMs === null ? [] : [point(van, ageMs, { lat: near ? 41.9 : 42 })])),
          dispatch: { shifts, mutes: named.filter(({ muted }) => muted).map(({ van }) => mute('van', van)) },
        })
        const heard = names(fleet.filter(({ state }) => state === 'moving' || state === 'stopped'))
        const { off, atDepot, retired, unregistered } = list.away
        const unknownThere = names(unregistered)
        const places = [
          ...keys(list.rows),
          ...keys(list.muted),
          ...names([...off, ...atDepot, ...retired]),
          ...names(list.notSeen),
          ...heard,
          ...unknownThere.filter((van) => !heard.includes(van)),
        ]
        // Of a van that is not registered and was never heard there is nothing to tell.
        const known = named.filter((van) => van.registered || van.ageMs !== null)
        expect(places.sort()).toEqual(known.map(({ van }) => van).sort())
        // Those that are heard are told once more: by one line, not by two.
        expect(unknownThere.filter((van) => names(list.away.heard).includes(van))).toEqual([])
        expect(named.filter(({ van }) => unknownThere.includes(van)).every((van) => !van.registered)).toBe(true)
        for (const { van, ageMs, depotId, retired: gone } of named.filter((van) => van.registered)) {
          if (ageMs !== null && ageMs < 3 * MINUTE) expect(heard).toContain(van)
          else if (gone || depotId === 'night') expect(names([...off, ...retired])).toContain(van)
        }
      }),
      { numRuns: 150 },
    )
  })

  test('distances are as the crow flies', () => {
    expect(metresBetween({ lat: 41.9, lon: 2.8 }, { lat: 41.9 + 0.0013, lon: 2.8 })).toBeCloseTo(144.6, 0)
    expect(metresBetween({ lat: 41.9, lon: 2.8 }, { lat: 41.9, lon: 2.801 })).toBeCloseTo(82.8, 0)
  })
})

describe('mutes', () => {
  const points = [point('a', 20 * MINUTE), point('b', 20 * MINUTE), point('c', 20 * MINUTE)]
  const vans = [registered('a'), registered('b', { depotId: 'olot' }), registered('c')]
  const depots = [depot('girona'), depot('olot')]

  test('of a van, and of a depot, until their time', () => {
    const mutes = [mute('van', 'b'), mute('depot', 'girona', NOW + 1)]
    const { list, fleet } = listOf({ depots, vans, points, dispatch: { mutes } })
    expect([keys(list.rows), keys(list.muted), list.count, prepareCounters(fleet).noSignal]).toEqual([[], ['a', 'b', 'c'], 0, 0])
    const later = listOf({ depots, vans, points, dispatch: { mutes }, nowMs: NOW + 1 }).list
    expect([keys(later.rows), keys(later.muted), later.mutes.length]).toEqual([['a', 'c'], ['b'], 1])
  })

  test('may last until the shift ends, or six in the morning', () => {
    const shifts = [{ depotId: 'girona', day: 'mon', start: '06:00', end: '14:00' }]
    const [van] = listOf({ vans: [registered('a')], points: [point('a', 20 * MINUTE)], dispatch: { shifts } }).fleet
    const untils = Object.fromEntries(muteChoices(van!, NOW).map(({ key, untilMs }) => [key, untilMs]))
    expect(untils).toEqual({
      hour: NOW + HOUR,
      shift: NOW + 2 * HOUR,
      eight: NOW + 8 * HOUR,
      morning: Date.UTC(2026, 11, 1, 5),
      open: null,
    })
    const [free] = listOf({ vans: [registered('a')] }).fleet
    expect(muteChoices(free!, Date.UTC(2026, 10, 30, 2)).map(({ key, untilMs }) => (key === 'morning' ? untilMs : key))).toEqual([
      ...['hour', 'eight'],
      Date.UTC(2026, 10, 30, 5),
      'open',
    ])
  })
})

describe('steps and notices', () => {
  const vans = [registered('a')]
  const rowsAt = (ageMs: number, acknowledgements: readonly AcknowledgementView[] = []) =>
    listOf({ vans, points: [point('a', ageMs)], acknowledgements }).list.rows

  test('are reached at 3, 15 and 60 minutes', () => {
    const bands = [2, 3, 14, 15, 59, 60].map((minutes) => rowsAt(minutes * MINUTE).map(({ step, band }) => [step, band]))
    expect(bands).toEqual([[], [[1, 'provisional']], [[1, 'provisional']], [[2, 'long']], [[2, 'long']], [[3, 'very-long']]])
  })

  test('are settings', () => {
    const limits = { ...EMPTY_DISPATCH.limits, silenceStepsMs: [MINUTE, 2 * MINUTE, 5 * MINUTE] as const }
    const steps = [0.5, 1, 2, 5].map(
      (minutes) => listOf({ vans, points: [point('a', minutes * MINUTE)], dispatch: { limits } }).list.rows[0]?.step,
    )
    expect(steps).toEqual([undefined, 1, 2, 3])
  })

  test('each is told once, none on opening the page, and anew after the van was heard', () => {
    let told: Told | null = null
    const tell = (rows: readonly NoSignalRow[]) => {
      const result = prepareNotices(rows, told)
      told = result.told
      return result.notices.map(({ key, step, minutes }) => `${key} ${step} ${minutes}`)
    }
    expect(tell(rowsAt(5 * MINUTE))).toEqual([])
    expect(tell(rowsAt(14 * MINUTE))).toEqual([])
    expect(tell(rowsAt(15 * MINUTE))).toEqual(['a 2 15'])
    expect(tell(rowsAt(16 * MINUTE))).toEqual([])
    expect(tell([])).toEqual([])
    expect(tell(rowsAt(4 * MINUTE))).toEqual(['a 1 4'])
    // A tab that slept: the highest step, once.
    expect(tell(rowsAt(70 * MINUTE))).toEqual(['a 3 70'])
  })

  test('not of what somebody has taken on, nor of what an outage of ours hides', () => {
    const ack = { van: 'a', sinceMs: NOW - 15 * MINUTE, atMs: NOW - MINUTE, note: '', actor: { id: '1', name: 'M', roles: [] } }
    expect(prepareNotices(rowsAt(15 * MINUTE, [ack]), new Map([['a', 1]])).notices).toEqual([])
    const hidden = rowsAt(15 * MINUTE).map((row) => ({ ...row, hidden: true }))
    const held = prepareNotices(hidden, new Map([['a', 1]]))
    expect([held.notices, held.told.get('a')]).toEqual([[], 1])
    expect(prepareNotices(hidden, null).told.get('a')).toBe(2)
    expect(prepareNotices(rowsAt(20 * MINUTE), held.told).notices.map(({ step }) => step)).toEqual([2])
  })

  test('of any course of silences no step is told twice (property)', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 0, max: 90 }), fc.boolean()), { maxLength: 30 }), (course) => {
        let told: Told | null = new Map()
        const seen = new Set<number>()
        for (const [minutes, hidden] of course) {
          const rows = rowsAt(minutes * MINUTE).map((row) => ({ ...row, hidden }))
          if (rows.length === 0) seen.clear()
          const result = prepareNotices(rows, told)
          told = result.told
          for (const { step } of result.notices) {
            expect(hidden || seen.has(step)).toBe(false)
            for (let below = 1; below <= step; below += 1) seen.add(below)
          }
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('returned and corrected', () => {
  const vans = [registered('a'), registered('b')]
  const points = [point('a', 1_000), point('b', 1_000)]

  test('who is heard again fades with the length of the silence', () => {
    const episodes = [
      episode('a', NOW - 12 * MINUTE, NOW - 2 * MINUTE),
      episode('a', NOW - 30 * MINUTE, NOW - 20 * MINUTE),
      episode('b', NOW - 12 * MINUTE, NOW - 5 * MINUTE),
    ]
    const { returned } = listOf({ vans, points, dispatch: { episodes } }).list
    expect(returned.map(({ key, durationMs, fresh, correction }) => [key, durationMs, fresh, correction])).toEqual([
      ['a', 10 * MINUTE, 0.6, null],
    ])
  })

  test('not while it is silent anew, not of an outage of ours', () => {
    const ended = episode('a', NOW - 12 * MINUTE, NOW - 4 * MINUTE)
    const silent = listOf({ vans, points: [point('a', 4 * MINUTE)], dispatch: { episodes: [ended] } }).list
    expect([keys(silent.rows), silent.returned]).toEqual([['a'], []])
    expect(listOf({ vans, points, dispatch: { episodes: [{ ...ended, overOutage: true }] } }).list.returned).toEqual([])
  })

  test('late points tell what was known then and is known now', () => {
    const corrected = episode('a', NOW - 23 * MINUTE, NOW - MINUTE, { latePoints: 130, longestGapMs: 10_000 })
    expect(listOf({ vans, points, dispatch: { episodes: [corrected] } }).list.returned[0]?.correction).toEqual({
      thenMs: 22 * MINUTE,
      nowMs: 10_000,
      points: 130,
    })
    const open = episode('b', NOW - 23 * MINUTE, null, { latePoints: 5, longestGapMs: 4 * MINUTE })
    const { list } = listOf({ vans, points: [point('b', 6 * MINUTE)], dispatch: { episodes: [open] } })
    expect(list.rows[0]?.correction).toEqual({ thenMs: 23 * MINUTE, nowMs: 4 * MINUTE, points: 5 })
  })
})
