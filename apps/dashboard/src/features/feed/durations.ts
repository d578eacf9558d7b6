/** Running time as people read it on a clock: `3:12`, `39:58`, `1:05:12`; from two days on `3 d`. */
export function clockDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const days = Math.floor(seconds / 86_400)
  if (days >= 2) return `${days} d`
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor(seconds / 60) % 60
  const rest = String(seconds % 60).padStart(2, '0')
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`
}

/** Age in one unit, for where there is little room: `40 s`, `3 min`, `2 h`, `5 d`. */
export function shortAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

/** The same as an ISO 8601 duration, for `<time datetime>`. */
export function isoDuration(ms: number): string {
  return `PT${Math.max(0, Math.floor(ms / 1000))}S`
}
