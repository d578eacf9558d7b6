import type { DayVan, DayView } from './days-panel.ts'
import type { OutageSpan, OutageView, PartitionFeed, TrailPoint } from './panel.ts'

/** What the page of a van shows of one day of Europe/Madrid, and the fleet replay of an hour. Distances in mm, times in ms since 1970. */

/** A sliding window as it is served. */
export interface VanDayWindow {
  readonly startMs: number
  readonly endMs: number
  readonly distanceMm: number
  readonly positions: number
  readonly jumps: number
  readonly displacementMm: number
  readonly revision: number
  /** null: a live row. */
  readonly version: number | null
}

/** A point that live results miss, wholly (`tard`) or in part. The source is the position itself. */
export interface VanDayLate {
  readonly eventMs: number
  readonly reason: 'tard' | 'parcial'
  readonly partition: number
  readonly offset: number
}

export interface VanDaySilence {
  readonly sinceMs: number
  /** null while it lasts. */
  readonly endedMs: number | null
  /** It overlaps an outage of ours. */
  readonly overOutage: boolean
}

export interface VanDaySession {
  readonly startMs: number
  readonly endMs: number
  readonly positions: number
  readonly version: number | null
}

/** What the store has of a van and a day, beside its hours. */
export interface VanDayRows extends Omit<DayView, 'nowMs'> {
  readonly windows: readonly VanDayWindow[]
  readonly sessions: readonly VanDaySession[]
  readonly silences: readonly VanDaySilence[]
  /** Outages of the van's partition that touch the day. */
  readonly outages: readonly OutageView[]
  readonly latePoints: readonly VanDayLate[]
  /** Source partition of the van's newest row; null when it has none. */
  readonly partition: number | null
}

/** Rules that are in force, as far as a reader needs them. */
export interface VanDayRules {
  readonly windowSizeMs: number
  readonly slideMs: number
  readonly sessionGapMs: number
  readonly maxSegmentMs: number
  readonly topSpeedMmPerMs: number
  readonly delayMs: number
  readonly allowedLatenessMs: number
  readonly stopDistanceMm: number
  readonly stopAfterMs: number
  /** How long a partition may be without a heartbeat before it counts as an outage of ours. */
  readonly outageAfterMs: number
}

/** How far the van's partition has come, and who is in it: why a window is open still. */
export interface PartitionProgress {
  readonly feed: PartitionFeed
  /** Records that the stream job had not read a few seconds ago; null when that is not known. */
  readonly behindRecords: number | null
  /** The vans of the partition that the asker may see, newest event time first; a few of them. */
  readonly newestVans: readonly { readonly van: string; readonly eventMs: number }[]
}

/** GET /api/van-day?van=&day= */
export interface VanDayView extends VanDayRows {
  readonly nowMs: number
  readonly rules: VanDayRules
  readonly progress: PartitionProgress | null
  /** Points of the last minutes, as they were heard; empty when the day is another one. */
  readonly live: readonly TrailPoint[]
}

/** A late point as the lake has it. */
export interface LakeLatePoint extends VanDayLate {
  /** Of five windows, how many had closed. */
  readonly windowsClosed: number | null
  readonly arrivalMs: number | null
  /** null when the lake lacks the position itself. */
  readonly lat: number | null
  readonly lon: number | null
}

/** A refused message of a van. */
export interface LakeRefusedPoint {
  readonly arrivalMs: number
  /** What the device said; null when it told none. */
  readonly eventMs: number | null
  /** Wire name. */
  readonly reason: string
  readonly detail: string | null
  /** Where it says it was made; null where the message does not tell, or is not kept. */
  readonly lat: number | null
  readonly lon: number | null
}

/**
 * Header of GET /api/van-day/track?van=&day=, packed columns: event time − `fromMs`, latitude and longitude in millionths of a degree,
 * arrival − event time (UNKNOWN_INT32: not known). In event order, each event time once.
 */
export interface VanTrackHeader {
  readonly van: string
  readonly fromMs: number
  readonly toMs: number
  /** `store`: at most one point in ten seconds, no delays, nothing of late and refused points. */
  readonly source: 'lake' | 'store'
  /** Why it is not the lake; null when it is. */
  readonly why: LakeTrouble | null
  /** Points that there are; more than rows when they were thinned. */
  readonly pointCount: number
  readonly late: readonly LakeLatePoint[]
  readonly refused: readonly LakeRefusedPoint[]
  /** There are more late or refused points than are told. */
  readonly isCut: boolean
}

/** What keeps the panel from reading the lake. `says` names what to do, in English, from where it was found. */
export interface LakeTrouble {
  readonly kind: 'not-installed' | 'missing' | 'unavailable' | 'opening' | 'too-slow'
  readonly says: string
}

/** GET /api/replay?from=&to=: whom the asker may see, and what is known of the span beside the lake. */
export interface ReplayView {
  readonly nowMs: number
  readonly vans: readonly DayVan[]
  readonly outages: readonly OutageSpan[]
}

/**
 * Header of GET /api/replay/hour?from=, packed columns: event time − `fromMs` (negative for the last point before), latitude and longitude in
 * millionths of a degree, index into `places` (−1: none). Rows lie van by van, in event order.
 */
export interface ReplayHourHeader {
  readonly fromMs: number
  readonly toMs: number
  /** One point of a van in so long. */
  readonly sampleMs: number
  /** Vans of the rows, and how many rows each has. */
  readonly vans: readonly { readonly van: string; readonly rows: number }[]
  readonly places: readonly string[]
}

/** How far back a van's last point is looked for when it has none in the hour. */
export const REPLAY_LOOK_BACK_MS = 12 * 3_600_000
/** Columns hold degrees as whole numbers: a tenth of a metre. */
export const DEGREE_PARTS = 1e6
