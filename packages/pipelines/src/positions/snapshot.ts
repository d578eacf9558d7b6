import { type ClockSnapshot, compareText, type EmittedRow, PartitionClock, type Session } from '@km0/windowing'
import type { DistancePane, DistanceRow } from './distance.ts'
import type { PositionsOperators } from './operators.ts'
import type { PositionsPartition } from './partition.ts'
import { forget, isGone, newRevisionLedger, newVan, type Van } from './van.ts'

/** Raise it when the state below, or what a rule makes of it, changes. */
export const POSITIONS_VERSION = 1
export const POSITIONS_PIPELINE = 'positions'

interface SignalSnapshot {
  readonly open: readonly Session[]
  readonly closedUntilMs: number | null
}

/** In code-unit order of the vans. Not an object: a van may be called `__proto__`. */
type ByVan<State> = (readonly [van: string, state: State])[]

/** State of one partition by operator, and in each by van. */
export interface PartitionSnapshot {
  readonly partition: number
  readonly clock: ClockSnapshot
  readonly distance: ByVan<readonly DistancePane[]>
  readonly revisions: ByVan<readonly EmittedRow<DistanceRow>[]>
  readonly signal: ByVan<SignalSnapshot>
  readonly live: ByVan<readonly number[]>
}

/** State of a partition. What can change no result is left out, forgotten already or not, so equal states are equal text. */
export function snapshotPartition(operators: PositionsOperators, number: number, partition: PositionsPartition): PartitionSnapshot {
  const { finalMs } = partition.clock
  const distance: ByVan<readonly DistancePane[]> = []
  const revisions: ByVan<readonly EmittedRow<DistanceRow>[]> = []
  const signal: ByVan<SignalSnapshot> = []
  const live: ByVan<readonly number[]> = []
  const names = [...partition.vans.keys()].sort(compareText)
  for (const name of names) {
    const van = partition.vans.get(name)!
    // Forgetting changes no result, so a snapshot may do it.
    forget(operators, van, finalMs)
    if (isGone(van)) continue
    if (van.distance.length > 0) distance.push([name, van.distance])
    const rows = van.revisions?.after(finalMs) ?? []
    if (rows.length > 0) revisions.push([name, rows])
    const { open, closedUntilMs } = van.signal
    if (open.length > 0 || closedUntilMs > Number.NEGATIVE_INFINITY) {
      const sorted = [...open].sort((a, b) => a.startMs - b.startMs)
      signal.push([name, { open: sorted, closedUntilMs: Number.isFinite(closedUntilMs) ? closedUntilMs : null }])
    }
    if (van.live.length > 0) live.push([name, van.live])
  }
  return { partition: number, clock: partition.clock.snapshot(), distance, revisions, signal, live }
}

/** Puts the state of a snapshot into a new partition made by `create`. */
export function restorePartition(from: PartitionSnapshot, create: (clock: PartitionClock) => PositionsPartition): PositionsPartition {
  const partition = create(PartitionClock.restore(from.clock))
  const vans = new Map<string, Van>()
  const vanOf = (name: string): Van => {
    const known = vans.get(name) ?? newVan(name)
    vans.set(name, known)
    return known
  }
  for (const [name, panes] of from.distance) vanOf(name).distance.push(...panes)
  for (const [name, rows] of from.revisions) {
    const ledger = newRevisionLedger()
    ledger.restore(rows)
    vanOf(name).revisions = ledger
  }
  for (const [name, { open, closedUntilMs }] of from.signal) {
    const { signal } = vanOf(name)
    signal.open.push(...open)
    signal.closedUntilMs = closedUntilMs ?? Number.NEGATIVE_INFINITY
  }
  for (const [name, points] of from.live) vanOf(name).live.push(...points)
  for (const van of vans.values()) partition.restoreVan(van)
  return partition
}
