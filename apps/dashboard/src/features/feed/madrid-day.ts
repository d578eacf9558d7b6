const PARTS = new Intl.DateTimeFormat('en-CA', { timeZone: 'Europe/Madrid', year: 'numeric', month: '2-digit', day: '2-digit' })

/** Calendar day of Europe/Madrid, `YYYY-MM-DD`. */
export function madridDay(ms: number): string {
  return PARTS.format(ms)
}
