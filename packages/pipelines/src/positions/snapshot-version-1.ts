import type { PositionsSettings } from '@km0/contracts'
import type { SnapshotLine } from './snapshot-line.ts'

type OperatorOfVersion1 = Exclude<Extract<SnapshotLine, { operator: string }>, { operator: 'moved' }>

export type SettingsOfVersion1 = Omit<PositionsSettings, 'liveMemoryMs' | 'delayMs' | 'allowedLatenessMs'>

/** Version 1 was one text, all state in its first line; the parts are those of today. */
interface StateOfVersion1 {
  readonly partitions: readonly (Extract<SnapshotLine, { partition: number }> & {
    readonly [Operator in OperatorOfVersion1 as Operator['operator']]: Operator['vans']
  })[]
}

/** Live points were remembered for as long as a point may be old: for 7 days at most, which are the default of today. */
export function settingsOfVersion1({ stopDistanceMm, stopAfterMs, stopMemoryMs, stopLeastMs, ...before }: SettingsOfVersion1) {
  return { ...before, liveMemoryMs: 604_800_000, stopDistanceMm, stopAfterMs, stopMemoryMs, stopLeastMs }
}

/** A state of version 1 as lines of version 2. */
export function* linesOfVersion1(state: unknown): Generator<SnapshotLine> {
  for (const { partition, clock, distance, revisions, signal, live } of (state as StateOfVersion1).partitions) {
    yield { partition, clock }
    yield { operator: 'distance', vans: distance }
    yield { operator: 'revisions', vans: revisions }
    yield { operator: 'signal', vans: signal }
    yield { operator: 'live', vans: live }
  }
}
