import { type Shift, WEEKDAYS } from './dispatch.ts'
import { madridDate, madridDay, madridTimeOfDay, madridWeekday, type Period } from './madrid.ts'
import type { Depot } from './panel.ts'

/** How far back and forth a calendar is asked, in days: over a fortnight of holidays. */
const LOOK_DAYS = 16
const DAY_MS = 86_400_000

/** What a calendar says of an instant. */
export interface ShiftNow {
  /** The shift in force; null between shifts. Shifts that touch are one. */
  readonly shift: Period | null
  /** When the next one begins, and when the last one ended; null when there is none near. */
  readonly nextMs: number | null
  readonly lastEndMs: number | null
}

/**
 * The shifts of a depot in Europe/Madrid. A date's shifts replace those of its weekday; a date without hours is a day off. A shift whose end
 * is at or before its start goes on over midnight, also into a day off. On the days when clocks change hours are those that the clock on the
 * wall shows: of the hour that occurs twice the first counts, the one that is left out is taken an hour later.
 */
export class ShiftCalendar {
  readonly #byDay = new Map<string, readonly Shift[]>()

  constructor(shifts: readonly Shift[]) {
    for (const shift of shifts) this.#byDay.set(shift.day, [...(this.#byDay.get(shift.day) ?? []), shift])
  }

  /** Nothing is known: everybody may be at work. */
  get isEmpty(): boolean {
    return this.#byDay.size === 0
  }

  /** Shifts that begin on the day of Madrid that holds `atMs`, in order. */
  ofDay(atMs: number): Period[] {
    const day = madridDay(atMs)
    const named = this.#byDay.get(madridDate(atMs)) ?? this.#byDay.get(WEEKDAYS[madridWeekday(atMs)] as string) ?? []
    const periods = named.flatMap(({ start, end }) => {
      if (start === null || end === null) return []
      const [from, to] = [minutesOf(start), minutesOf(end)]
      const endDayMs = to > from ? day.startMs : day.endMs
      return [{ startMs: madridTimeOfDay(day.startMs, from), endMs: madridTimeOfDay(endDayMs, to) }]
    })
    // A shift within the hour that is left out in spring is none.
    return periods.filter(({ startMs, endMs }) => endMs > startMs).sort((a, b) => a.startMs - b.startMs)
  }

  at(atMs: number): ShiftNow {
    let shift: Period | null = null
    let nextMs: number | null = null
    let lastEndMs: number | null = null
    for (const period of this.#around(atMs)) {
      if (period.endMs <= atMs) lastEndMs = Math.max(lastEndMs ?? 0, period.endMs)
      else if (period.startMs > atMs) nextMs = Math.min(nextMs ?? Number.POSITIVE_INFINITY, period.startMs)
      else shift = period
    }
    return { shift, nextMs, lastEndMs }
  }

  /** Shifts near an instant, those that touch or overlap joined. */
  #around(atMs: number): Period[] {
    // Noon: whatever the clocks do, a day on is the next day.
    const noonMs = madridDay(atMs).startMs + DAY_MS / 2
    const all = Array.from({ length: 2 * LOOK_DAYS + 1 }, (_, n) => this.ofDay(noonMs + (n - LOOK_DAYS) * DAY_MS)).flat()
    const joined: Period[] = []
    for (const period of all.sort((a, b) => a.startMs - b.startMs)) {
      const last = joined.at(-1)
      if (last !== undefined && period.startMs <= last.endMs) {
        joined[joined.length - 1] = { startMs: last.startMs, endMs: Math.max(last.endMs, period.endMs) }
      } else joined.push(period)
    }
    return joined
  }
}

/** The calendar of each depot: its shifts, or its daily hours where it has none. */
export function calendarsOf(depots: Iterable<Depot>, shifts: readonly Shift[]): Map<string, ShiftCalendar> {
  const byDepot = new Map<string, Shift[]>()
  for (const shift of shifts) byDepot.set(shift.depotId, [...(byDepot.get(shift.depotId) ?? []), shift])
  const calendars = new Map<string, ShiftCalendar>()
  for (const { id, shiftStart, shiftEnd } of depots) {
    const daily =
      shiftStart === null || shiftEnd === null ? [] : WEEKDAYS.map((day) => ({ depotId: id, day, start: shiftStart, end: shiftEnd }))
    const calendar = new ShiftCalendar(byDepot.get(id) ?? daily)
    if (!calendar.isEmpty) calendars.set(id, calendar)
  }
  return calendars
}

/** Minutes after midnight of `HH:MM`. */
function minutesOf(clock: string): number {
  const [hours, minutes] = clock.split(':').map(Number)
  return (hours ?? 0) * 60 + (minutes ?? 0)
}
