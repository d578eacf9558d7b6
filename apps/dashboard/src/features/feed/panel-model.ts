import { type DispatchView, EMPTY_DISPATCH } from '@km0/contracts/dispatch'
import type {
  AcknowledgementView,
  Depot,
  DistanceView,
  FeedView,
  OutageView,
  PanelClock,
  PanelDelta,
  PanelLimits,
  PanelPoint,
  PanelSnapshot,
  RegisteredVan,
  SignalView,
} from '@km0/contracts/panel'

/** What a browser knows. Never changed in place: a new one for every message, with the parts that stayed the same shared. */
export interface PanelModel {
  readonly sequence: number
  readonly clock: PanelClock
  /** Platform time of the newest message, and what this machine's clock said when it came. */
  readonly serverNowMs: number
  readonly receivedMs: number
  readonly limits: PanelLimits
  readonly feed: FeedView
  /** Outages of ours that are over, oldest first. */
  readonly outages: readonly OutageView[]
  readonly depots: ReadonlyMap<string, Depot>
  readonly registered: ReadonlyMap<string, RegisteredVan>
  readonly points: ReadonlyMap<string, PanelPoint>
  readonly signals: ReadonlyMap<string, SignalView>
  /** Windows of each van by end, ascending. */
  readonly distances: ReadonlyMap<string, readonly DistanceView[]>
  readonly acknowledgements: readonly AcknowledgementView[]
  readonly dispatch: DispatchView
}

/** Windows that ended longer before the newest one are dropped. */
const DISTANCES_KEPT_MS = 35 * 60_000

export function modelOf(snapshot: PanelSnapshot, receivedMs: number): PanelModel {
  return {
    sequence: snapshot.sequence,
    clock: snapshot.clock,
    serverNowMs: snapshot.nowMs,
    receivedMs,
    limits: snapshot.limits,
    feed: snapshot.feed,
    outages: snapshot.outages,
    depots: new Map(snapshot.depots.map((depot) => [depot.id, depot])),
    registered: new Map(snapshot.registered.map((van) => [van.van, van])),
    points: new Map(snapshot.points.map((point) => [point.van, point])),
    signals: new Map(snapshot.signals.map((signal) => [signal.van, signal])),
    distances: addDistances(new Map(), snapshot.distances),
    acknowledgements: snapshot.acknowledgements,
    dispatch: snapshot.dispatch ?? EMPTY_DISPATCH,
  }
}

/** The model after a delta; null when one before it was missed, so that only a snapshot helps. */
export function applyDelta(model: PanelModel, delta: PanelDelta, receivedMs: number): PanelModel | null {
  // A delta that the snapshot already holds.
  if (delta.sequence <= model.sequence) return model
  if (delta.sequence !== model.sequence + 1) return null
  return {
    ...model,
    sequence: delta.sequence,
    serverNowMs: delta.nowMs,
    receivedMs,
    feed: delta.feed ?? model.feed,
    outages: delta.outages ?? model.outages,
    points:
      delta.points === undefined ? model.points : withRows(model.points, delta.points, (known, next) => next.eventMs >= known.eventMs),
    signals: delta.signals === undefined ? model.signals : withRows(model.signals, delta.signals, () => true),
    distances: delta.distances === undefined ? model.distances : addDistances(new Map(model.distances), delta.distances),
    acknowledgements:
      delta.acknowledgements === undefined ? model.acknowledgements : addAcknowledgements(model.acknowledgements, delta.acknowledgements),
    dispatch: delta.dispatch ?? model.dispatch,
  }
}

/**
 * "Now" of the platform. The machine's clock goes on between messages by this browser's clock, never by counting ticks, so a tab that slept
 * is right at once. The player's clock stands still until the next message.
 */
export function platformNowMs(model: PanelModel, browserNowMs: number): number {
  return model.clock === 'play' ? model.serverNowMs : model.serverNowMs + (browserNowMs - model.receivedMs)
}

function withRows<Row extends { readonly van: string }>(
  rows: ReadonlyMap<string, Row>,
  news: readonly Row[],
  isNewer: (known: Row, next: Row) => boolean,
): ReadonlyMap<string, Row> {
  const result = new Map(rows)
  for (const row of news) {
    const known = result.get(row.van)
    if (known === undefined || isNewer(known, row)) result.set(row.van, row)
  }
  return result
}

function addDistances(
  into: Map<string, readonly DistanceView[]>,
  news: readonly DistanceView[],
): ReadonlyMap<string, readonly DistanceView[]> {
  const byVan = new Map<string, Map<number, DistanceView>>()
  for (const row of news) {
    let windows = byVan.get(row.van)
    if (windows === undefined) {
      windows = new Map((into.get(row.van) ?? []).map((known) => [known.windowEndMs, known]))
      byVan.set(row.van, windows)
    }
    const known = windows.get(row.windowEndMs)
    if (known === undefined || row.revision >= known.revision) windows.set(row.windowEndMs, row)
  }
  // No spread: of 10,000 vans there are more rows than a call takes arguments.
  const newestMs = news.reduce((most, row) => Math.max(most, row.windowEndMs), 0)
  for (const [van, windows] of byVan) {
    const kept = [...windows.values()].filter((row) => row.windowEndMs >= newestMs - DISTANCES_KEPT_MS)
    into.set(
      van,
      kept.sort((a, b) => a.windowEndMs - b.windowEndMs),
    )
  }
  return into
}

function addAcknowledgements(known: readonly AcknowledgementView[], news: readonly AcknowledgementView[]): readonly AcknowledgementView[] {
  const key = (ack: AcknowledgementView) => `${ack.van}|${ack.sinceMs}|${ack.atMs}|${ack.actor.id}`
  const keys = new Set(known.map(key))
  return [...known, ...news.filter((ack) => !keys.has(key(ack)))]
}
