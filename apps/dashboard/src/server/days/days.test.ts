import type { DaysView } from '@km0/contracts'
import { describe, expect, it } from 'vitest'
import { dayNamed, daysUntil, nameOfDay } from './day-names.ts'
import { daysCsv } from './days-csv.ts'

describe('days by name', () => {
  it.each([
    ['2026-03-29', 23],
    ['2026-10-25', 25],
    ['2026-07-01', 24],
  ])('%s has %i hours', (name, hours) => {
    const day = dayNamed(name)
    expect((day.endMs - day.startMs) / 3_600_000).toBe(hours)
    expect(nameOfDay(day)).toBe(name)
  })

  it.each(['', '2026-02-31', '2026-1-1', 'today', '2026-13-01', '20260101', '2026-01-01T00:00Z'])(
    '%j is refused with what to write',
    (text) => {
      expect(() => dayNamed(text)).toThrow(expect.objectContaining({ status: 400, hint: 'Write a day as YYYY-MM-DD.' }))
    },
  )

  it('follow each other without a hole, whatever the clocks do', () => {
    for (const last of ['2026-03-31', '2026-10-27', '2026-12-31']) {
      for (const atMs of [dayNamed(last).startMs, dayNamed(last).endMs - 1]) {
        const days = daysUntil(atMs, 7)
        expect(days).toHaveLength(7)
        expect(nameOfDay(days.at(-1)!)).toBe(last)
        for (const [index, day] of days.entries()) if (index > 0) expect(day.startMs).toBe(days[index - 1]?.endMs)
      }
    }
  })
})

describe('days as CSV', () => {
  const day = dayNamed('2026-11-02')
  const cell = { dayMs: day.startMs, positions: 9, jumps: 1, jumpsMm: null, gaps: null, gapsMm: null, versions: [], isLive: true }
  const view = (van: string, name: string | null): DaysView => ({
    nowMs: 0,
    days: [day],
    vans: [{ van, name, plate: null, depot: null }],
    cells: [{ ...cell, van, distanceMm: 1_234_567_890 }],
    late: [{ van, dayMs: day.startMs, tard: 2, parcial: 3 }],
    certificates: [],
  })

  it('has a line a van and day, kilometres with a point', () => {
    const [head, line, end] = daysCsv(view('furgoneta-3', 'Rocinante')).split('\r\n')
    expect(head?.split(',')).toHaveLength(line?.split(',').length ?? 0)
    expect(line).toBe('furgoneta-3,Rocinante,,,2026-11-02,1234.568,1234567890,9,1,,,,5,live')
    expect(end).toBe('')
  })

  it.each([
    ['a,"b"', '"a,""b"""'],
    ['=1+1', "'=1+1"],
    ['@x', "'@x"],
    ['two\nlines', '"two\nlines"'],
  ])('a name %j is written as %s', (name, written) => {
    expect(daysCsv(view('v', name)).split('\r\nv,')[1]).toMatch(new RegExp(`^${written.replaceAll(/[+^$.*?()[\]{}|\\]/g, '\\$&')},`))
  })

  it('says which versions, and what live rows do not know', () => {
    const mixed = { ...view('v', null), cells: [{ ...cell, van: 'v', distanceMm: 0, jumpsMm: 5, gaps: 1, gapsMm: 7, versions: [3, 12] }] }
    expect(daysCsv(mixed)).toContain(',0.000,0,9,1,5,1,7,5,3 12 live\r\n')
  })
})
