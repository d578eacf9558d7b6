import { BACKFILL_HOUR_MS as HOUR_MS } from '@km0/contracts'

/** `[startMs, endMs]`, first and last point. Sessions of one source are disjoint. */
export interface SessionSpan {
  readonly startMs: number
  readonly endMs: number
}

/** `[fromMs, toMs)`, whole hours. */
export interface HourRange {
  readonly fromMs: number
  readonly toMs: number
}

export interface SessionHours {
  /** Hours of one van whose sessions are to be those of the new version; null: none. */
  readonly range: HourRange | null
  /** The same before sessions that are still open were held back: what the version must hold. */
  readonly needed: HourRange
}

export interface SessionRule {
  /** Least final mark of the frozen log. */
  readonly finalMs: number
  readonly sessionGapMs: number
}

/**
 * Which hours of one van move to a new version when `asked` is published, so that no session is served twice and none is lost. Where a session of
 * the served or of the new version lies across a border, the hours in which either starts join. A session that is still open at the frozen
 * snapshot, or that would bring in an hour that is not final, stays as it is served, with every hour that hangs together with it: the range ends
 * before. `served` and `fresh` are the sessions that touch the range or start in it, in any order.
 */
export function sessionHours(
  asked: HourRange,
  served: readonly SessionSpan[],
  fresh: readonly SessionSpan[],
  rule: SessionRule,
): SessionHours {
  const needed = grown(asked, served, fresh)
  const toMs = heldBack(needed, served, fresh, rule)
  return { needed, range: toMs > needed.fromMs ? { fromMs: needed.fromMs, toMs } : null }
}

/** Whether the session is closed in every run over a log whose final marks have reached `finalMs`. */
export function isClosed({ endMs }: SessionSpan, { finalMs, sessionGapMs }: SessionRule): boolean {
  return endMs + sessionGapMs < finalMs
}

export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS
}

function grown({ fromMs, toMs }: HourRange, served: readonly SessionSpan[], fresh: readonly SessionSpan[]): HourRange {
  const all = [...served, ...fresh]
  for (;;) {
    const across = all.find((session) => session.startMs < fromMs && session.endMs >= fromMs)
    if (across === undefined) break
    fromMs = hourOf(across.startMs)
  }
  // Only now: which session covers another one at the end depends on where the range begins.
  for (;;) {
    const conflict = conflictAt(fromMs, toMs, served, fresh)
    if (conflict === undefined) return { fromMs, toMs }
    toMs = hourOf(conflict.beyondMs) + HOUR_MS
  }
}

function heldBack(needed: HourRange, served: readonly SessionSpan[], fresh: readonly SessionSpan[], rule: SessionRule): number {
  const { fromMs } = needed
  let toMs = Math.min(needed.toMs, hourOf(rule.finalMs))
  for (const session of fresh) {
    if (session.startMs >= fromMs && session.startMs < toMs && !isClosed(session, rule)) toMs = hourOf(session.startMs)
  }
  while (toMs > fromMs) {
    const conflict = conflictAt(fromMs, toMs, served, fresh)
    if (conflict === undefined) break
    toMs = hourOf(conflict.session.startMs)
  }
  return toMs
}

/**
 * A session that makes it wrong to end at `toMs`: a new one that covers a served one that starts beyond, or a served one whose end no new one
 * covers. `beyondMs` is a time in the hour that would have to join.
 */
function conflictAt(
  fromMs: number,
  toMs: number,
  served: readonly SessionSpan[],
  fresh: readonly SessionSpan[],
): { readonly session: SessionSpan; readonly beyondMs: number } | undefined {
  const isAcross = ({ startMs, endMs }: SessionSpan) => startMs >= fromMs && startMs < toMs && endMs >= toMs
  for (const session of fresh.filter(isAcross)) {
    const split = served.find(({ startMs }) => startMs >= toMs && startMs <= session.endMs)
    if (split !== undefined) return { session, beyondMs: split.startMs }
  }
  for (const session of served.filter(isAcross)) {
    const isCovered = fresh.some(({ startMs, endMs }) => startMs < toMs && startMs >= fromMs && endMs >= session.endMs)
    if (!isCovered) return { session, beyondMs: session.endMs }
  }
  return undefined
}
