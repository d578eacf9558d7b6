import { type Pane, paneIndexAtOrBefore, paneStartMs, type WindowShape, windowEnds } from '@km0/windowing'
import { type FlatPoints, lengthMm, POINT_NUMBERS, placeOf, type StepRules } from './steps.ts'

/** One row of sliding distance, without van and window. */
export interface DistanceRow {
  readonly distanceMm: number
  readonly positions: number
  readonly jumps: number
  readonly displacementMm: number
}

/** Points of one van within one slide, and the steps that lead to them. Never empty. */
export interface DistancePane extends Pane {
  readonly startMs: number
  points: FlatPoints
  distanceMm: number
  jumps: number
}

/** State of the operator for one van: panes that hold points, by start. */
export type DistanceState = DistancePane[]

export function sameDistanceRow(a: DistanceRow, b: DistanceRow): boolean {
  return a.distanceMm === b.distanceMm && a.positions === b.positions && a.jumps === b.jumps && a.displacementMm === b.displacementMm
}

/**
 * Sliding distance (section 4). A step belongs to the pane of its later point, and is computed when that comes; a point that comes between two
 * others takes their step out and puts two in. Integers, so panes may be added in any order.
 */
export class DistanceOperator {
  private readonly shape: WindowShape
  private readonly rules: StepRules

  constructor(shape: WindowShape, rules: StepRules) {
    this.shape = shape
    this.rules = rules
  }

  /** Adds a point to `panes`. False, and nothing is changed, when they hold one of the same time. */
  add(panes: DistanceState, eventMs: number, lat: number, lon: number): boolean {
    const startMs = paneStartMs(this.shape, eventMs)
    const last = panes.length > 0 ? panes[panes.length - 1]! : undefined
    if (last === undefined || startMs > last.startMs) {
      const pane: DistancePane = { startMs, points: [eventMs, lat, lon], distanceMm: 0, jumps: 0 }
      panes.push(pane)
      if (last === undefined) return true
      this.count(pane, 1, last.points, last.points.length - POINT_NUMBERS, 0)
      // Little comes to it any more: a copy has no room to grow, which with many vans is a good part of the memory.
      last.points = last.points.slice()
      return true
    }
    const { points } = last
    const end = points.length
    if (startMs === last.startMs && eventMs > points[end - POINT_NUMBERS]!) {
      points.push(eventMs, lat, lon)
      this.count(last, 1, points, end - POINT_NUMBERS, end)
      return true
    }
    return this.insert(panes, startMs, eventMs, lat, lon)
  }

  /**
   * Adds a point that is later than all in `panes`, of which the step from the point before is known: its length, and how long it took.
   * `stepMm` null: there is no point before.
   */
  append(panes: DistanceState, eventMs: number, lat: number, lon: number, stepMm: number | null, durationMs: number): void {
    const startMs = paneStartMs(this.shape, eventMs)
    let pane = panes.length > 0 ? panes[panes.length - 1]! : undefined
    if (pane === undefined || startMs > pane.startMs) {
      pane = { startMs, points: [eventMs, lat, lon], distanceMm: 0, jumps: 0 }
      panes.push(pane)
    } else pane.points.push(eventMs, lat, lon)
    if (stepMm === null || durationMs > this.rules.maxSegmentMs) return
    if (this.rules.isJump(stepMm, durationMs)) pane.jumps += 1
    else pane.distanceMm += stepMm
  }

  private insert(panes: DistanceState, startMs: number, eventMs: number, lat: number, lon: number): boolean {
    let index = paneIndexAtOrBefore(panes, startMs)
    if (index < 0 || panes[index]!.startMs !== startMs) {
      index += 1
      panes.splice(index, 0, { startMs, points: [], distanceMm: 0, jumps: 0 })
    }
    const pane = panes[index]!
    const at = placeOf(pane.points, eventMs)
    if (at < 0) return false
    const before = at > 0 ? pane : panes[index - 1]
    const beforeAt = (at > 0 ? at : (before?.points.length ?? 0)) - POINT_NUMBERS
    const after = at < pane.points.length ? pane : panes[index + 1]
    const afterAt = after === pane ? at : 0
    if (before !== undefined && after !== undefined) this.count(after, -1, before.points, beforeAt, afterAt)
    pane.points.splice(at, 0, eventMs, lat, lon)
    if (before !== undefined) this.count(pane, 1, before.points, beforeAt, at)
    if (after !== undefined) this.count(after, 1, pane.points, at, after === pane ? at + POINT_NUMBERS : 0)
    return true
  }

  /** Adds (`sign` 1) or takes out (-1) the step from a point of `before` to the point at `at` of `pane`. */
  private count(pane: DistancePane, sign: 1 | -1, before: FlatPoints, beforeAt: number, at: number): void {
    const durationMs = pane.points[at]! - before[beforeAt]!
    if (durationMs > this.rules.maxSegmentMs) return
    const stepMm = lengthMm(before, beforeAt, pane.points, at)
    if (this.rules.isJump(stepMm, durationMs)) pane.jumps += sign
    else pane.distanceMm += sign * stepMm
  }

  /** The row of the window that ends at `endMs`; one of its panes must be there. */
  row(panes: DistanceState, endMs: number): DistanceRow {
    const startMs = endMs - this.shape.sizeMs
    const lastIndex = paneIndexAtOrBefore(panes, endMs - 1)
    let distanceMm = 0
    let numbers = 0
    let jumps = 0
    let index = lastIndex
    for (; index >= 0 && panes[index]!.startMs >= startMs; index -= 1) {
      const pane = panes[index]!
      distanceMm += pane.distanceMm
      numbers += pane.points.length
      jumps += pane.jumps
    }
    if (index === lastIndex) throw new Error(`no point in the window that ends at ${endMs}`)
    const first = panes[index + 1]!.points
    const last = panes[lastIndex]!.points
    const displacementMm = numbers === POINT_NUMBERS ? 0 : lengthMm(first, 0, last, last.length - POINT_NUMBERS)
    return { distanceMm, positions: numbers / POINT_NUMBERS, jumps, displacementMm }
  }

  /** Ends of the windows in `(afterMs, upToMs]` that hold a point. */
  ends(panes: DistanceState, afterMs: number, upToMs: number): number[] {
    return windowEnds(this.shape, panes, afterMs, upToMs)
  }

  /**
   * How many panes at the front matter no more when windows that end at or before `finalMs` are final: no window holds them, and no point
   * can come whose step begins in them. Of those before the oldest open window only the newest can be the start of a step.
   */
  spentPanes(panes: DistanceState, finalMs: number): number {
    const oldestMs = finalMs - this.shape.sizeMs
    let spent = 0
    while (spent + 1 < panes.length && panes[spent + 1]!.startMs <= oldestMs) spent += 1
    const front = panes[spent]
    if (front === undefined || front.startMs > oldestMs) return spent
    return front.points[front.points.length - POINT_NUMBERS]! <= oldestMs - this.rules.maxSegmentMs ? spent + 1 : spent
  }
}
