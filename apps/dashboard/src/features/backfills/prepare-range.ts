import { madridDay } from '@km0/contracts/madrid'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export interface HourRange {
  readonly fromMs: number
  readonly toMs: number
}

export type Preset = 'yesterday' | 'week' | 'own'

/** Whole hours of a preset: yesterday of Madrid, or the seven days before today. */
export function presetRange(preset: Exclude<Preset, 'own'>, nowMs: number): HourRange {
  const today = madridDay(nowMs)
  const days = preset === 'yesterday' ? 1 : 7
  return { fromMs: madridDay(today.startMs - days * DAY_MS + DAY_MS / 2).startMs, toMs: today.startMs }
}

/**
 * `YYYY-MM-DDTHH:00` as a clock in Madrid shows it; null when no such time exists (the hour that is left out in spring) or it is not a whole
 * hour. The hour that occurs twice is the first of the two.
 */
export function madridInstantMs(text: string): number | null {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:00(:00)?$/.test(text)) return null
  const asUtcMs = Date.parse(`${text.slice(0, 13)}:00:00Z`)
  if (Number.isNaN(asUtcMs)) return null
  // Summer first: it is the earlier of two.
  return [2, 1].map((hours) => asUtcMs - hours * HOUR_MS).find((ms) => madridText(ms) === text.slice(0, 16)) ?? null
}

/** An instant as a clock in Madrid shows it, `YYYY-MM-DDTHH:00`, for `<input type="datetime-local">`. */
export function madridText(ms: number): string {
  const parts = PARTS.formatToParts(ms)
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((found) => found.type === type)?.value ?? ''
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}`
}

const PARTS = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'Europe/Madrid',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
