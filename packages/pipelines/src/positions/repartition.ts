import { type ClockSnapshot, compareText, linesOf, requireIdentity, type SnapshotIdentity } from '@km0/windowing'
import { headLine, readSnapshot, VANS_A_LINE } from './snapshot.ts'
import type { OperatorName } from './snapshot-line.ts'
import { joinTask, splitTask } from './task-state.ts'

/** State of a van in each operator that has some of it. */
type VanStates = Map<OperatorName, unknown>
type Partition = Map<string, VanStates>

/**
 * States of the positions pipeline for another number of partitions: `snapshots` are those of all partitions of before, of one version and
 * settings. Each van's state goes to the partition that `partitionOf` says. The clock of each new partition is the least of the old ones
 * (section 4 of the design: nothing may be late that was not); a van whose own was further keeps that mark, so that what was closed for it
 * is not closed again from what is left of it. Returns a snapshot a partition. Throws an Error that names a van with state in two of the old
 * partitions, as its halves cannot be put together.
 */
export function repartitionPositions(
  snapshots: readonly string[],
  partitions: number,
  partitionOf: (van: string) => number,
): readonly string[] {
  const states = Array.from({ length: partitions }, (): Partition => new Map())
  const clocks: ClockSnapshot[] = []
  const homes = new Map<string, number>()
  let identity: SnapshotIdentity | null = null
  const marks = new Map<string, ClockSnapshot>()
  for (const [number, snapshot] of snapshots.entries()) {
    const read = readSnapshot(linesOf(snapshot)[Symbol.iterator]())
    if (identity === null) identity = read.identity
    else requireIdentity(read.identity, identity)
    let clock = NEVER
    for (const line of read.rest) {
      if (!('operator' in line)) {
        clock = line.clock
        continue
      }
      for (const [van, state] of line.vans) {
        const home = homes.get(van) ?? number
        if (home !== number) throw new Error(`${van} has state in the partitions ${home} and ${number}: they cannot be put together`)
        homes.set(van, number)
        marks.set(van, clock)
        statesOf(states, partitionOf(van), van).set(line.operator, state)
      }
    }
    clocks.push(clock)
  }
  if (identity === null) throw new Error('there is no state to put into other partitions')
  const clock = least(clocks)
  for (const [van, own] of marks) keepMark(statesOf(states, partitionOf(van), van), own, clock)
  const head = headLine(identity)
  return states.map((vans, partition) => [head, ...linesOfPartition(partition, clock, vans)].join('\n'))
}

/** Of a partition that nothing was ever applied to; it has no settings in force either. */
const NEVER: ClockSnapshot = { progressMs: null, watermarkMs: null, finalMs: null, delayMs: 0, allowedLatenessMs: 0 }

function statesOf(partitions: readonly Partition[], partition: number, van: string): VanStates {
  const vans = partitions[partition]
  if (vans === undefined) throw new Error(`there is no partition ${partition} for ${van}`)
  const known = vans.get(van) ?? new Map()
  vans.set(van, known)
  return known
}

/** The least of each mark, "not yet" being the least of all; the settings in force are those that make the fewest points late. */
function least(clocks: readonly ClockSnapshot[]): ClockSnapshot {
  const heard = clocks.filter((clock) => clock !== NEVER)
  if (heard.length === 0) return NEVER
  const of = (mark: 'progressMs' | 'watermarkMs' | 'finalMs') =>
    clocks.reduce<number | null>((min, clock) => {
      const own = clock[mark]
      return min === null || own === null ? null : Math.min(min, own)
    }, Number.POSITIVE_INFINITY)
  return {
    progressMs: of('progressMs'),
    watermarkMs: of('watermarkMs'),
    finalMs: of('finalMs'),
    delayMs: Math.max(...heard.map(({ delayMs }) => delayMs)),
    allowedLatenessMs: Math.max(...heard.map(({ allowedLatenessMs }) => allowedLatenessMs)),
  }
}

interface Marks {
  readonly watermarkMs: number | null
  readonly finalMs: number | null
}

function keepMark(states: VanStates, own: ClockSnapshot, clock: ClockSnapshot): void {
  // A van that is moved again before its clock has caught up.
  const before = (states.get('moved') ?? { watermarkMs: null, finalMs: null }) as Marks
  const greater = (a: number | null, b: number | null) => (a === null ? b : b === null ? a : Math.max(a, b))
  const watermarkMs = greater(own.watermarkMs, before.watermarkMs)
  const finalMs = greater(own.finalMs, before.finalMs)
  if (watermarkMs === clock.watermarkMs && finalMs === clock.finalMs) states.delete('moved')
  else states.set('moved', { watermarkMs, finalMs })
}

/** Operators in any order, as a snapshot may have them; vans in theirs. */
function* linesOfPartition(partition: number, clock: ClockSnapshot, vans: Partition): Generator<string> {
  if (clock === NEVER) return
  yield JSON.stringify({ partition, clock })
  const names = [...vans.keys()].sort(compareText)
  const operators = new Set([...vans.values()].flatMap((states) => [...states.keys()]))
  for (const operator of operators) {
    const having = names.filter((name) => vans.get(name)?.has(operator) === true)
    for (let first = 0; first < having.length; first += VANS_A_LINE) {
      yield JSON.stringify({
        operator,
        vans: having.slice(first, first + VANS_A_LINE).map((name) => [name, vans.get(name)?.get(operator)]),
      })
    }
  }
}

/**
 * The same for the states that the job stores. What the job knows of its partitions comes from the one whose newest heartbeat is the oldest.
 */
export function repartitionTasks(states: readonly string[], partitions: number, partitionOf: (van: string) => number): readonly string[] {
  const tasks = states.map(splitTask)
  const oldest = tasks.map(({ head }) => head).sort((a, b) => (a.heartbeatMs ?? 0) - (b.heartbeatMs ?? 0))[0]
  const snapshots = repartitionPositions(
    tasks.map(({ snapshot }) => snapshot),
    partitions,
    partitionOf,
  )
  return snapshots.map((snapshot) => joinTask(oldest ?? { heartbeatMs: null }, snapshot))
}
