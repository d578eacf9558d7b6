import type { FaultKind } from '../faults/kinds.ts'

/** A message on its way to the broker. */
export interface Outgoing {
  readonly topic: string
  readonly payload: string | Buffer
  /** When it reaches the broker, by the time of the simulation or recording. */
  readonly arrivalMs: number
  /** null for the clock. */
  readonly van: string | null
  /** Event time in the payload as the van means it; null for the clock. */
  readonly eventMs: number | null
  /** The single fault it carries, if any. */
  readonly fault: FaultKind | null
}
