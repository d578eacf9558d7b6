import type { Actor } from './panel.ts'

/** What batch workers, store, panel and terminal say to each other of backfills; docs/backfills.md. */

export const BACKFILL_HOUR_MS = 3_600_000

/** Which pipeline is run again: that of the vans' positions, or that of low stock. */
export type BackfillPipeline = 'positions' | 'stock'

/**
 * Kinds of result that pointers tell apart. An hour `[h, h + 1 h)` holds the windows, alerts and hours of distance with `h < fi_ms ≤ h + 1 h`
 * and the sessions with `h ≤ inici_ms < h + 1 h`.
 */
export type ResultKind = 'distance' | 'session' | 'travel' | 'alert'

export const BACKFILL_KINDS: Readonly<Record<BackfillPipeline, readonly ResultKind[]>> = {
  positions: ['distance', 'session', 'travel'],
  stock: ['alert'],
}

/** A range of whole hours (UTC) and whose results: vans, or markets for `stock`; null for all. */
export interface BackfillRequest {
  readonly pipeline: BackfillPipeline
  readonly fromMs: number
  readonly toMs: number
  readonly owners: readonly string[] | null
}

/** `ready`: complete, beside what is served. What of it is served is told by its publications. */
export type BackfillState = 'running' | 'ready' | 'failed' | 'cancelled'

/** A stretch of hours of one van or market that is treated otherwise than asked, and why. */
export interface HoursOfOwner {
  readonly owner: string
  readonly fromMs: number
  readonly toMs: number
  /** In words. */
  readonly why: string
}

/** What a backfill would do, before anything is computed. */
export interface BackfillPreview {
  readonly request: BackfillRequest
  /** Version of the lake that was looked at. */
  readonly snapshot: number
  /** Least final mark of the partitions; null when one of them has none. */
  readonly finalMs: number | null
  /** null: it may be run; else why not, and what to do. */
  readonly refusal: string | null
  readonly hours: number
  readonly owners: number
  /** Rows of the lake to read. */
  readonly rows: number
  readonly expectedMs: number
  /** Points that live results miss wholly (`tard`) and in part (`parcial`); for stock late events. */
  readonly late: { readonly tard: number; readonly parcial: number; readonly owners: readonly OwnerCount[] }
  readonly refused: readonly RefusedCount[]
  /** Hours beside the range that its sessions bring in. */
  readonly joined: readonly HoursOfOwner[]
  /** Hours of the range whose sessions stay as they are. */
  readonly held: readonly HoursOfOwner[]
  /** The version that this very backfill has made already. */
  readonly version: number | null
  /** The served results are those that it would compute. */
  readonly changesNothing: boolean
  /** All of it in sentences, most important first. */
  readonly says: readonly string[]
}

export interface OwnerCount {
  readonly owner: string
  readonly tard: number
  readonly parcial: number
}

/** Dead letters that arrived in the range, by reason. */
export interface RefusedCount {
  readonly reason: string
  readonly count: number
  readonly owners: readonly string[]
  /** Median of event time − arrival; null where the device told none. */
  readonly aheadMs: number | null
}

/** A version of results: one backfill as it was asked for, frozen and run. */
export interface BackfillView {
  readonly id: number
  readonly request: BackfillRequest
  readonly state: BackfillState
  readonly actor: Actor
  readonly reason: string
  readonly requestedAtMs: number
  readonly finishedAtMs: number | null
  /** Version of the lake that it reads. */
  readonly snapshot: number
  readonly finalMs: number
  /** Code and rules that computed it. */
  readonly code: string
  readonly points: number
  readonly rows: number
  /** Why it failed, and what to do. */
  readonly error: string | null
  /** (kind, hour, owner) that it holds, and of those the ones that are served. */
  readonly hours: number
  readonly servedHours: number
}

/** How far a run has come. */
export interface BackfillProgress {
  readonly id: number
  readonly state: BackfillState
  readonly points: number
  readonly pointsDone: number
  readonly pieces: number
  readonly piecesDone: number
  /** By UTC day, in order. */
  readonly days: readonly { readonly dayMs: number; readonly points: number; readonly pointsDone: number }[]
  /** Points a second since it began; null at the beginning. */
  readonly pointsPerSecond: number | null
  readonly leftMs: number | null
  readonly error: string | null
}

/** What an hour of a van or market loses, gains and changes when a version is published. Distances are of the hour as it was travelled. */
export interface DifferenceHour {
  readonly owner: string
  readonly hourMs: number
  readonly kind: ResultKind
  readonly added: number
  readonly removed: number
  readonly changed: number
  /** Only for `travel`; null when there is no row. */
  readonly beforeMm: number | null
  readonly afterMm: number | null
}

export interface BackfillDifference {
  readonly id: number
  /** Newest publication that it was compared with; 0: none. */
  readonly publication: number
  /** The version is served: this is what it changed when it was published. */
  readonly isServed: boolean
  readonly added: number
  readonly removed: number
  readonly changed: number
  readonly beforeMm: number
  readonly afterMm: number
  /** Only hours in which something differs, by owner, hour and kind. */
  readonly hours: readonly DifferenceHour[]
}

/** A move of pointers: `version` null means live rows. */
export interface PointerMove {
  readonly kind: ResultKind
  readonly owner: string
  readonly fromMs: number
  readonly toMs: number
  readonly before: number | null
  readonly after: number | null
}

export interface PublicationView {
  readonly id: number
  readonly action: 'publish' | 'rollback'
  /** The version that was published, or whose publication was rolled back. */
  readonly version: number
  /** Of a roll back: which publication it undid. */
  readonly undoes: number | null
  readonly actor: Actor
  readonly reason: string
  readonly atMs: number
  /** (kind, hour, owner) whose pointer moved. */
  readonly hours: number
  /** Sessions that were left as they were. */
  readonly held: readonly HoursOfOwner[]
}

/** A point of a track as the lake has it. */
export interface LakeTrackPoint {
  readonly eventMs: number
  readonly lat: number
  readonly lon: number
  /** Arrival − event time. */
  readonly delayMs: number
}
