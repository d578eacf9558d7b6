const PARTS = new Intl.DateTimeFormat('en', {
  timeZone: 'Europe/Madrid',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
})
const HOUR_MS = 3_600_000

/** How far Europe/Madrid is ahead of UTC. */
function offsetMs(atMs: number): number {
  const given = Object.fromEntries(PARTS.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = given
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1_000) * 1_000
}

/** The offset of a time of Europe/Madrid whose hour occurs twice that day (`+02:00`, then `+01:00`); null on every other one. */
export function twiceOffset(atMs: number): string | null {
  const now = offsetMs(atMs)
  // The clock is set back by an hour: the same time of day comes an hour later again, or came an hour before.
  const occursAgain = offsetMs(atMs + HOUR_MS) === now - HOUR_MS
  const occurredBefore = offsetMs(atMs - HOUR_MS) === now + HOUR_MS
  return occursAgain || occurredBefore ? `+0${now / HOUR_MS}:00` : null
}
