import { addToSessions, closeSessions, type Session, type SessionEffect, sessionDueMs } from '@km0/windowing'

/** State of the operator for one van. */
export interface SignalState {
  readonly open: Session[]
  /** Largest last point of its closed sessions; -Infinity before. */
  closedUntilMs: number
}

export function emptySignalState(): SignalState {
  return { open: [], closedUntilMs: Number.NEGATIVE_INFINITY }
}

/** Sessions with a gap, and the signal state of a van (section 5). They know W only, never the final mark. */
export class SignalOperator {
  private readonly gapMs: number

  constructor(gapMs: number) {
    this.gapMs = gapMs
  }

  /** Adds an accepted point, judged at the watermark before it. */
  add(state: SignalState, eventMs: number, watermarkMs: number): SessionEffect {
    return addToSessions(state.open, eventMs, this.gapMs, watermarkMs)
  }

  /** Whether a closed session would have held the point: live results miss it there. */
  missedBySession(state: SignalState, eventMs: number): boolean {
    return eventMs <= state.closedUntilMs + this.gapMs
  }

  /** Removes the sessions that the watermark closes and returns them, by last point. */
  close(state: SignalState, watermarkMs: number): Session[] {
    const closed = closeSessions(state.open, this.gapMs, watermarkMs)
    for (const session of closed) state.closedUntilMs = Math.max(state.closedUntilMs, session.lastMs)
    return closed
  }

  /** First watermark that closes a session; Infinity when none is open. */
  nextDueMs(state: SignalState): number {
    let next = Number.POSITIVE_INFINITY
    for (const session of state.open) next = Math.min(next, sessionDueMs(session, this.gapMs))
    return next
  }

  dueMs(session: Session): number {
    return sessionDueMs(session, this.gapMs)
  }

  /** Whether the closed sessions can still make a point `parcial`, when points at or before `oldestMs` can only be late. */
  remembers(state: SignalState, oldestMs: number): boolean {
    return state.closedUntilMs + this.gapMs > oldestMs
  }
}
