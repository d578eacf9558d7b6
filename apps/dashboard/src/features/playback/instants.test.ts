import { describe, expect, it } from 'vitest'
import { dayOfName, hoursOfDay, instantName, instantOf, madridInput } from './instants.ts'

const HOUR = 3_600_000

describe('hours of a day', () => {
  it.each([
    ['2026-03-29', 23, [0, 1, 3, 4]],
    ['2026-10-25', 25, [0, 1, 2, 2, 3]],
    ['2026-11-24', 24, [0, 1, 2, 3]],
  ])('%s has %i of them', (name, count, first) => {
    const day = dayOfName(name)!
    const hours = hoursOfDay(day)
    expect(hours).toHaveLength(count)
    expect(hours.slice(0, first.length).map(({ hour }) => hour)).toEqual(first)
    expect(hours.at(-1)).toMatchObject({ hour: 23, ms: day.endMs - HOUR })
  })

  it('say their offset where an hour occurs twice, and only there', () => {
    const told = hoursOfDay(dayOfName('2026-10-25')!).filter(({ offset }) => offset !== null)
    expect(told.map(({ hour, offset }) => [hour, offset])).toEqual([
      [2, '+02:00'],
      [2, '+01:00'],
    ])
    expect(hoursOfDay(dayOfName('2026-03-29')!).every(({ offset }) => offset === null)).toBe(true)
  })
})

describe('an instant by name', () => {
  it.each([
    ['2026-11-24T15:00:00Z', '2026-11-24T15:00:00Z'],
    ['2026-11-24T16:00', '2026-11-24T15:00:00Z'],
    ['2026-11-24 16:00:07', '2026-11-24T15:00:07Z'],
    ['2026-07-01T16:00', '2026-07-01T14:00:00Z'],
    ['2026-11-24T16:00:00+01:00', '2026-11-24T15:00:00Z'],
    ['2026-10-25T02:30', '2026-10-25T00:30:00Z'],
    ['2026-10-25T03:00', '2026-10-25T02:00:00Z'],
  ])('%s is %s', (text, name) => {
    expect(instantName(instantOf(text)!)).toBe(name)
  })

  it.each(['', 'tuesday', '2026-02-31T10:00', '2026-11-24T24:00', '2026-11-24T10:61', '16:00', '2026-11-24'])('%j is none', (text) => {
    expect(instantOf(text)).toBeNull()
  })

  it('goes into the field for it and back', () => {
    const ms = instantOf('2026-11-24T16:05')!
    expect(madridInput(ms)).toBe('2026-11-24T16:05')
    expect(instantOf(madridInput(ms))).toBe(ms)
  })
})
