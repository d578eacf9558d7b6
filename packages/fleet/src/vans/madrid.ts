/** Local time of Europe/Madrid, by the time zone data of the runtime. */

const DAY_MS = 86_400_000
const parts = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Madrid',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
})

/** Milliseconds by which Madrid is ahead of UTC at an instant. */
export function madridOffsetMs(instantMs: number): number {
  const field = new Map(parts.formatToParts(instantMs).map((part) => [part.type, Number(part.value)]))
  const of = (type: Intl.DateTimeFormatPartTypes) => field.get(type)!
  const asUtcMs = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return asUtcMs - Math.floor(instantMs / 1000) * 1000
}

/** Number of the local day (days since 1970-01-01) that holds an instant. */
export function madridDay(instantMs: number): number {
  return Math.floor((instantMs + madridOffsetMs(instantMs)) / DAY_MS)
}

/** Instant of a local time of day, `minutes` after local midnight by the clock on the wall. */
export function madridInstantMs(day: number, minutes: number): number {
  const wallMs = day * DAY_MS + minutes * 60_000
  const guessMs = wallMs - madridOffsetMs(wallMs)
  return wallMs - madridOffsetMs(guessMs)
}

/** True on Sundays. */
export function isSunday(day: number): boolean {
  return (((day + 4) % 7) + 7) % 7 === 0
}
