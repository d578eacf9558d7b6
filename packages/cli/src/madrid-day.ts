const HOUR_MS = 3_600_000

const wall = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'Europe/Madrid',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  hourCycle: 'h23',
})

/** Beginning of a day of Europe/Madrid, `YYYY-MM-DD`, in ms; null when the calendar has no such day. */
export function madridDayStartMs(date: string): number | null {
  const utcMs = Date.parse(`${date}T00:00:00Z`)
  if (!Number.isFinite(utcMs) || new Date(utcMs).toISOString().slice(0, 10) !== date) return null
  // Madrid is one or two hours ahead; its clocks change at night, but never at midnight.
  for (const hours of [1, 2]) {
    const candidateMs = utcMs - hours * HOUR_MS
    const parts = Object.fromEntries(wall.formatToParts(candidateMs).map(({ type, value }) => [type, value]))
    if (`${parts.year}-${parts.month}-${parts.day}` === date && parts.hour === '00') return candidateMs
  }
  return null
}
