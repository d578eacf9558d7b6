import type {
  BatchPoint,
  DaysView,
  DayView,
  Depot,
  PanelDelta,
  PanelPoint,
  PanelSnapshot,
  PlatformEvent,
  RecentPointsView,
  Scope,
  Shift,
  TrailPoint,
  TrailView,
} from '@km0/contracts'
import type { PanelEvent } from '../panel-events.ts'
import { type Changes, PanelState } from '../panel-state.ts'
import { coarseRecent, coarseReplay, coarseTrack } from './coarse-tracks.ts'
import { coarsePoint, coarseTrail, MaskedViews } from './masked-views.ts'
import { Pseudonyms } from './pseudonyms.ts'
import { type MaskingRules, NO_MASKING } from './settings.ts'
import { ShiftSpans } from './shift-spans.ts'

/**
 * What the panel knows, as a scope may see it: everything that leaves by it has passed the limits of the scope. Vans off shift lie on a grid
 * where the scope says so, and where it is masked all do, under other names.
 */
export class MaskingState extends PanelState {
  readonly #rules: MaskingRules
  readonly #names: Pseudonyms
  readonly #masked: MaskedViews
  #shifts = new ShiftSpans([], [])
  #depots: readonly Depot[] = []
  #calendar: readonly Shift[] = []

  constructor(
    options: ConstructorParameters<typeof PanelState>[0],
    masking: { readonly rules: MaskingRules; readonly pseudonymKey: string | null } = { rules: NO_MASKING, pseudonymKey: null },
  ) {
    super(options)
    this.#rules = masking.rules
    this.#names = new Pseudonyms(masking.pseudonymKey)
    this.#masked = new MaskedViews(this.#names, masking.rules.gridM)
  }

  override apply(event: PanelEvent): boolean {
    if (event.kind === 'register') this.#depots = event.depots
    if (event.kind === 'dispatch') this.#calendar = event.facts.shifts
    if (event.kind === 'register' || event.kind === 'dispatch') this.#shifts = new ShiftSpans(this.#depots, this.#calendar)
    return super.apply(event)
  }

  override snapshot(scope: Scope, machineNowMs: number): PanelSnapshot {
    const view = super.snapshot(scope, machineNowMs)
    const shown = { ...view, points: view.points.map((point) => this.#offShift(scope, point)) }
    return scope.masked === true ? this.#masked.snapshot(shown) : shown
  }

  override deltaFor(scope: Scope, changes: Changes): PanelDelta {
    const view = super.deltaFor(scope, changes)
    const shown = view.points === undefined ? view : { ...view, points: view.points.map((point) => this.#offShift(scope, point)) }
    return scope.masked === true ? this.#masked.delta(shown) : shown
  }

  override batchFor(scope: Scope, vans: readonly string[]): BatchPoint[] {
    // The batch names no vans: off shift is asked of the depot beforehand.
    const off = scope.coarseOffShift === true
    const points = off
      ? vans.flatMap((van) => super.batchFor(scope, [van]).map((point) => this.#coarseOff(point, this.depotOf(van))))
      : super.batchFor(scope, vans)
    return scope.masked === true ? this.#masked.batch(points) : points
  }

  override trail(scope: Scope, van: string): TrailView | null {
    const trail = super.trail(scope, van)
    return trail === null ? null : { van: this.nameFor(scope, van), points: this.pointsFor(scope, van, trail.points) }
  }

  override trails(scope: Scope): TrailView[] {
    return super.trails(scope).map(({ van, points }) => ({ van: this.nameFor(scope, van), points: this.pointsFor(scope, van, points) }))
  }

  /** What a scope calls a van. */
  nameFor(scope: Scope, van: string): string {
    return scope.masked === true ? this.#names.of(van) : van
  }

  /** The van that a scope means by a name; null when it means none. Whoever sees pseudonyms cannot try real names. */
  vanNamed(scope: Scope, name: string): string | null {
    return scope.masked === true ? this.#names.vanOf(name) : name
  }

  /** Where a van was, as a scope may see it. */
  pointsFor(scope: Scope, van: string, points: readonly TrailPoint[]): readonly TrailPoint[] {
    if (scope.masked === true) return this.#masked.trail(points)
    if (scope.coarseOffShift !== true) return points
    const depot = this.depotOf(van)
    return points.map((point) => (this.#shifts.isOff(depot, point[2]) ? coarseTrail(point, this.#rules.offShiftGridM) : point))
  }

  /** A van's day as packed columns, as a scope may see it. */
  trackFor(scope: Scope, van: string, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    return scope.coarseOffShift === true ? coarseTrack(bytes, van, this.#isOff, this.#rules.offShiftGridM) : bytes
  }

  /** An hour of the replay as packed columns. */
  replayFor(scope: Scope, bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    return scope.coarseOffShift === true ? coarseReplay(bytes, this.#isOff, this.#rules.offShiftGridM) : bytes
  }

  recentFor(scope: Scope, view: RecentPointsView): RecentPointsView {
    return scope.coarseOffShift === true ? coarseRecent(view, this.#isOff, this.#rules.offShiftGridM) : view
  }

  daysFor(scope: Scope, view: DaysView): DaysView {
    return scope.masked === true ? this.#masked.days(view) : view
  }

  dayFor(scope: Scope, view: DayView): DayView {
    return scope.masked === true ? this.#masked.day(view) : view
  }

  eventFor(scope: Scope, event: PlatformEvent): PlatformEvent {
    if (scope.masked === true) return this.#masked.event(event)
    if (scope.coarseOffShift !== true || event.kind !== 'no-signal' || event.lat === null || event.lon === null) return event
    if (!this.#shifts.isOff(this.depotOf(event.van), event.sinceMs)) return event
    const [lon, lat] = coarseTrail([event.lon, event.lat, event.sinceMs], this.#rules.offShiftGridM)
    return { ...event, lat, lon }
  }

  readonly #isOff = (van: string, atMs: number) => this.#shifts.isOff(this.depotOf(van), atMs)

  #offShift(scope: Scope, point: PanelPoint): PanelPoint {
    return scope.coarseOffShift === true ? this.#coarseOff(point, point.depotId) : point
  }

  #coarseOff<P extends BatchPoint | PanelPoint>(point: P, depotId: string | null): P {
    return this.#shifts.isOff(depotId, point.eventMs) ? coarsePoint(point, this.#rules.offShiftGridM) : point
  }
}
