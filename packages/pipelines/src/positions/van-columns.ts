import type { BatchRange } from '@km0/contracts'
import { type Pane, paneStartMs, type WindowShape, windowEnds } from '@km0/windowing'
import { haversineMm, latitudeCosine } from './geometry.ts'
import type { PositionsOperators } from './operators.ts'
import { type VanName, vanName } from './rows.ts'
import { TravelOperator } from './travel.ts'
import type { BatchSink } from './van-batch.ts'

/** Points of one van in event order, each time once. Filled again for each van, so that a fleet needs the room of its largest. */
export class OrderedPoints {
  count = 0
  eventMs = new Float64Array(0)
  lat = new Float64Array(0)
  lon = new Float64Array(0)
  /** Of the latitudes: each is wanted for the step before and the step after. */
  cosine = new Float64Array(0)

  /** Empties it, with room for so many. */
  reset(most: number): void {
    this.count = 0
    if (most <= this.eventMs.length) return
    this.eventMs = new Float64Array(most)
    this.lat = new Float64Array(most)
    this.lon = new Float64Array(most)
    this.cosine = new Float64Array(most)
  }

  add(eventMs: number, lat: number, lon: number): void {
    const at = this.count
    this.eventMs[at] = eventMs
    this.lat[at] = lat
    this.lon[at] = lon
    this.cosine[at] = latitudeCosine(lat)
    this.count = at + 1
  }

  /** From one point to a later one. */
  lengthMm(from: number, to: number): number {
    const { lat, lon, cosine } = this
    return haversineMm(lat[from]!, lon[from]!, cosine[from]!, lat[to]!, lon[to]!, cosine[to]!)
  }
}

/** A pane of which nothing is asked but its rows: no point comes between two others here. `first` and `last` are places in the points. */
interface PaneSum extends Pane {
  readonly startMs: number
  readonly first: number
  last: number
  distanceMm: number
  jumps: number
}

/**
 * The rows of `vanRows`, by the same rules of steps, panes and windows, over points that are all there and in order: a step is computed once,
 * and panes are sums. That both give the same rows is a law (positions-columns.test.ts).
 */
export function orderedVanRows(
  { shape, rules, settings }: PositionsOperators,
  range: BatchRange,
  name: string,
  points: OrderedPoints,
  sink: BatchSink,
): void {
  const van = vanName(name)
  const windows = new WindowSums(shape, range, van, points, sink)
  const travel = new TravelOperator(range, van, sink)
  const { eventMs, count } = points
  let paneEndMs = Number.NEGATIVE_INFINITY
  let sessionFirst = 0
  const closeSession = (last: number): void => {
    const startMs = eventMs[sessionFirst]!
    if (startMs < range.fromMs || startMs >= range.toMs) return
    sink.session(van, { startMs, lastMs: eventMs[last]!, count: last - sessionFirst + 1 })
  }
  for (let at = 0; at < count; at += 1) {
    const atMs = eventMs[at]!
    if (atMs >= paneEndMs) paneEndMs = windows.open(at)
    windows.newest.last = at
    if (at === 0) {
      travel.add(atMs, 'none', 0)
      continue
    }
    const durationMs = atMs - eventMs[at - 1]!
    if (durationMs > settings.sessionGapMs) {
      closeSession(at - 1)
      sessionFirst = at
    }
    const stepMm = points.lengthMm(at - 1, at)
    const kind = rules.kind(stepMm, durationMs)
    if (kind === 'segment') windows.newest.distanceMm += stepMm
    else if (kind === 'jump') windows.newest.jumps += 1
    travel.add(atMs, kind, stepMm)
  }
  if (count === 0) return
  windows.closeUntil(Number.POSITIVE_INFINITY)
  closeSession(count - 1)
  travel.end()
}

/** Windows of one van whose points come in order. */
class WindowSums {
  /** The pane of the newest point. */
  newest: PaneSum = { startMs: Number.NEGATIVE_INFINITY, first: 0, last: 0, distanceMm: 0, jumps: 0 }
  private readonly panes: PaneSum[] = []
  private closedMs: number

  constructor(
    private readonly shape: WindowShape,
    private readonly range: BatchRange,
    private readonly van: VanName,
    private readonly points: OrderedPoints,
    private readonly sink: BatchSink,
  ) {
    this.closedMs = range.fromMs
  }

  /** Begins the pane of a point, the first in it. Returns when it ends. */
  open(at: number): number {
    const startMs = paneStartMs(this.shape, this.points.eventMs[at]!)
    this.closeUntil(startMs)
    this.newest = { startMs, first: at, last: at, distanceMm: 0, jumps: 0 }
    this.panes.push(this.newest)
    return startMs + this.shape.slideMs
  }

  /** Gives the rows of the windows that end up to `markMs`. */
  closeUntil(markMs: number): void {
    const { panes, shape, range } = this
    for (const endMs of windowEnds(shape, panes, this.closedMs, Math.min(markMs, range.toMs))) this.emit(endMs)
    this.closedMs = Math.max(this.closedMs, markMs)
    let spent = 0
    while (spent < panes.length && panes[spent]!.startMs <= markMs - shape.sizeMs) spent += 1
    if (spent > 0) panes.splice(0, spent)
  }

  private emit(endMs: number): void {
    const { panes, points, shape } = this
    const startMs = endMs - shape.sizeMs
    let last = panes.length - 1
    while (panes[last]!.startMs >= endMs) last -= 1
    let first = last
    let [distanceMm, jumps] = [0, 0]
    for (; first >= 0 && panes[first]!.startMs >= startMs; first -= 1) {
      distanceMm += panes[first]!.distanceMm
      jumps += panes[first]!.jumps
    }
    const from = panes[first + 1]!.first
    const to = panes[last]!.last
    const displacementMm = from === to ? 0 : points.lengthMm(from, to)
    this.sink.distance(this.van, startMs, endMs, { distanceMm, positions: to - from + 1, jumps, displacementMm })
  }
}
