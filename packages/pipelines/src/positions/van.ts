import { nextWindowEndMs, RevisionLedger } from '@km0/windowing'
import { type DistanceRow, type DistanceState, sameDistanceRow } from './distance.ts'
import type { LiveState } from './live-point.ts'
import type { PositionsOperators } from './operators.ts'
import { type VanName, vanName } from './rows.ts'
import { emptySignalState, type SignalState } from './signal.ts'

/**
 * How far the clock was of the partition from which a van came when the partitions were made anew. The clock of its new one may stand
 * further back; what was closed or final for the van stays so. Null in a snapshot is "not yet".
 */
export interface MovedVan {
  readonly watermarkMs: number
  readonly finalMs: number
}

/** All state of one van in one partition, by operator. */
export interface Van extends VanName {
  distance: DistanceState
  readonly signal: SignalState
  live: LiveState
  /** Rows of closed windows that are not final yet; null until there is one. */
  revisions: RevisionLedger<DistanceRow> | null
  /** Null for a van that was always here, and once the clock has caught up. */
  moved: MovedVan | null
  /** Its earliest timer; others of it in the queue are stale. */
  timerMs: number
}

/** What one advance of the watermark makes due for a van; ranks in order of emission. */
export const RANK = { distance: 0, session: 1, signal: 2 } as const

export function newVan(name: string): Van {
  return {
    ...vanName(name),
    distance: [],
    signal: emptySignalState(),
    live: [],
    revisions: null,
    moved: null,
    timerMs: Number.POSITIVE_INFINITY,
  }
}

export function newRevisionLedger(): RevisionLedger<DistanceRow> {
  return new RevisionLedger(sameDistanceRow)
}

/** First watermark above `watermarkMs` that makes something of the van due; Infinity when nothing is pending. */
export function nextDueMs(operators: PositionsOperators, van: Van, watermarkMs: number): number {
  let next = operators.signal.nextDueMs(van.signal)
  for (const pane of van.distance) {
    const endMs = nextWindowEndMs(operators.shape, pane.startMs, watermarkMs)
    if (endMs < next) next = endMs
    if (endMs < Number.POSITIVE_INFINITY) break
  }
  return next
}

/** Drops what can change no result any more when windows that end at or before `finalMs` are final. */
export function forget(operators: PositionsOperators, van: Van, finalMs: number): void {
  const spent = operators.distance.spentPanes(van.distance, finalMs)
  if (spent > 0) van.distance.splice(0, spent)
  van.revisions?.forget(finalMs)
  if (!operators.signal.remembers(van.signal, finalMs - operators.shape.sizeMs)) van.signal.closedUntilMs = Number.NEGATIVE_INFINITY
  if (operators.live?.isGone(van.live, finalMs)) van.live.length = 0
  else operators.live?.forget(van.live)
}

/** Forgets that a van came from elsewhere, once the clock has come as far. */
export function forgetMove(van: Van, { watermarkMs, finalMs }: MovedVan): void {
  if (van.moved !== null && watermarkMs >= van.moved.watermarkMs && finalMs >= van.moved.finalMs) van.moved = null
}

/** Whether a van that was just made to forget has nothing left. */
export function isGone(van: Van): boolean {
  return (
    van.distance.length === 0 &&
    van.signal.open.length === 0 &&
    van.signal.closedUntilMs === Number.NEGATIVE_INFINITY &&
    van.live.length === 0 &&
    van.moved === null
  )
}
