import { type DispatchView, type DistanceView, EMPTY_DISPATCH } from '@km0/contracts'
import { describe, expect, test } from 'vitest'
import type { Van } from '../van/prepare-fleet.ts'
import { prepareDistances, type Sort, sortDistances } from './prepare-distances.ts'
import { prepareSparkline } from './prepare-sparkline.ts'
import { prepareTotals, withTotals } from './prepare-totals.ts'

const NOW = 1_789_380_000_000
const MINUTE = 60_000
const van = (name: string, place: string | null = 'Salt'): Van => ({
  van: name,
  name,
  plate: null,
  depotId: null,
  depotName: null,
  registered: true,
  point: null,
  place,
  state: 'moving',
  lastMs: NOW,
  silenceMs: 0,
  outage: null,
  sinceMs: null,
  doubtful: false,
  duty: 'open',
  shift: null,
  mute: null,
  outside: false,
})
const window = (name: string, endMs: number, distanceMm: number): DistanceView => ({
  van: name,
  depotId: null,
  windowStartMs: endMs - 5 * MINUTE,
  windowEndMs: endMs,
  distanceMm,
  positions: 10,
  jumps: 0,
  displacementMm: 0,
  revision: 0,
})

describe('the table', () => {
  test('shows the newest closed window, or the one before while a partition is some seconds behind; older is missing', () => {
    const distances = new Map([
      ['a', [window('a', NOW - MINUTE, 1), window('a', NOW, 2_000_000)]],
      ['b', [window('b', NOW - MINUTE, 3_000_000)]],
      ['c', [window('c', NOW - 2 * MINUTE, 4)]],
    ])
    const table = prepareDistances([van('a'), van('b'), van('c'), van('d')], distances)
    expect(table.window).toEqual({ startMs: NOW - 5 * MINUTE, endMs: NOW })
    expect(table.rows.map((row) => [row.key, row.distanceMm])).toEqual([
      ['a', 2_000_000],
      ['b', 3_000_000],
      ['c', null],
    ])
    expect(table.totalMm).toBe(5_000_000)
  })

  test('history has 30 places, a missing window is null', () => {
    const distances = new Map([['a', [window('a', NOW - 29 * MINUTE, 7), window('a', NOW - 2 * MINUTE, 0), window('a', NOW, 9)]]])
    const [row] = prepareDistances([van('a')], distances).rows
    expect(row?.history).toHaveLength(30)
    expect(row?.history[0]).toBe(7)
    expect(row?.history.slice(-3)).toEqual([0, null, 9])
    expect(row?.history.filter((value) => value === null)).toHaveLength(27)
  })

  test('is empty before the first window', () => {
    expect(prepareDistances([van('a')], new Map())).toEqual({ window: null, rows: [], totalMm: 0 })
  })

  test('sorts, equals by name, missing last in both directions', () => {
    const distances = new Map([
      ['v-10', [window('v-10', NOW, 5)]],
      ['v-9', [window('v-9', NOW, 5)]],
      ['v-1', [window('v-1', NOW, 8)]],
      ['v-2', [window('v-2', NOW - 9 * MINUTE, 8)]],
    ])
    const { rows } = prepareDistances([van('v-1', 'Olot'), van('v-2', null), van('v-9', 'Àger'), van('v-10', 'Salt')], distances)
    const sorted = (sort: Sort) => sortDistances(rows, sort).map((row) => row.key)
    expect(sorted({ column: 'distance', direction: 'descending' })).toEqual(['v-1', 'v-9', 'v-10', 'v-2'])
    expect(sorted({ column: 'distance', direction: 'ascending' })).toEqual(['v-9', 'v-10', 'v-1', 'v-2'])
    expect(sorted({ column: 'van', direction: 'descending' })).toEqual(['v-10', 'v-9', 'v-2', 'v-1'])
    expect(sorted({ column: 'place', direction: 'ascending' })).toEqual(['v-9', 'v-1', 'v-10', 'v-2'])
    expect(rows[0]?.key).toBe('v-1')
  })
})

describe('the sparkline', () => {
  test('a gap ends the line; it is no zero', () => {
    const shape = prepareSparkline([10, 10, null, 0, 10], 10, 44, 24)
    expect(shape.line).toBe('M2 2L12 2M32 22L42 2')
    expect(shape.area).toBe('M2 2L12 2L12 24L2 24ZM32 22L42 2L42 24L32 24Z')
    expect(shape.dots).toEqual([])
    expect(shape.last).toEqual([42, 2])
  })

  test('a value alone is a dot', () => {
    const shape = prepareSparkline([null, 5, null], 10, 44, 24)
    expect(shape).toMatchObject({ line: '', area: '', dots: [[22, 12]], last: null })
  })

  test('nothing at all, all zeros and one value draw without numbers that are none', () => {
    for (const values of [[], [null, null], [0, 0], [3]])
      expect(JSON.stringify(prepareSparkline(values, 0, 44, 24))).not.toMatch(/NaN|Infinity/)
  })

  test('a value above the maximum stays in the box', () => {
    expect(prepareSparkline([0, 99], 10, 44, 24).last).toEqual([42, 2])
  })
})

describe('stopped and deviated', () => {
  const usual = { fromMs: NOW - 5 * MINUTE, toMs: NOW + 55 * MINUTE, vans: [{ van: 'a', p99Mm: 2_000_000, windows: 240 }] }
  const rowOf = (over: Partial<DistanceView>, dispatch: Partial<DispatchView> = {}, of: Partial<Van> = {}) =>
    prepareDistances([{ ...van('a'), ...of }], new Map([['a', [{ ...window('a', NOW, 2_000_001), ...over }]]]), {
      ...EMPTY_DISPATCH,
      usual,
      ...dispatch,
    }).rows[0]

  test('stopped is a displacement under 50 m with two positions or more; both are settings', () => {
    expect(rowOf({ displacementMm: 49_999, positions: 2 })?.stopped).toBe(true)
    expect(rowOf({ displacementMm: 50_000, positions: 2 })?.stopped).toBe(false)
    expect(rowOf({ displacementMm: 0, positions: 1 })?.stopped).toBe(false)
    const limits = { ...EMPTY_DISPATCH.limits, stoppedDisplacementMm: 10_000 }
    expect(rowOf({ displacementMm: 49_999, positions: 2 }, { limits })?.stopped).toBe(false)
  })

  test('deviated is more than 99 % of its windows in that hour of the week, where enough are known', () => {
    expect(rowOf({})?.deviations).toEqual([{ kind: 'far', distanceMm: 2_000_001, p99Mm: 2_000_000, windows: 240 }])
    expect(rowOf({ distanceMm: 2_000_000 })?.deviations).toEqual([])
    expect(rowOf({}, { usual: null })?.deviations).toEqual([])
    expect(rowOf({}, { usual: { ...usual, vans: [{ van: 'a', p99Mm: 1, windows: 119 }] } })?.deviations).toEqual([])
    expect(rowOf({}, { usual: { ...usual, vans: [{ van: 'b', p99Mm: 1, windows: 240 }] } })?.deviations).toEqual([])
    // The window ended in another hour than the one that is known.
    expect(rowOf({}, { usual: { ...usual, fromMs: NOW, toMs: NOW + 60 * MINUTE } })?.deviations).toEqual([])
  })

  test('outside its zones is a reason of its own', () => {
    expect(rowOf({ distanceMm: 1 }, {}, { outside: true })?.deviations).toEqual([{ kind: 'outside' }])
    expect(rowOf({}, {}, { outside: true })?.deviations.map(({ kind }) => kind)).toEqual(['far', 'outside'])
  })
})

describe('totals of the hour and the day', () => {
  test('take the place of the window, with the versions that they come from', () => {
    const view = {
      ...{ nowMs: NOW, hourMs: NOW, dayMs: NOW },
      totals: [{ van: 'a', hourMm: 5, dayMm: 70, hourVersion: 3, dayVersions: [3, 4], dayIsLive: true }],
    }
    const { rows } = prepareDistances([van('a'), van('b')], new Map(['a', 'b'].map((name) => [name, [window(name, NOW, 1)]])))
    expect(withTotals(rows, prepareTotals(view, 'hour')).map(({ distanceMm, total }) => [distanceMm, total])).toEqual([
      [5, { distanceMm: 5, versions: [3], isLive: false }],
      [null, null],
    ])
    expect(withTotals(rows, prepareTotals(view, 'day'))[0]?.total).toEqual({ distanceMm: 70, versions: [3, 4], isLive: true })
  })
})
