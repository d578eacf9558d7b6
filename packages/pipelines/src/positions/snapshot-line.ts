import type { ClockSnapshot, EmittedRow, Session } from '@km0/windowing'
import type { DistancePane, DistanceRow } from './distance.ts'
import type { MovedVan } from './van.ts'

interface SignalSnapshot {
  readonly open: readonly Session[]
  readonly closedUntilMs: number | null
}

/** In code-unit order of the vans. Not an object: a van may be called `__proto__`. */
type ByVan<State> = readonly (readonly [van: string, state: State])[]

/** What the lines after the first are: each partition's clock, then the state of its vans by operator, some vans a line. */
export type SnapshotLine =
  | { readonly partition: number; readonly clock: ClockSnapshot }
  | { readonly operator: 'distance'; readonly vans: ByVan<DistancePane[]> }
  | { readonly operator: 'revisions'; readonly vans: ByVan<readonly EmittedRow<DistanceRow>[]> }
  | { readonly operator: 'signal'; readonly vans: ByVan<SignalSnapshot> }
  | { readonly operator: 'live'; readonly vans: ByVan<number[]> }
  /** Of vans that came from another partition; there is mostly none. */
  | { readonly operator: 'moved'; readonly vans: ByVan<{ readonly [Mark in keyof MovedVan]: number | null }> }

export type OperatorName = Extract<SnapshotLine, { operator: string }>['operator']
