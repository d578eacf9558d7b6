import type { ClockSettings } from '@km0/contracts'
import type { ClockSnapshot } from '@km0/windowing'

/** State of the shuffle's work on one source partition: small enough to travel with each commit of an offset. */
export interface ShuffleSnapshot {
  readonly clock: ClockSnapshot
  readonly configured: ClockSettings | null
  /** Newest source offset applied, -1 before the first. */
  readonly followedOffset: number
  /** Number of the next own record. */
  readonly number: number
  readonly toldMs: number | null
}
