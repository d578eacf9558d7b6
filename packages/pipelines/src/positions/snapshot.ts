import { compareText, finiteOrNull, PartitionClock, readEnvelope, requireIdentity, type SnapshotIdentity } from '@km0/windowing'
import type { PositionsOperators } from './operators.ts'
import type { PositionsPartition } from './partition.ts'
import type { OperatorName, SnapshotLine } from './snapshot-line.ts'
import { linesOfVersion1, type SettingsOfVersion1, settingsOfVersion1 } from './snapshot-version-1.ts'
import { forget, forgetMove, isGone, newRevisionLedger, newVan, type Van } from './van.ts'

/** Raise it when the state below, or what a rule makes of it, changes, and write what makes a state of the version before one of the new. */
export const POSITIONS_VERSION = 2
export const POSITIONS_PIPELINE = 'positions'

/** A line is put together, or read, in a millisecond or two. */
export const VANS_A_LINE = 64

/** State of a van in one operator as it stands in a snapshot; undefined when it has none there. */
const STATE_OF: Readonly<Record<OperatorName, (van: Van, finalMs: number) => unknown>> = {
  distance: ({ distance }) => (distance.length > 0 ? distance : undefined),
  revisions: ({ revisions }, finalMs) => {
    const rows = revisions?.after(finalMs) ?? []
    return rows.length > 0 ? rows : undefined
  },
  signal: ({ signal: { open, closedUntilMs } }) => {
    if (open.length === 0 && closedUntilMs === Number.NEGATIVE_INFINITY) return undefined
    const sorted = [...open].sort((a, b) => a.startMs - b.startMs)
    return { open: sorted, closedUntilMs: finiteOrNull(closedUntilMs) }
  },
  live: ({ live }) => (live.length > 0 ? live : undefined),
  moved: ({ moved }) =>
    moved === null ? undefined : { watermarkMs: finiteOrNull(moved.watermarkMs), finalMs: finiteOrNull(moved.finalMs) },
}
const OPERATORS = Object.keys(STATE_OF) as OperatorName[]

/** First line of a snapshot: whose state it is. */
export function headLine({ pipeline, version, settings }: SnapshotIdentity): string {
  return JSON.stringify({ pipeline, version, settings })
}

/** Lines of a partition. What can change no result is left out, forgotten already or not, so equal states are equal text. */
export function* partitionLines(operators: PositionsOperators, number: number, partition: PositionsPartition): Generator<string> {
  const { finalMs } = partition.clock
  yield JSON.stringify({ partition: number, clock: partition.clock.snapshot() })
  const names = [...partition.vans.keys()].sort(compareText)
  for (const operator of OPERATORS) {
    for (let first = 0; first < names.length; first += VANS_A_LINE) {
      const vans: [string, unknown][] = []
      for (const name of names.slice(first, first + VANS_A_LINE)) {
        const van = partition.vans.get(name)!
        // Forgetting changes no result, so a snapshot may do it.
        forget(operators, van, finalMs)
        forgetMove(van, partition.clock)
        if (isGone(van)) continue
        const state = STATE_OF[operator](van, finalMs)
        if (state !== undefined) vans.push([name, state])
      }
      if (vans.length > 0) yield JSON.stringify({ operator, vans })
    }
  }
}

/** The lines of a snapshot after its first, which must be of `expected` or of the version before. Throws an Error that says what differs. */
export function* readLines(lines: Iterator<string>, expected: SnapshotIdentity): Generator<SnapshotLine> {
  const { identity, rest } = readSnapshot(lines)
  requireIdentity(identity, expected)
  yield* rest
}

/** A snapshot of this version, or of one before with its migration applied: whose it is, and its further lines. */
export function readSnapshot(lines: Iterator<string>): { readonly identity: SnapshotIdentity; readonly rest: Iterable<SnapshotLine> } {
  const head = readEnvelope(lines.next().value ?? '')
  if (head.pipeline !== POSITIONS_PIPELINE || head.version !== 1) return { identity: head, rest: parsedLines(lines) }
  const identity = { ...head, version: 2, settings: settingsOfVersion1(head.settings as SettingsOfVersion1) }
  return { identity, rest: linesOfVersion1(head.state) }
}

function* parsedLines(lines: Iterator<string>): Generator<SnapshotLine> {
  for (let line = lines.next(); line.done !== true; line = lines.next()) yield JSON.parse(line.value) as SnapshotLine
}

/**
 * Puts the lines into new partitions made by `create`. Each step is short; the last one leaves them in `into`. The lines of a partition may
 * hold a van anywhere, and several times for different operators.
 */
export function* restorePartitions(
  lines: Iterable<SnapshotLine>,
  create: (clock: PartitionClock) => PositionsPartition,
  into: Map<number, PositionsPartition>,
): Generator<void> {
  let vans = new Map<string, Van>()
  let partition: PositionsPartition | null = null
  for (const line of lines) {
    if ('operator' in line) {
      restoreVans(line, vans)
      yield
      continue
    }
    if (partition !== null) yield* takeOver(partition, vans)
    vans = new Map()
    partition = create(PartitionClock.restore(line.clock))
    into.set(line.partition, partition)
  }
  if (partition !== null) yield* takeOver(partition, vans)
}

function* takeOver(partition: PositionsPartition, vans: ReadonlyMap<string, Van>): Generator<void> {
  let taken = 0
  for (const van of vans.values()) {
    partition.restoreVan(van)
    taken += 1
    if (taken % 1_000 === 0) yield
  }
}

function restoreVans(line: Extract<SnapshotLine, { operator: string }>, vans: Map<string, Van>): void {
  if (!OPERATORS.includes(line.operator)) {
    throw new Error(
      `the snapshot holds state of an operator that this program does not have: '${String((line as { operator: unknown }).operator)}'`,
    )
  }
  const vanOf = (name: string): Van => {
    const known = vans.get(name) ?? newVan(name)
    vans.set(name, known)
    return known
  }
  // As they were read: a copy would leave room to grow, which with many vans is a good part of the memory.
  if (line.operator === 'distance') for (const [name, panes] of line.vans) vanOf(name).distance = panes
  if (line.operator === 'live') for (const [name, points] of line.vans) vanOf(name).live = points
  if (line.operator === 'revisions') {
    for (const [name, rows] of line.vans) {
      const ledger = newRevisionLedger()
      ledger.restore(rows)
      vanOf(name).revisions = ledger
    }
  }
  if (line.operator === 'signal') {
    for (const [name, { open, closedUntilMs }] of line.vans) {
      const { signal } = vanOf(name)
      signal.open.push(...open)
      signal.closedUntilMs = closedUntilMs ?? Number.NEGATIVE_INFINITY
    }
  }
  if (line.operator === 'moved') {
    for (const [name, { watermarkMs, finalMs }] of line.vans) {
      vanOf(name).moved = { watermarkMs: watermarkMs ?? Number.NEGATIVE_INFINITY, finalMs: finalMs ?? Number.NEGATIVE_INFINITY }
    }
  }
}
