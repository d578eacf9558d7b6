import type { DaysView } from '@km0/contracts/days-panel'
import { describe, expect, it } from 'vitest'
import { certificateOf, prepareDays } from './prepare-days.ts'

const van = (name: string) => ({ van: name, name: name === 'b' ? 'Àngels' : null, plate: null, depot: 'Girona' })
const cell = (of: string, dayMs: number, distanceMm: number, versions: number[] = []) => ({
  van: of,
  dayMs,
  distanceMm,
  positions: 1,
  jumps: 0,
  jumpsMm: null,
  gaps: null,
  gapsMm: null,
  versions,
  isLive: versions.length === 0,
})
const view: DaysView = {
  nowMs: 0,
  days: [
    { startMs: 0, endMs: 1 },
    { startMs: 1, endMs: 2 },
  ],
  vans: ['a', 'b', 'c'].map(van),
  cells: [cell('a', 0, 5), cell('a', 1, 7, [3]), cell('b', 0, 50), cell('b', 1, 0)],
  late: [{ van: 'a', dayMs: 1, tard: 2, parcial: 1 }],
  certificates: [{ dayMs: 0, equal: 20, explained: 3, different: 1 }],
}
const order = (by: 'van' | 'total' | number, descending: boolean) =>
  prepareDays(view, '', { by, descending }).rows.map((row) => row.van.van)

describe('the table of days', () => {
  it('adds up what is known, and tells nothing known from 0 km', () => {
    const { rows, totals, totalMm, late } = prepareDays(view, '', { by: 'van', descending: false })
    expect(rows.map(({ totalMm }) => totalMm)).toEqual([12, 50, null])
    expect(rows.map(({ cells }) => cells.map(({ distanceMm }) => distanceMm))).toEqual([
      [5, 7],
      [50, 0],
      [null, null],
    ])
    expect(totals.map(({ distanceMm }) => distanceMm)).toEqual([55, 7])
    expect([totalMm, late]).toEqual([62, 3])
    expect(rows[0]?.cells[1]).toMatchObject({ late: 3, versions: [3] })
  })

  it('is sorted by van, total or day; what is not known comes last, whichever way', () => {
    expect(order('van', false)).toEqual(['a', 'b', 'c'])
    expect(order('van', true)).toEqual(['c', 'b', 'a'])
    expect(order('total', true)).toEqual(['b', 'a', 'c'])
    expect(order('total', false)).toEqual(['a', 'b', 'c'])
    expect(order(1, true)).toEqual(['a', 'b', 'c'])
    expect(order(1, false)).toEqual(['b', 'a', 'c'])
  })

  it.each([
    ['angels', ['b']],
    ['GIRONA c', ['c']],
    ['nobody', []],
    ['  ', ['a', 'b', 'c']],
  ])('the search %j finds %j; totals are of what it finds', (search, found) => {
    const table = prepareDays(view, search, { by: 'van', descending: false })
    expect(table.rows.map((row) => row.van.van)).toEqual(found)
    expect(table.totalMm).toBe(found.includes('a') ? 62 : found.includes('b') ? 50 : null)
  })

  it('the worst certificate of a day counts', () => {
    expect(certificateOf(view.certificates, 0)).toEqual({ result: 'different', hours: 24 })
    expect(certificateOf(view.certificates, 1)).toBeNull()
    expect(certificateOf([{ dayMs: 1, equal: 4, explained: 0, different: 0 }], 1)).toEqual({ result: 'equal', hours: 4 })
  })
})
