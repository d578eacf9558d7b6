import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Shift, WEEKDAYS } from './dispatch.ts'
import { madridDate, madridDay } from './madrid.ts'
import { calendarsOf, ShiftCalendar } from './shift-calendar.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const shift = (day: string, start: string | null, end: string | null): Shift => ({ depotId: 'g', day, start, end })
const utc = (text: string) => Date.parse(`${text}Z`)
const clock = (minutes: number) => `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`
const wallParts = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Madrid',
  weekday: 'short',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** What the clock on the wall shows, by the time zone database. */
function wall(atMs: number) {
  const part = Object.fromEntries(wallParts.formatToParts(atMs).map(({ type, value }) => [type, value])) as Record<string, string>
  return {
    date: `${part.year}-${part.month}-${part.day}`,
    weekday: (part.weekday as string).toLowerCase(),
    minutes: Number(part.hour) * 60 + Number(part.minute),
  }
}

describe('a shift calendar', () => {
  const week = new ShiftCalendar([
    ...['mon', 'tue', 'wed', 'thu', 'fri'].map((day) => shift(day, '06:30', '21:30')),
    shift('sat', '22:00', '06:00'),
    shift('2026-12-25', null, null),
    shift('2026-12-24', '06:30', '12:00'),
  ])

  it('says the shift in force, the next and the last', () => {
    // Wednesday, 12:00 in Madrid.
    expect(week.at(utc('2026-11-25T11:00'))).toEqual({
      shift: { startMs: utc('2026-11-25T05:30'), endMs: utc('2026-11-25T20:30') },
      nextMs: utc('2026-11-26T05:30'),
      lastEndMs: utc('2026-11-24T20:30'),
    })
  })

  it('goes on over midnight into a day without shifts', () => {
    const sunday = week.at(utc('2026-11-29T02:00'))
    expect(sunday.shift).toEqual({ startMs: utc('2026-11-28T21:00'), endMs: utc('2026-11-29T05:00') })
    expect(week.at(utc('2026-11-29T05:00')).shift).toBeNull()
  })

  it('lets a date replace its weekday, and a date without hours be a day off', () => {
    expect(week.at(utc('2026-12-24T10:59')).shift?.endMs).toBe(utc('2026-12-24T11:00'))
    expect(week.at(utc('2026-12-24T11:00')).shift).toBeNull()
    expect(week.at(utc('2026-12-25T11:00')).shift).toBeNull()
    expect(week.at(utc('2026-12-25T11:00')).nextMs).toBe(utc('2026-12-26T21:00'))
  })

  it('begins and ends when the clock on the wall says so, on both days when clocks change', () => {
    const night = new ShiftCalendar(WEEKDAYS.map((day) => shift(day, '22:00', '06:00')))
    // In spring the night of Saturday lasts seven hours, in autumn nine.
    expect(night.at(utc('2026-03-29T00:00')).shift).toEqual({ startMs: utc('2026-03-28T21:00'), endMs: utc('2026-03-29T04:00') })
    expect(night.at(utc('2026-10-25T00:00')).shift).toEqual({ startMs: utc('2026-10-24T20:00'), endMs: utc('2026-10-25T05:00') })
    const early = new ShiftCalendar(WEEKDAYS.map((day) => shift(day, '02:30', '03:30')))
    // 02:30 is left out in spring: it is 03:30, when the shift is over. In autumn the first 02:30 counts.
    expect(early.ofDay(utc('2026-03-29T12:00'))).toEqual([])
    expect(early.ofDay(utc('2026-10-25T12:00'))).toEqual([{ startMs: utc('2026-10-25T00:30'), endMs: utc('2026-10-25T02:30') }])
  })

  it('joins shifts that touch: around the clock is one', () => {
    const always = new ShiftCalendar(WEEKDAYS.map((day) => shift(day, '00:00', '00:00')))
    const now = always.at(utc('2026-10-25T12:00'))
    expect((now.shift?.endMs ?? 0) - (now.shift?.startMs ?? 0)).toBeGreaterThan(20 * DAY)
    const split = new ShiftCalendar([shift('mon', '06:00', '14:00'), shift('mon', '14:00', '22:00')])
    expect(split.at(utc('2026-11-30T13:00')).shift).toEqual({ startMs: utc('2026-11-30T05:00'), endMs: utc('2026-11-30T21:00') })
  })

  const clocks = fc.integer({ min: 0, max: 1439 }).map(clock)
  const shifts = fc.array(
    fc.oneof(
      fc.tuple(fc.constantFrom(...WEEKDAYS), clocks, clocks).map(([day, start, end]) => shift(day, start, end)),
      fc
        .tuple(fc.integer({ min: 0, max: 40 }), clocks, clocks)
        .map(([n, start, end]) => shift(madridDate(utc('2026-10-10T12:00') + n * DAY), start, end)),
      fc.integer({ min: 0, max: 40 }).map((n) => shift(madridDate(utc('2026-10-10T12:00') + n * DAY), null, null)),
    ),
    { maxLength: 12 },
  )
  const instants = fc
    .integer({ min: utc('2026-10-12T00:00') / MINUTE, max: utc('2026-11-15T00:00') / MINUTE })
    .map((minute) => minute * MINUTE)

  it('agrees with the clock on the wall wherever that is not ambiguous', () => {
    fc.assert(
      fc.property(shifts, instants, (given, atMs) => {
        const { date, weekday, minutes } = wall(atMs)
        // Of the hour that occurs twice the first counts; tested above.
        fc.pre(!(date === '2026-10-25' && minutes >= 120 && minutes < 180))
        const yesterday = wall(madridDay(atMs).startMs - 12 * HOUR)
        const named = (day: { readonly date: string; readonly weekday: string }) => {
          const dated = given.filter((one) => one.day === day.date)
          return (dated.length > 0 ? dated : given.filter((one) => one.day === day.weekday)).filter((one) => one.start !== null)
        }
        const at = (text: string | null) => Number(text?.slice(0, 2)) * 60 + Number(text?.slice(3))
        const today = named({ date, weekday }).some((one) => {
          const over = at(one.end) <= at(one.start)
          return minutes >= at(one.start) && (over || minutes < at(one.end))
        })
        const before = named(yesterday).some((one) => at(one.end) <= at(one.start) && minutes < at(one.end))
        expect(new ShiftCalendar(given).at(atMs).shift !== null).toBe(today || before)
      }),
      { numRuns: 400 },
    )
  })

  it('has its instant within the shift in force, and next and last outside', () => {
    fc.assert(
      fc.property(shifts, instants, (given, atMs) => {
        const calendar = new ShiftCalendar(given)
        const { shift: now, nextMs, lastEndMs } = calendar.at(atMs)
        if (now !== null) expect(now.startMs <= atMs && atMs < now.endMs).toBe(true)
        if (nextMs !== null) expect(nextMs > atMs && calendar.at(nextMs).shift?.startMs === nextMs).toBe(true)
        if (lastEndMs !== null)
          expect(lastEndMs <= (now?.startMs ?? atMs) && calendar.at(lastEndMs - 1).shift?.endMs === lastEndMs).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

describe('calendars of depots', () => {
  const depot = (id: string, shiftStart: string | null, shiftEnd: string | null) => ({
    id,
    name: id,
    lat: 42,
    lon: 2.8,
    markets: [],
    shiftStart,
    shiftEnd,
  })

  it('are their shifts, else their daily hours, else none', () => {
    const calendars = calendarsOf(
      [depot('g', '06:00', '14:00'), depot('h', '06:00', '14:00'), depot('i', null, '14:00')],
      [shift('mon', '20:00', '22:00')],
    )
    const monday = utc('2026-11-30T10:00')
    expect([...calendars.keys()]).toEqual(['g', 'h'])
    expect(calendars.get('g')?.at(monday).shift).toBeNull()
    expect(calendars.get('h')?.at(monday).shift).toEqual({ startMs: utc('2026-11-30T05:00'), endMs: utc('2026-11-30T13:00') })
  })
})
