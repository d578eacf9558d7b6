import type { PipelineSettings } from '@km0/contracts/pipeline-settings'
import type { Lake } from '@km0/lake'
import type { Backfills } from '@km0/serving'

/** What the steps of a backfill work with. */
export interface BackfillContext {
  readonly lake: Lake
  readonly store: Backfills
  readonly pipelines: PipelineSettings
  readonly limits: BackfillLimits
  /** Real time, in ms. */
  readonly nowMs: () => number
}

export interface BackfillLimits {
  /** Points that one piece reads, about. */
  readonly pointsPerPiece: number
  /** Versions of an hour that are kept beside the served one. */
  readonly keepVersions: number
}

/** It will fail again however often it is tried. The message says what to do. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}
