import type { LakeTrouble } from '@km0/contracts/van-day-panel'

/** A van and a span, `[fromMs, toMs)`. */
export interface VanDayQuery {
  readonly van: string
  readonly fromMs: number
  readonly toMs: number
}

export interface ReplayQuery {
  readonly fromMs: number
  readonly toMs: number
  /** Whom the asker may see; null: everybody. */
  readonly vans: readonly string[] | null
}

/** What the panel reads of the lake, as packed columns. Both reject with LakeTroubleError, and with any error when `signal` is aborted. */
export interface LakeReads {
  /** Track, late and refused points of a van: VanTrackHeader. */
  vanDay(query: VanDayQuery, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>>
  /** Where everybody was in a span: ReplayHourHeader. */
  replay(query: ReplayQuery, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>>
}

/** The lake cannot be read, and everything else can go on. */
export class LakeTroubleError extends Error {
  override readonly name = 'LakeTroubleError'
  readonly trouble: LakeTrouble

  constructor(trouble: LakeTrouble) {
    super(trouble.says)
    this.trouble = trouble
  }
}
