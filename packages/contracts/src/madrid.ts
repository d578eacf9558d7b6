/**
 * Civil days of Europe/Madrid. Since 1996 its clocks follow the directive of the European Union: UTC+1, and UTC+2 from 01:00 UTC on the last
 * Sunday of March to 01:00 UTC on the last Sunday of October. Own arithmetic, because an engine that hosts this code may know no time zones.
 */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MARCH = 3
const OCTOBER = 10

/** `[startMs, endMs)`. */
export interface Period {
  readonly startMs: number
  readonly endMs: number
}

/** The day of Madrid that holds `atMs`: 23, 24 or 25 hours. Right from 1996 on. */
export function madridDay(atMs: number): Period {
  const day = Math.floor((atMs + offsetMs(atMs)) / DAY_MS)
  return { startMs: midnightMs(day), endMs: midnightMs(day + 1) }
}

/**
 * The instant of the day of Madrid that holds `atMs` at which its clocks show a time, in minutes after midnight. The hour that is left out in
 * spring is taken an hour later; of the one that occurs twice the first counts.
 */
export function madridTimeOfDay(atMs: number, minutes: number): number {
  const { startMs } = madridDay(atMs)
  const wallMs = startMs + offsetMs(startMs) + minutes * 60_000
  const early = wallMs - 2 * HOUR_MS
  return offsetMs(early) === 2 * HOUR_MS ? early : wallMs - HOUR_MS
}

/** Calendar date of Madrid, `YYYY-MM-DD`, of the day that holds `atMs`. */
export function madridDate(atMs: number): string {
  // Half a day on it is the same date in UTC, whatever the clocks do.
  return new Date(madridDay(atMs).startMs + 12 * HOUR_MS).toISOString().slice(0, 10)
}

/** Day of the week in Madrid, 0 is Monday. */
export function madridWeekday(atMs: number): number {
  return (Math.floor((atMs + offsetMs(atMs)) / DAY_MS) + 3) % 7
}

/** Beginning of a date of Madrid, `YYYY-MM-DD`, from 1970 on; null when the calendar has no such day. */
export function madridDateMs(date: string): number | null {
  const utcMs = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
  if (!(utcMs >= 0) || new Date(utcMs).toISOString().slice(0, 10) !== date) return null
  return midnightMs(utcMs / DAY_MS)
}

/** The hour of Madrid's clocks that holds `atMs`. Clocks change by whole hours, at one. */
export function madridHour(atMs: number): Period {
  const startMs = Math.floor(atMs / HOUR_MS) * HOUR_MS
  return { startMs, endMs: startMs + HOUR_MS }
}

/** The same hour of the clock on the same weekday, so many weeks before. */
export function madridWeeksBefore(atMs: number, weeks: number): Period {
  const minutes = Math.floor(((atMs + offsetMs(atMs)) % DAY_MS) / HOUR_MS) * 60
  const { startMs } = madridDay(atMs)
  // Noon of that day: an hour more or less of daylight saving does not leave it.
  return madridHour(madridTimeOfDay(startMs + 12 * HOUR_MS - weeks * 7 * DAY_MS, minutes))
}

/** When a day, counted from 1970-01-01, begins in Madrid. Clocks change at 01:00 UTC, never between 22:00 and 24:00. */
function midnightMs(day: number): number {
  return day * DAY_MS - offsetMs(day * DAY_MS - HOUR_MS)
}

/** What Madrid's clocks are ahead of UTC. */
function offsetMs(atMs: number): number {
  const year = yearOf(Math.floor(atMs / DAY_MS))
  const summer = atMs >= lastSundayOf(year, MARCH) * DAY_MS + HOUR_MS && atMs < lastSundayOf(year, OCTOBER) * DAY_MS + HOUR_MS
  return summer ? 2 * HOUR_MS : HOUR_MS
}

/** Day number of the last Sunday of a month of 31 days. Day 0, 1970-01-01, was a Thursday. */
function lastSundayOf(year: number, month: number): number {
  const last = dayNumber(year, month, 31)
  return last - ((last + 4) % 7)
}

/** Days since 1970-01-01 of a date of the Gregorian calendar, from 1970 on: whole years counted from 1 March. */
function dayNumber(year: number, month: number, dayOfMonth: number): number {
  const fromMarch = month > 2 ? year : year - 1
  const months = (month + 9) % 12
  const leapDays = Math.floor(fromMarch / 4) - Math.floor(fromMarch / 100) + Math.floor(fromMarch / 400)
  return fromMarch * 365 + leapDays + Math.floor((153 * months + 2) / 5) + dayOfMonth - 719_469
}

function yearOf(day: number): number {
  const guess = 1970 + Math.floor(day / 365.2425)
  if (day < dayNumber(guess, 1, 1)) return guess - 1
  return day >= dayNumber(guess + 1, 1, 1) ? guess + 1 : guess
}
