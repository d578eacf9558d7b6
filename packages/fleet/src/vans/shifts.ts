import { Random } from '../random.ts'
import type { VanPlan } from './depots.ts'
import { isSunday, madridDay, madridInstantMs } from './madrid.ts'

/**
 * `always`: the demo. Each van has its own night of about four hours, spread over the clock, so that at any hour five in six are at
 * work, and every phone is on all day. `madrid`: two shifts by the clock of Europe/Madrid, none on Sundays, phones off between them.
 */
export type Hours = 'always' | 'madrid'

/** A van's day, from yard to yard. Days follow each other without a gap. */
export interface Shift {
  /** Number of the day; part of the seed of what happens in it. */
  readonly day: number
  readonly fromMs: number
  readonly untilMs: number
  /** The van leaves its yard not before, and is back at the latest; null on a day off. */
  readonly work: { readonly fromMs: number; readonly untilMs: number } | null
  /** When the phone is on; null when it never is. */
  readonly phone: { readonly fromMs: number; readonly untilMs: number } | null
}

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const SHIFT_MINUTES = 480

/** The day of a van that holds an instant. */
export function shiftAt(seed: number, van: VanPlan, hours: Hours, instantMs: number): Shift {
  return hours === 'always' ? demoDay(seed, van, instantMs) : madridShift(seed, van, instantMs)
}

function demoDay(seed: number, van: VanPlan, instantMs: number): Shift {
  // Equal steps around the clock, so that no hour is without vans; 37 steps apart, so that neighbours by number do not sleep together.
  const offsetMs = Math.floor(((van.number * 37) % 140) * (DAY_MS / 140))
  const day = Math.floor((instantMs - offsetMs) / DAY_MS)
  const fromMs = day * DAY_MS + offsetMs
  const untilMs = fromMs + DAY_MS
  const nightMs = new Random(seed, van.number, day, 11).integer(200, 260) * MINUTE_MS
  return { day, fromMs, untilMs, work: { fromMs: fromMs + nightMs, untilMs: untilMs - 5 * MINUTE_MS }, phone: { fromMs, untilMs } }
}

function madridShift(seed: number, van: VanPlan, instantMs: number): Shift {
  const day = madridDay(instantMs)
  const span = { fromMs: madridInstantMs(day, 0), untilMs: madridInstantMs(day + 1, 0) }
  if (isSunday(day)) return { day, ...span, work: null, phone: null }
  const late = new Random(seed, van.number, day, 12).integer(0, 25)
  const begin = van.number % 2 === 0 ? minutesOf(van.depot.shiftStart) + late : minutesOf(van.depot.shiftEnd) - SHIFT_MINUTES - 25 + late
  const work = { fromMs: madridInstantMs(day, begin), untilMs: madridInstantMs(day, begin + SHIFT_MINUTES) }
  return { day, ...span, work, phone: { fromMs: work.fromMs - 6 * MINUTE_MS, untilMs: work.untilMs + 4 * MINUTE_MS } }
}

function minutesOf(clock: string): number {
  const [hours, minutes] = clock.split(':').map(Number)
  return hours! * 60 + minutes!
}
