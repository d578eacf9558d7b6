import { madridDate, madridDateMs, madridDay, madridTimeOfDay, type Period } from '@km0/contracts/madrid'
import { twiceOffset } from '../feed/twice-offset.ts'

const HOUR_MS = 3_600_000
const LOCAL = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}):(\d{2})(?::(\d{2}))?$/
const WALL = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Madrid',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

/** The day of Madrid that `YYYY-MM-DD` names; null for anything else. */
export function dayOfName(name: string): Period | null {
  const startMs = madridDateMs(name)
  return startMs === null ? null : madridDay(startMs)
}

/**
 * The instant that a link or a person names: `2026-11-24T15:00:00Z`, with another offset, or without one: then it is a time of Madrid, of the hour
 * that occurs twice the first. null for anything else.
 */
export function instantOf(text: string): number | null {
  const local = LOCAL.exec(text)
  if (local === null) {
    const ms = /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text) ? Date.parse(text) : Number.NaN
    return Number.isNaN(ms) ? null : ms
  }
  const day = dayOfName(local[1] ?? '')
  const [hour, minute, second] = [Number(local[2]), Number(local[3]), Number(local[4] ?? 0)]
  if (day === null || hour > 23 || minute > 59 || second > 59) return null
  return madridTimeOfDay(day.startMs, hour * 60 + minute) + second * 1_000
}

/** An instant as a link has it: UTC, to the second. */
export function instantName(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

/** An instant as `<input type="datetime-local">` has it: Madrid, to the minute. */
export function madridInput(ms: number): string {
  return `${madridDate(ms)}T${WALL.format(ms).slice(0, 5)}`
}

export interface DayTick {
  readonly ms: number
  /** Hour of the clocks of Madrid. */
  readonly hour: number
  /** `+02:00` or `+01:00`, where the hour occurs twice that day; null elsewhere. */
  readonly offset: string | null
}

/** Whole hours of a day of Madrid, 23, 24 or 25 of them. */
export function hoursOfDay(day: Period): DayTick[] {
  const count = Math.round((day.endMs - day.startMs) / HOUR_MS)
  const hours = Array.from({ length: count }, (_, index) => {
    const ms = day.startMs + index * HOUR_MS
    return { ms, hour: Number(WALL.format(ms).slice(0, 2)) }
  })
  return hours.map((tick) => ({ ...tick, offset: twiceOffset(tick.ms) }))
}
