import {
  type AcknowledgementView,
  type BatchPoint,
  DEFAULT_PANEL_LIMITS,
  type Depot,
  type DispatchLimits,
  type DistanceValue,
  type DistanceView,
  type FeedView,
  type LiveValue,
  type OutageValue,
  type PanelClock,
  type PanelDelta,
  type PanelLimits,
  type PanelPoint,
  type PanelSnapshot,
  type RegisteredVan,
  type Scope,
  type SignalValue,
  type SignalView,
  type SourcePosition,
  type TrailView,
} from '@km0/contracts'
import { type DispatchFacts, DispatchState } from './dispatch/dispatch-state.ts'
import { DistanceBook } from './distance-book.ts'
import { FeedState, type FindCause } from './feed-state.ts'
import { isAfter } from './is-after.ts'
import { OutageBook } from './outage-book.ts'
import type { PanelEvent } from './panel-events.ts'
import type { PlaceOf } from './places.ts'
import { mayPass } from './scope.ts'
import { Trails } from './trails.ts'

/** Newest acknowledgements kept in memory; all are in the store. */
export const ACKNOWLEDGEMENTS_KEPT = 1_000

/** A mark is at most a second old, a heartbeat at most ten: nearer than this, the player's clock is the machine's. */
const CLOCKS_MEET_WITHIN_MS = 15_000

interface KnownPoint {
  readonly value: LiveValue
  readonly source: SourcePosition | null
  readonly place: string | null
  readonly batteryPercent: number | null
}
interface KnownSignal {
  readonly value: SignalValue
  readonly source: SourcePosition | null
}

/** What changed since the last one, before any scope is applied. */
export interface Changes {
  readonly sequence: number
  readonly nowMs: number
  /** The register changed: whose van is whose may differ, so browsers get a snapshot instead of a delta. */
  readonly everything: boolean
  readonly feed: FeedView | null
  readonly outages: boolean
  readonly points: readonly string[]
  readonly signals: readonly string[]
  readonly distances: readonly (readonly [van: string, windowEndMs: number])[]
  readonly acknowledgements: readonly AcknowledgementView[]
  readonly dispatch: boolean
}

/**
 * All that the panel knows, in memory. Events only move it forward, so re-reading a topic changes nothing: a point by event time, a
 * signal state by (epoch, offset), a distance by revision, then (epoch, offset), a mark by (epoch, offset). No clock: callers say what time
 * the machine has.
 */
export class PanelState {
  #clock: PanelClock
  readonly #placeOf: PlaceOf
  readonly #limits: PanelLimits
  readonly #feed: FeedState
  readonly #outages = new OutageBook()
  #findCause: FindCause | undefined
  readonly #trails = new Trails()
  readonly #points = new Map<string, KnownPoint>()
  readonly #slots = new Map<string, number>()
  readonly #signals = new Map<string, KnownSignal>()
  readonly #distances = new DistanceBook()
  readonly #dispatch: DispatchState
  #acknowledgements: AcknowledgementView[] = []
  #depots = new Map<string, Depot>()
  #registered = new Map<string, RegisteredVan>()

  #sequence = 0
  #sentFeed = ''
  #everything = false
  #dirtyOutages = false
  readonly #dirtyPoints = new Set<string>()
  readonly #moved = new Set<string>()
  readonly #dirtySignals = new Set<string>()
  #dirtyAcknowledgements: AcknowledgementView[] = []

  constructor(options: {
    readonly clock: PanelClock
    readonly placeOf: PlaceOf
    readonly limits?: PanelLimits
    readonly dispatchLimits?: DispatchLimits
  }) {
    this.#clock = options.clock
    this.#placeOf = options.placeOf
    this.#limits = options.limits ?? DEFAULT_PANEL_LIMITS
    this.#feed = new FeedState(this.#limits.outageAfterMs)
    this.#dispatch = new DispatchState(options.dispatchLimits)
  }

  /** Who is asked why nothing is heard. */
  explainWith(findCause: FindCause): void {
    this.#findCause = findCause
  }

  /** Next offset that the stream job reads, by source partition. */
  nextOffsets(): Map<number, number> {
    return this.#feed.nextOffsets()
  }

  /** Vans of which a point is known. */
  get vansHeard(): number {
    return this.#points.size
  }

  /**
   * Time of the platform: of the machine, or in play mode the newest record timestamp that a mark told. When the player's clock meets the
   * machine's it goes on at 1x, and from then on the machine's is taken: a feed that stops must not stop the panel's clock.
   */
  nowMs(machineNowMs: number): number {
    if (this.#clock === 'machine') return machineNowMs
    const newestMs = this.#feed.newestRecordMs()
    if (newestMs === null) return machineNowMs
    if (newestMs < machineNowMs - CLOCKS_MEET_WITHIN_MS) return newestMs
    this.#clock = 'machine'
    this.#everything = true
    return machineNowMs
  }

  feed(machineNowMs: number): FeedView {
    return this.#feed.view(this.nowMs(machineNowMs), this.#findCause)
  }

  /** Applies one event; false when it is no news. */
  apply(event: PanelEvent): boolean {
    switch (event.kind) {
      case 'point':
        return this.#applyPoint(event.value, event.source, event.batteryPercent ?? null)
      case 'signal':
        return this.#applySignal(event.value, event.source)
      case 'distance':
        return this.#distances.apply(event.value, event.source)
      case 'mark':
        return this.#feed.apply(event.value)
      case 'outage':
        return this.#applyOutage(event.value)
      case 'acknowledgement':
        return this.#applyAcknowledgement(event.view)
      case 'register':
        return this.#applyRegister(event.depots, event.registered)
      case 'dispatch':
        return this.#applyDispatch(event.facts)
    }
  }

  /** Whether a van was ever heard of: a point, a signal state or an entry in the register. */
  isKnown(van: string): boolean {
    return this.#points.has(van) || this.#signals.has(van) || this.#registered.has(van)
  }

  /** Depot of a van; null when it is not registered. */
  depotOf(van: string): string | null {
    return this.#registered.get(van)?.depotId ?? null
  }

  /** Whether a scope may see a van. */
  mayPassVan(scope: Scope, van: string): boolean {
    return mayPass(scope, this.#depots)(this.depotOf(van))
  }

  snapshot(scope: Scope, machineNowMs: number): PanelSnapshot {
    const pass = mayPass(scope, this.#depots)
    const passVan = (van: string) => pass(this.depotOf(van))
    const nowMs = this.nowMs(machineNowMs)
    return {
      sequence: this.#sequence,
      clock: this.#clock,
      nowMs,
      limits: this.#limits,
      feed: this.#feed.view(nowMs, this.#findCause),
      outages: this.#outages.views(),
      depots: [...this.#depots.values()].filter((depot) => pass(depot.id)),
      registered: [...this.#registered.values()].filter((van) => pass(van.depotId)),
      points: [...this.#points.keys()].filter(passVan).map((van) => this.#pointView(van)),
      signals: [...this.#signals.keys()].filter(passVan).map((van) => this.#signalView(van)),
      distances: this.#distances.values(passVan).map((value) => this.#distanceView(value)),
      acknowledgements: this.#acknowledgements.filter((ack) => passVan(ack.van)),
      dispatch: this.#dispatch.view(passVan, pass),
    }
  }

  /** What changed since the last call; the next sequence number is spent even when nothing did, since `nowMs` goes out all the same. */
  takeChanges(machineNowMs: number): Changes {
    this.#sequence += 1
    const nowMs = this.nowMs(machineNowMs)
    const feed = this.#feed.view(nowMs, this.#findCause)
    const feedText = JSON.stringify(feed)
    const changes: Changes = {
      sequence: this.#sequence,
      nowMs,
      everything: this.#everything,
      feed: feedText === this.#sentFeed ? null : feed,
      outages: this.#dirtyOutages,
      points: [...this.#dirtyPoints],
      signals: [...this.#dirtySignals],
      distances: this.#distances.takeDirty(),
      acknowledgements: this.#dirtyAcknowledgements,
      dispatch: this.#dispatch.takeDirty(),
    }
    this.#sentFeed = feedText
    this.#everything = false
    this.#dirtyOutages = false
    this.#dirtyPoints.clear()
    this.#dirtySignals.clear()
    this.#dirtyAcknowledgements = []
    return changes
  }

  /** The part of the changes that a scope may see. */
  deltaFor(scope: Scope, changes: Changes): PanelDelta {
    const pass = mayPass(scope, this.#depots)
    const passVan = (van: string) => pass(this.depotOf(van))
    const points = changes.points.filter(passVan).map((van) => this.#pointView(van))
    const signals = changes.signals.filter(passVan).map((van) => this.#signalView(van))
    const distances = changes.distances.flatMap(([van, endMs]) => {
      const value = passVan(van) ? this.#distances.value(van, endMs) : undefined
      return value === undefined ? [] : [this.#distanceView(value)]
    })
    const acknowledgements = changes.acknowledgements.filter((ack) => passVan(ack.van))
    return {
      sequence: changes.sequence,
      nowMs: changes.nowMs,
      ...(changes.feed === null ? {} : { feed: changes.feed }),
      ...(changes.outages ? { outages: this.#outages.views() } : {}),
      ...(points.length === 0 ? {} : { points }),
      ...(signals.length === 0 ? {} : { signals }),
      ...(distances.length === 0 ? {} : { distances }),
      ...(acknowledgements.length === 0 ? {} : { acknowledgements }),
      ...(changes.dispatch ? { dispatch: this.#dispatch.view(passVan, mayPass(scope, this.#depots)) } : {}),
    }
  }

  /** Vans with a newer point since the last call, in no order. */
  takeMoved(): readonly string[] {
    const moved = [...this.#moved]
    this.#moved.clear()
    return moved
  }

  /** The newest points of those vans that a scope may see. */
  batchFor(scope: Scope, vans: readonly string[]): BatchPoint[] {
    const pass = mayPass(scope, this.#depots)
    return vans
      .filter((van) => pass(this.depotOf(van)))
      .map((van) => {
        const { slot = 0, lat, lon, eventMs, headingDegrees, doubtful, motion } = this.#pointView(van)
        return { slot, lat, lon, eventMs, headingDegrees, doubtful, motion }
      })
  }

  /** The last 15 minutes of a van; null when the scope may not see it. */
  trail(scope: Scope, van: string): TrailView | null {
    return this.mayPassVan(scope, van) ? { van, points: this.#trails.of(van) } : null
  }

  /** The last 15 minutes of every van that a scope may see. */
  trails(scope: Scope): TrailView[] {
    const pass = mayPass(scope, this.#depots)
    return [...this.#points.keys()].filter((van) => pass(this.depotOf(van))).map((van) => ({ van, points: this.#trails.of(van) }))
  }

  /** Source partition of a van; null while it is not known. */
  partitionOf(van: string): number | null {
    return this.#points.get(van)?.source?.partition ?? null
  }

  /** Vans of a source partition that a scope may see, newest event time first; `count` at most. */
  newestOf(scope: Scope, partition: number, count: number): { readonly van: string; readonly eventMs: number }[] {
    const own = [...this.#points].filter(([van, { source }]) => source?.partition === partition && this.mayPassVan(scope, van))
    const newest = own.map(([van, { value }]) => ({ van, eventMs: value.data_ms })).sort((a, b) => b.eventMs - a.eventMs)
    return newest.slice(0, count)
  }

  #applyPoint(value: LiveValue, source: SourcePosition | null, batteryPercent: number | null): boolean {
    const known = this.#points.get(value.repartidor)
    if (known !== undefined) {
      if (value.data_ms < known.value.data_ms) return false
      // The same point again, e.g. no longer doubtful: a later record of the log wins.
      if (value.data_ms === known.value.data_ms && !isAfter(source, known.source)) return false
    }
    const moved = known === undefined || known.value.lat !== value.lat || known.value.lon !== value.lon
    this.#points.set(value.repartidor, { value, source, place: moved ? this.#placeOf(value.lat, value.lon) : known.place, batteryPercent })
    this.#locate(value)
    this.#trails.add(value.repartidor, [value.lon, value.lat, value.data_ms])
    if (known === undefined) this.#slots.set(value.repartidor, this.#slots.size)
    this.#dirtyPoints.add(value.repartidor)
    this.#moved.add(value.repartidor)
    return true
  }

  #applyOutage(value: OutageValue): boolean {
    const news = this.#outages.apply(value)
    if (news) this.#dirtyOutages = true
    return news
  }

  #applySignal(value: SignalValue, source: SourcePosition | null): boolean {
    const known = this.#signals.get(value.repartidor)
    if (known !== undefined && !isAfter(source, known.source)) return false
    this.#signals.set(value.repartidor, { value, source })
    this.#dirtySignals.add(value.repartidor)
    return true
  }

  #applyAcknowledgement(view: AcknowledgementView): boolean {
    const same = (other: AcknowledgementView) =>
      other.van === view.van && other.sinceMs === view.sinceMs && other.atMs === view.atMs && other.actor.id === view.actor.id
    if (this.#acknowledgements.some(same)) return false
    this.#acknowledgements = [...this.#acknowledgements, view].slice(-ACKNOWLEDGEMENTS_KEPT)
    this.#dirtyAcknowledgements.push(view)
    return true
  }

  #applyRegister(depots: readonly Depot[], registered: readonly RegisteredVan[]): boolean {
    const before = JSON.stringify([[...this.#depots.values()], [...this.#registered.values()]])
    if (before === JSON.stringify([depots, registered])) return false
    this.#depots = new Map(depots.map((depot) => [depot.id, depot]))
    this.#registered = new Map(registered.map((van) => [van.van, van]))
    this.#everything = true
    this.#dispatch.forgetDepots()
    for (const { value } of this.#points.values()) this.#locate(value)
    return true
  }

  #applyDispatch(facts: DispatchFacts): boolean {
    const news = this.#dispatch.apply(facts)
    if (news) for (const { value } of this.#points.values()) this.#locate(value)
    return news
  }

  #locate({ repartidor, lon, lat }: LiveValue): void {
    this.#dispatch.locate(repartidor, this.#depots.get(this.depotOf(repartidor) ?? ''), lon, lat)
  }

  #pointView(van: string): PanelPoint {
    const { value, source, place, batteryPercent } = this.#points.get(van) as KnownPoint
    return {
      van,
      depotId: this.depotOf(van),
      lat: value.lat,
      lon: value.lon,
      eventMs: value.data_ms,
      arrivalMs: value.arribada_ms,
      speedMmPerS: value.velocitat_mm_s,
      headingDegrees: value.rumb_graus,
      doubtful: value.dubtos,
      motion: value.estat === 'aturada' ? 'stopped' : 'moving',
      place,
      partition: source?.partition ?? null,
      batteryPercent,
      slot: this.#slots.get(van) as number,
    }
  }

  #signalView(van: string): SignalView {
    const { value } = this.#signals.get(van) as KnownSignal
    return { van, depotId: this.depotOf(van), state: value.estat === 'amb-senyal' ? 'signal' : 'no-signal', sinceMs: value.des_de_ms }
  }

  #distanceView(value: DistanceValue): DistanceView {
    return {
      van: value.repartidor,
      depotId: this.depotOf(value.repartidor),
      windowStartMs: value.inici_ms,
      windowEndMs: value.fi_ms,
      distanceMm: value.distancia_mm,
      positions: value.posicions,
      jumps: value.salts,
      displacementMm: value.desplacament_mm,
      revision: value.revisio ?? 0,
    }
  }
}
