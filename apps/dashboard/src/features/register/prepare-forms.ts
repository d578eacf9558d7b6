import { type RegisterView, type Shift, WEEKDAYS } from '@km0/contracts/dispatch'

/** What a form says is wrong, as a key of its texts and what it is about. */
export interface FormProblem {
  readonly problem: 'hours' | 'date' | 'zone' | 'taken' | 'place'
  readonly what: string
}

type Hours = Pick<Shift, 'start' | 'end'>

/** Hours as people write them: `06:30-14:00, 15-21:30`; '' is none. null when it is not that. */
export function readHours(text: string): Hours[] | null {
  const parts = text.split(/[,;]/).map((part) => part.trim())
  if (parts.length === 1 && parts[0] === '') return []
  const hours = parts.map((part) => {
    const [, start, end] = /^(\d{1,2}(?:[:.]\d{2})?)\s*(?:-|–|—)\s*(\d{1,2}(?:[:.]\d{2})?)$/.exec(part) ?? []
    return { start: readClock(start), end: readClock(end) }
  })
  return hours.every(({ start, end }) => start !== null && end !== null) ? hours : null
}

function readClock(text: string | undefined): string | null {
  if (text === undefined) return null
  const [hour = '', minute = '00'] = text.split(/[:.]/)
  return Number(hour) < 24 && Number(minute) < 60 ? `${hour.padStart(2, '0')}:${minute}` : null
}

export const writeHours = (hours: readonly Hours[]) => hours.map(({ start, end }) => `${start}–${end}`).join(', ')

/** A depot's calendar as its form has it: hours by weekday, and a line for each date that differs. */
export interface CalendarFields {
  readonly week: Readonly<Record<string, string>>
  readonly dates: readonly { readonly date: string; readonly hours: string }[]
}

export function calendarFields(view: RegisterView, depotId: string): CalendarFields {
  const own = view.shifts.filter((shift) => shift.depotId === depotId)
  const hoursOf = (day: string) => writeHours(own.filter((shift) => shift.day === day && shift.start !== null))
  const dates = [...new Set(own.map(({ day }) => day).filter((day) => day.includes('-')))].sort()
  return {
    week: Object.fromEntries(WEEKDAYS.map((day) => [day, hoursOf(day)])),
    dates: dates.map((date) => ({ date, hours: hoursOf(date) })),
  }
}

/** The shifts that the fields tell, in the order of the days. A date without hours is a day off; a weekday without hours has none. */
export function shiftsOf({ week, dates }: CalendarFields): readonly Omit<Shift, 'depotId'>[] | FormProblem {
  const shifts: Omit<Shift, 'depotId'>[] = []
  for (const day of WEEKDAYS) {
    const hours = readHours(week[day] ?? '')
    if (hours === null) return { problem: 'hours', what: week[day] ?? '' }
    shifts.push(...hours.map((span) => ({ day, ...span })))
  }
  const seen = new Set<string>()
  for (const { date, hours: text } of dates) {
    if (date === '' && text.trim() === '') continue
    if (!/^\d{4}-\d{2}-\d{2}$/.test(date) || seen.has(date)) return { problem: 'date', what: date === '' ? text : date }
    seen.add(date)
    const hours = readHours(text)
    if (hours === null) return { problem: 'hours', what: text }
    shifts.push(...(hours.length === 0 ? [{ day: date, start: null, end: null }] : hours.map((span) => ({ day: date, ...span }))))
  }
  return shifts
}

/** `latitude, longitude` as maps give it to copy; null when it is not that. Decimals with a point. */
export function readPlace(text: string): { readonly lat: number; readonly lon: number } | null {
  const [, lat, lon] = /^\s*\(?(-?\d+(?:\.\d+)?)[,\s]+(-?\d+(?:\.\d+)?)\)?\s*$/.exec(text) ?? []
  const place = { lat: Number(lat), lon: Number(lon) }
  return lat !== undefined && Math.abs(place.lat) <= 90 && Math.abs(place.lon) <= 180 ? place : null
}

/** GeoJSON as text, '' is none. Whether it is a zone is for the server to say. */
export function readZone(text: string): { readonly zone: object | null } | FormProblem {
  if (text.trim() === '') return { zone: null }
  try {
    const zone: unknown = JSON.parse(text)
    if (typeof zone === 'object' && zone !== null && !Array.isArray(zone)) return { zone }
  } catch {
    // Said below.
  }
  return { problem: 'zone', what: text.slice(0, 40) }
}

/** An identifier from a name: letters, digits and dashes. */
export function idOf(name: string): string {
  return name
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 64)
}
