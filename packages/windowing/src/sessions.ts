/** Points of one key that follow each other at most a gap apart: `[startMs, lastMs]`, both are points. */
export interface Session {
  startMs: number
  lastMs: number
  count: number
}

/** `joined`: at least one open session took the point. `opened`: a new one. `left-out`: it could only have opened one already closed. */
export type SessionEffect = 'joined' | 'opened' | 'left-out'

/**
 * Adds a point to the open sessions of a key. It joins every session that it is at most `gapMs` from; these become one. With none it opens
 * one, unless that would be due already (`atMs + gapMs < watermarkMs`).
 */
export function addToSessions(open: Session[], atMs: number, gapMs: number, watermarkMs: number): SessionEffect {
  let joined: Session | undefined
  for (let i = 0; i < open.length; i += 1) {
    const session = open[i]!
    if (atMs < session.startMs - gapMs || atMs > session.lastMs + gapMs) continue
    if (joined === undefined) {
      joined = session
      if (atMs < session.startMs) session.startMs = atMs
      if (atMs > session.lastMs) session.lastMs = atMs
      session.count += 1
    } else {
      joined.startMs = Math.min(joined.startMs, session.startMs)
      joined.lastMs = Math.max(joined.lastMs, session.lastMs)
      joined.count += session.count
      open.splice(i, 1)
      i -= 1
    }
  }
  if (joined !== undefined) return 'joined'
  if (atMs + gapMs < watermarkMs) return 'left-out'
  open.push({ startMs: atMs, lastMs: atMs, count: 1 })
  return 'opened'
}

/** When a session is due: the first watermark that closes it. */
export function sessionDueMs(session: Session, gapMs: number): number {
  return session.lastMs + gapMs + 1
}

/** Removes from `open` the sessions that the watermark closes and returns them, by last point. */
export function closeSessions(open: Session[], gapMs: number, watermarkMs: number): Session[] {
  const closed: Session[] = []
  for (let i = open.length - 1; i >= 0; i -= 1) {
    if (sessionDueMs(open[i]!, gapMs) <= watermarkMs) closed.push(...open.splice(i, 1))
  }
  return closed.sort((a, b) => a.lastMs - b.lastMs)
}
