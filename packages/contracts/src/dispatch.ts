import type { Actor, Depot, RegisteredVan } from './panel.ts'

/** What the panel's dispatch adds to the live picture: shifts, mutes, what is usual, and silences as they are stored. */

/** Day of a shift: a weekday, or a date `YYYY-MM-DD` that replaces the weekday's shifts. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** A shift of a depot, in local time of Europe/Madrid. */
export interface Shift {
  readonly depotId: string
  readonly day: string
  /** `HH:MM`; null with `end`: nobody works that day. */
  readonly start: string | null
  /** At or before `start`: on the next day. */
  readonly end: string | null
}

/** GeoJSON geometry of a market's zone: longitude before latitude. */
export type Zone =
  | { readonly type: 'Polygon'; readonly coordinates: readonly (readonly (readonly number[])[])[] }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly (readonly (readonly (readonly number[])[])[])[] }

export interface Market {
  readonly id: string
  readonly name: string
  /** null: none is known, so nobody is outside it. */
  readonly zone: Zone | null
}

/** Somebody does not want to hear of a van's silence, or of a depot's, for a while. */
export interface MuteView {
  readonly id: number
  readonly kind: 'van' | 'depot'
  /** Name of the van or id of the depot. */
  readonly subject: string
  /** null: until somebody lifts it. */
  readonly untilMs: number | null
  readonly note: string
  readonly actor: Actor
  readonly atMs: number
}

/** What is usual for a van in an hour of the week, from the four weeks before. */
export interface UsualDistance {
  readonly van: string
  /** 99 % of its windows were at most so long. */
  readonly p99Mm: number
  /** How many windows that is made of. */
  readonly windows: number
}

/** A silence as it is stored, with what late points say of it now. */
export interface SilenceEpisode {
  readonly van: string
  readonly depotId: string | null
  /** Event time of the last point that was known then. */
  readonly sinceMs: number
  /** null while it lasts. */
  readonly endedMs: number | null
  /** Points of this stretch that came late; 0: nothing new is known. */
  readonly latePoints: number
  /** Longest stretch without a point, late ones counted; of one that lasts, up to its newest late point. */
  readonly longestGapMs: number
  /** It overlaps an outage of ours, and says nothing about the van. */
  readonly overOutage: boolean
}

/** Limits of dispatch. */
export interface DispatchLimits {
  /** A silence is listed from the first on, is long from the second and very long from the third on. */
  readonly silenceStepsMs: readonly [number, number, number]
  /** A van without calendar whose last point is nearer to its depot than this is at the depot. */
  readonly depotDistanceMm: number
  /** A window whose ends are nearer than this, with two positions or more, is of a van that stands. */
  readonly stoppedDisplacementMm: number
  /** A distance is not judged by fewer windows than these. */
  readonly usualMinWindows: number
  /** So long a van that is heard again is shown with the length of its silence. */
  readonly returnedShownMs: number
}

export const DEFAULT_DISPATCH_LIMITS: DispatchLimits = {
  silenceStepsMs: [180_000, 900_000, 3_600_000],
  depotDistanceMm: 150_000,
  stoppedDisplacementMm: 50_000,
  usualMinWindows: 120,
  returnedShownMs: 300_000,
}

/** Part of the panel's snapshot; sent again as a whole when any of it changes. */
export interface DispatchView {
  readonly limits: DispatchLimits
  readonly shifts: readonly Shift[]
  /** In force, newest first. */
  readonly mutes: readonly MuteView[]
  /** null until it was computed for this hour. */
  readonly usual: { readonly fromMs: number; readonly toMs: number; readonly vans: readonly UsualDistance[] } | null
  /** That ended in the last hours, or that late points have corrected. Newest first. */
  readonly episodes: readonly SilenceEpisode[]
  /** Vans whose last point lies outside every zone of their depot's markets. */
  readonly outside: readonly string[]
}

export const EMPTY_DISPATCH: DispatchView = {
  limits: DEFAULT_DISPATCH_LIMITS,
  shifts: [],
  mutes: [],
  usual: null,
  episodes: [],
  outside: [],
}

/** Kinds of registers that go in and out as CSV. */
export const REGISTER_KINDS = ['depots', 'vans', 'markets', 'shifts'] as const
export type RegisterKind = (typeof REGISTER_KINDS)[number]

/** Answer of `GET /api/register`: what a scope may see of it. */
export interface RegisterView {
  readonly nowMs: number
  /** Whoever asks may change it. */
  readonly mayEdit: boolean
  readonly depots: readonly Depot[]
  readonly vans: readonly RegisteredVan[]
  readonly markets: readonly Market[]
  readonly shifts: readonly Shift[]
}

/** What importing a file would do, or did. */
export type ImportView =
  | { readonly problems: readonly { readonly line: number; readonly problem: string }[] }
  | { readonly added: number; readonly changed: number; readonly same: number }

/** Something that happened to the list of silences, for who takes over. */
export type HandOverChange =
  | { readonly kind: 'new' | 'returned'; readonly atMs: number; readonly van: string; readonly episode: SilenceEpisode }
  | { readonly kind: 'acknowledged'; readonly atMs: number; readonly van: string; readonly note: string; readonly actor: Actor }
  | { readonly kind: 'muted' | 'unmuted'; readonly atMs: number; readonly mute: MuteView; readonly actor: Actor }

/** Answer of `GET /api/handover?from=`: what changed since, newest first. */
export interface HandOverView {
  readonly nowMs: number
  readonly fromMs: number
  readonly changes: readonly HandOverChange[]
  /** More has changed than is told. */
  readonly more: boolean
}

/** Hour and day of a van as they are served. */
export interface TravelTotal {
  readonly van: string
  readonly hourMm: number | null
  readonly dayMm: number | null
  /** That they come from. Empty: all of it is live. */
  readonly hourVersion: number | null
  readonly dayVersions: readonly number[]
  /** Some of the day's hours are live, not from a version. */
  readonly dayIsLive: boolean
}

/** Answer of `GET /api/distances/totals`: the last whole hour and the day so far. */
export interface TravelTotalsView {
  readonly nowMs: number
  readonly hourMs: number
  readonly dayMs: number
  readonly totals: readonly TravelTotal[]
}
