import { describe, expect, it } from 'vitest'
import { madridDate, madridDateMs, madridDay, madridHour, madridTimeOfDay, madridWeekday, madridWeeksBefore } from './madrid.ts'

const HOUR = 3_600_000
const parts = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'Europe/Madrid',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

describe('a day of Madrid', () => {
  it('begins and ends at local midnight by the time zone database, from 1996 to 2099, every day', () => {
    let days = 0
    let atMs = Date.UTC(1996, 0, 1, 12)
    while (atMs < Date.UTC(2100, 0, 1)) {
      const { startMs, endMs } = madridDay(atMs)
      const [date, time] = parts.format(startMs).split(', ')
      if (time !== '00:00:00' || date !== parts.format(atMs).split(', ')[0]) expect.fail(`${new Date(atMs).toISOString()}: ${date} ${time}`)
      if (madridDay(startMs).endMs !== endMs || madridDay(endMs - 1).startMs !== startMs) expect.fail(`borders of ${date}`)
      if (madridDay(endMs).startMs !== endMs) expect.fail(`the day after ${date}`)
      days += 1
      atMs = endMs + 12 * HOUR
    }
    expect(days).toBe(37_986)
  })

  it.each([
    ['2026-03-29', '2026-03-28T23:00:00Z', 23],
    ['2026-10-25', '2026-10-24T22:00:00Z', 25],
    ['2026-07-01', '2026-06-30T22:00:00Z', 24],
    ['2026-12-31', '2026-12-30T23:00:00Z', 24],
  ])('%s begins at %s and has %i hours', (date, start, hours) => {
    const { startMs, endMs } = madridDay(Date.parse(`${date}T12:00:00Z`))
    expect(new Date(startMs).toISOString()).toBe(start.replace('Z', '.000Z'))
    expect((endMs - startMs) / HOUR).toBe(hours)
  })
})

describe('a time of day in Madrid', () => {
  it.each([
    ['2026-07-01', 210, '2026-07-01T01:30:00Z'],
    ['2026-12-01', 210, '2026-12-01T02:30:00Z'],
    ['2026-03-29', 60, '2026-03-29T00:00:00Z'],
    ['2026-03-29', 210, '2026-03-29T01:30:00Z'],
    // 02:30 is left out: 03:30 it is.
    ['2026-03-29', 150, '2026-03-29T01:30:00Z'],
    // 02:30 occurs twice: the first.
    ['2026-10-25', 150, '2026-10-25T00:30:00Z'],
    ['2026-10-25', 210, '2026-10-25T02:30:00Z'],
    ['2026-10-25', 0, '2026-10-24T22:00:00Z'],
    ['2026-10-25', 1439, '2026-10-25T22:59:00Z'],
  ])('%s at minute %i is %s', (date, minutes, instant) => {
    expect(new Date(madridTimeOfDay(Date.parse(`${date}T12:00:00Z`), minutes)).toISOString()).toBe(instant.replace('Z', '.000Z'))
  })
})

describe('a date of Madrid', () => {
  it.each([
    ['2026-01-15', '2026-01-14T23:00:00Z'],
    ['2026-07-15', '2026-07-14T22:00:00Z'],
    ['2026-03-29', '2026-03-28T23:00:00Z'],
    ['2026-03-30', '2026-03-29T22:00:00Z'],
    ['2026-10-25', '2026-10-24T22:00:00Z'],
    ['2026-10-26', '2026-10-25T23:00:00Z'],
  ])('%s begins at %s', (date, start) => {
    expect(madridDateMs(date)).toBe(Date.parse(start))
  })

  it.each(['2026-02-29', '2026-13-01', '2026-00-10', 'x'])('is not %s', (date) => {
    expect(madridDateMs(date)).toBeNull()
  })
})

describe('names of days and hours', () => {
  it('agree with the time zone database, every 61 hours of six years', () => {
    const names = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/Madrid', weekday: 'short' })
    const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
    for (let atMs = Date.UTC(2024, 0, 1); atMs < Date.UTC(2030, 0, 1); atMs += 61 * HOUR) {
      const wall = Object.fromEntries(parts.formatToParts(atMs).map(({ type, value }) => [type, value]))
      const date = madridDate(atMs)
      expect(date).toBe(`${wall.year}-${wall.month}-${wall.day}`)
      expect(weekdays[madridWeekday(atMs)]).toBe(names.format(atMs))
      expect(madridDateMs(date)).toBe(madridDay(atMs).startMs)
    }
  })

  it('find the same hour of the clock in the weeks before, also across a change of the clocks', () => {
    // Monday after the change in spring, 10:20 in Madrid: 08:20 UTC, a week before 09:00 UTC.
    const atMs = Date.UTC(2026, 2, 30, 8, 20)
    expect(madridHour(atMs)).toEqual({ startMs: Date.UTC(2026, 2, 30, 8), endMs: Date.UTC(2026, 2, 30, 9) })
    expect(madridWeeksBefore(atMs, 1)).toEqual({ startMs: Date.UTC(2026, 2, 23, 9), endMs: Date.UTC(2026, 2, 23, 10) })
    expect(madridWeeksBefore(atMs, 4)).toEqual({ startMs: Date.UTC(2026, 2, 2, 9), endMs: Date.UTC(2026, 2, 2, 10) })
    // Sunday 00:30 in Madrid after the change in autumn.
    expect(madridWeeksBefore(Date.UTC(2026, 9, 31, 23, 30), 1)).toEqual({
      startMs: Date.UTC(2026, 9, 24, 22),
      endMs: Date.UTC(2026, 9, 24, 23),
    })
  })
})
