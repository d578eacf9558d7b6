import type { BackfillDifference, BackfillProgress, BackfillRequest, BackfillView, LakeTrackPoint, PublicationView } from './backfill.ts'
import type { NightRun } from './nightly.ts'

/** What the page of backfills shows and asks for. Times in ms since 1970. */

/** A backfill that would bring in late points. */
export interface BackfillProposal {
  readonly request: BackfillRequest
  /** Late points that it would bring in. */
  readonly points: number
}

export interface BackfillProposals {
  readonly proposals: readonly BackfillProposal[]
  readonly points: number
  /** Hours (of one van each) that are not final yet, and are proposed when the log is final up to `untilMs`; null: none. */
  readonly waiting: { readonly hours: number; readonly untilMs: number } | null
  /** Rows of the lake to read for all of them, about. */
  readonly rowsToRead: number
  /** How long all of them take, by the rate of the newest large runs. */
  readonly expectedMs: number
}

/** GET /api/backfills */
export interface BackfillsView {
  readonly nowMs: number
  readonly backfills: readonly BackfillView[]
  readonly publications: readonly PublicationView[]
  readonly dirty: BackfillProposals
  /** The last night runs, newest day first. */
  readonly nights: readonly NightRun[]
}

/** GET /api/backfills/one?id= */
export interface BackfillOneView {
  readonly nowMs: number
  readonly backfill: BackfillView
  readonly progress: BackfillProgress
  readonly log: readonly { readonly atMs: number; readonly line: string }[]
  readonly publications: readonly PublicationView[]
}

/** GET /api/backfills/difference?id= */
export interface BackfillDifferenceView extends BackfillDifference {
  readonly nowMs: number
}

/** GET /api/backfills/track?id=&van=&fromMs=&toMs=: the points that what is served now was computed from, and those of the version. */
export interface BackfillTrackView {
  readonly nowMs: number
  readonly van: string
  readonly before: readonly LakeTrackPoint[]
  readonly after: readonly LakeTrackPoint[]
}
