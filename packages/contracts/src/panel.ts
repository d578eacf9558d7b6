import type { DispatchView } from './dispatch.ts'

/** What the panel's server, its REST interface and its socket say to a browser. Names here are English; wire names of Kafka stop before. */

/** Whose data a read may see. Every read model takes one. */
export type Scope = (
  | { readonly kind: 'all' }
  | { readonly kind: 'limited'; readonly depots: readonly string[]; readonly markets: readonly string[] }
) &
  SeenHow

/** How vans of a scope are shown, on the panel's server. Stores know nothing of it. */
export interface SeenHow {
  /** Vans have pseudonyms, and lie on a grid. */
  readonly masked?: true
  /** Vans off shift lie on a grid. */
  readonly coarseOffShift?: true
}

export const EVERYTHING: Scope = { kind: 'all' }

/** Who does something. Stored with every command of a person. */
export interface Actor {
  readonly id: string
  readonly name: string
  readonly roles: readonly string[]
}

export interface Depot {
  readonly id: string
  readonly name: string
  readonly lat: number
  readonly lon: number
  readonly markets: readonly string[]
  /** Local time of Europe/Madrid, `HH:MM`; null when no shift is known. */
  readonly shiftStart: string | null
  readonly shiftEnd: string | null
}

export interface RegisteredVan {
  readonly van: string
  readonly name: string
  readonly plate: string | null
  readonly depotId: string | null
  readonly inServiceFromMs: number | null
  readonly inServiceToMs: number | null
}

/** Newest point of a van by event time. */
export interface VanPoint {
  readonly van: string
  /** null for a van that is not registered. */
  readonly depotId: string | null
  readonly lat: number
  readonly lon: number
  readonly eventMs: number
  readonly arrivalMs: number
  readonly speedMmPerS: number | null
  readonly headingDegrees: number | null
  readonly doubtful: boolean
  readonly motion: 'moving' | 'stopped'
}

/** A point as the panel shows it: what its server adds to what the stream job says. */
export interface PanelPoint extends VanPoint {
  /** Name of the municipality that holds the point; null off the known ones. */
  readonly place: string | null
  /** Source partition of the van, null when unknown. While nothing comes from it, silence says nothing about the van. */
  readonly partition: number | null
  /** Of its newest point, where it was sent. */
  readonly batteryPercent: number | null
  /** What batches call the van (panel-batch.ts), for as long as the panel's server runs. */
  readonly slot?: number
}

export interface SignalView {
  readonly van: string
  readonly depotId: string | null
  readonly state: 'signal' | 'no-signal'
  /** Event time: of the first point of the session, or of the last point before the silence. */
  readonly sinceMs: number
}

export interface DistanceView {
  readonly van: string
  readonly depotId: string | null
  readonly windowStartMs: number
  readonly windowEndMs: number
  readonly distanceMm: number
  readonly positions: number
  readonly jumps: number
  readonly displacementMm: number
  readonly revision: number
}

export interface AcknowledgementView {
  readonly van: string
  readonly sinceMs: number
  readonly actor: Actor
  readonly note: string
  readonly atMs: number
}

export interface PartitionFeed {
  readonly partition: number
  readonly watermarkMs: number | null
  readonly progressMs: number | null
  readonly newestHeartbeatMs: number | null
  readonly newestRecordMs: number | null
}

/**
 * Why nothing is heard. `broker`: the bridge has no connection to the vans' broker; `bridge`, `kafka`, `stream`: it does not run or answer;
 * `behind`: the stream job runs and has not come so far yet; `catching-up`: the bridge receives again, and waits until what vans have saved up is in;
 * `partition`: only some partitions are stuck, and nobody says why.
 */
export type OutageCause = 'broker' | 'bridge' | 'kafka' | 'stream' | 'behind' | 'catching-up' | 'partition' | 'unknown'

/** An outage of ours that lasts. */
export interface FeedTrouble {
  readonly cause: OutageCause
  /** Platform time of the newest heartbeat of those partitions. */
  readonly sinceMs: number
  /** null: all. */
  readonly partitions: readonly number[] | null
}

/** An outage of ours that is over: no heartbeat of a partition from `fromMs` to `toMs`. */
export interface OutageView {
  readonly partition: number
  readonly fromMs: number
  readonly toMs: number
  readonly cause: OutageCause
}

/** Limits that the panel shares with its browsers. */
export interface PanelLimits {
  /** Without a heartbeat for longer than this, silence says nothing about vans. */
  readonly outageAfterMs: number
  /** Vans that are silent within this distance of a silent one are told with it. */
  readonly nearDistanceMm: number
}

export const DEFAULT_PANEL_LIMITS: PanelLimits = { outageAfterMs: 60_000, nearDistanceMm: 2_000_000 }

/**
 * How fresh the panel's knowledge is. `live`: heartbeats arrive. `stale`: none for more than 60 s, so silence of vans says nothing.
 * `none`: nothing has ever arrived.
 */
export interface FeedView {
  readonly state: 'live' | 'stale' | 'none'
  /** Since when nothing is known; null while live. */
  readonly noDataSinceMs: number | null
  /** The outage that lasts; null while every partition is heard, and before anything has arrived. */
  readonly trouble: FeedTrouble | null
  readonly partitions: readonly PartitionFeed[]
}

/** Whose time `nowMs` is: of the machine, which goes on between messages, or of the player of a recording, which does not. */
export type PanelClock = 'machine' | 'play'

/** Sent on every connect; replaces all that the browser knows. */
export interface PanelSnapshot {
  /** Number of the newest delta that it holds. */
  readonly sequence: number
  readonly clock: PanelClock
  /** Time of the platform when it was made: of the machine, or of the player in play mode. */
  readonly nowMs: number
  readonly limits: PanelLimits
  readonly feed: FeedView
  /** Outages that ended in the last week, oldest first. */
  readonly outages: readonly OutageView[]
  readonly depots: readonly Depot[]
  readonly registered: readonly RegisteredVan[]
  readonly points: readonly PanelPoint[]
  readonly signals: readonly SignalView[]
  /** Of the last 35 minutes. */
  readonly distances: readonly DistanceView[]
  readonly acknowledgements: readonly AcknowledgementView[]
  readonly dispatch?: DispatchView
}

/**
 * Sent about once a second with what has changed since. Deltas may be dropped on a slow line: one whose `sequence` is not the last one + 1
 * is not applied, and the browser asks for a snapshot.
 */
export interface PanelDelta {
  readonly sequence: number
  readonly nowMs: number
  readonly feed?: FeedView
  /** All that are kept, when there is a new one. */
  readonly outages?: readonly OutageView[]
  readonly points?: readonly PanelPoint[]
  readonly signals?: readonly SignalView[]
  readonly distances?: readonly DistanceView[]
  readonly acknowledgements?: readonly AcknowledgementView[]
  /** All of it, when any of it has changed. */
  readonly dispatch?: DispatchView
}

/** Where a van was: longitude, latitude, event time in ms. */
export type TrailPoint = readonly [lon: number, lat: number, eventMs: number]

/** Answer of `GET /api/trail?van=`: the last 15 minutes of a van, oldest first. */
export interface TrailView {
  readonly van: string
  readonly points: readonly TrailPoint[]
}

/** An outage as it is told: of the whole platform, or of some partitions. */
export interface OutageSpan {
  /** null: all that there are. */
  readonly partitions: readonly number[] | null
  readonly fromMs: number
  readonly toMs: number
  readonly cause: OutageCause
}

/** Answer of `GET /api/outages?from=&to=`: outages that touch the span, and the silences of vans that touch it. */
export interface OutagesView {
  readonly fromMs: number
  readonly toMs: number
  readonly outages: readonly OutageSpan[]
  readonly silences: {
    /** Of vans alone. */
    readonly counted: number
    /** That overlap an outage of ours, and so say nothing about a van: left out of counts. */
    readonly overOutages: number
  }
}

/** Body of `POST /api/acknowledgements`. */
export interface AcknowledgementCommand {
  readonly van: string
  /** `sinceMs` of the signal state that is acknowledged. */
  readonly sinceMs: number
  readonly note: string
}

/** Every refusal of the panel's REST interface. `hint` says what to do. */
export interface PanelError {
  readonly error: string
  readonly hint: string
}

export interface ServerToPanel {
  snapshot: (snapshot: unknown) => void
  delta: (delta: unknown) => void
  /** A packed batch of vans that have just moved (panel-batch.ts), several times a second. May be lost. */
  points: (batch: ArrayBuffer | Uint8Array) => void
}

export interface PanelToServer {
  /** The browser missed a delta and wants a snapshot. */
  resync: () => void
}

export interface HealthReport {
  readonly status: 'ok' | 'degraded' | 'down'
  readonly parts: Readonly<Record<string, { readonly status: 'ok' | 'degraded' | 'down'; readonly detail?: string }>>
  /** Of the panel: a position has travelled to where sockets read it. False on an idle fleet, which is no fault. */
  readonly ready?: boolean
}
