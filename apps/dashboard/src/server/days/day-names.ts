import { madridDay, type Period } from '@km0/contracts'
import { Refusal } from '../guard.ts'

const DAY_MS = 86_400_000

/** The day of Europe/Madrid that `YYYY-MM-DD` names. Throws a Refusal for anything else. */
export function dayNamed(text: string): Period {
  const noonMs = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T12:00:00Z`) : Number.NaN
  // `2026-02-31` would be a day of March.
  if (Number.isNaN(noonMs) || new Date(noonMs).toISOString().slice(0, 10) !== text) {
    throw new Refusal(400, `"${text.slice(0, 40)}" is no day`, 'Write a day as YYYY-MM-DD.')
  }
  return madridDay(noonMs)
}

/** `count` days of which the last holds `lastMs`, in order. */
export function daysUntil(lastMs: number, count: number): Period[] {
  // Noon is in the same day whatever the clocks did in the night.
  const noonMs = madridDay(lastMs).startMs + DAY_MS / 2
  return Array.from({ length: count }, (_, index) => madridDay(noonMs - (count - 1 - index) * DAY_MS))
}

/** `YYYY-MM-DD` of a day of Europe/Madrid. */
export function nameOfDay(day: Period): string {
  return new Date(day.startMs + DAY_MS / 2).toISOString().slice(0, 10)
}
