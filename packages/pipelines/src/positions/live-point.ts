import type { PositionsSettings } from '@km0/contracts'
import { bearingDegrees } from './geometry.ts'
import { type FlatPoints, lengthMm, POINT_NUMBERS, placeOf, type StepRules } from './steps.ts'

/** What is known of a van's newest point besides the point itself. */
export interface LiveRow {
  readonly speedMmPerS: number | null
  readonly headingDegrees: number | null
  readonly doubtful: boolean
  readonly stopped: boolean
}

/** State of the operator for one van: its newest points, those that can still say something of a newer one. */
export type LiveState = FlatPoints

const KEPT_POINTS = 3

/** Spent points are dropped when there are as many, not one by one. With many vans they are a good part of the memory. */
const SPENT_POINTS = 6

/** Newest point of each van by event time, late ones included (section 13). */
export class LivePointOperator {
  private readonly rules: StepRules
  private readonly settings: PositionsSettings
  private readonly keepMs: number
  private readonly memoryMs: number
  /** How far back a point can be that says something of a newer one. */
  private readonly reachMs: number

  constructor(rules: StepRules, settings: PositionsSettings) {
    this.rules = rules
    this.settings = settings
    this.keepMs = Math.max(settings.stopAfterMs, settings.maxSegmentMs)
    this.memoryMs = Math.min(settings.liveMemoryMs, settings.maxAgeMs)
    this.reachMs = Math.max(settings.stopMemoryMs, rules.maxSegmentMs)
  }

  /** Adds a valid point that is on the clock. Its row when it is the van's newest; null when it is not, or was there before. */
  add(points: LiveState, eventMs: number, lat: number, lon: number): LiveRow | null {
    const end = points.length
    if (end > 0 && eventMs <= points[end - POINT_NUMBERS]!) {
      const at = placeOf(points, eventMs)
      if (at >= 0) points.splice(at, 0, eventMs, lat, lon)
      this.tidy(points)
      return null
    }
    points.push(eventMs, lat, lon)
    this.tidy(points)
    return this.row(points)
  }

  private tidy(points: LiveState): void {
    if (this.spentNumbers(points) >= SPENT_POINTS * POINT_NUMBERS) this.forget(points)
  }

  /** Drops what no newer point will be compared with. */
  forget(points: LiveState): void {
    const spent = this.spentNumbers(points)
    if (spent > 0) points.splice(0, spent)
  }

  /** Whether the newest point is so old that no newer one can be older than it: `finalMs` is the final mark. */
  isGone(points: LiveState, finalMs: number): boolean {
    return points.length === 0 || points[points.length - POINT_NUMBERS]! < this.oldestMs(finalMs) - this.reachMs
  }

  /** First final mark at which the van is gone, unless a newer point comes. */
  goneAtMs(points: LiveState): number {
    return points[points.length - POINT_NUMBERS]! + this.reachMs + this.memoryMs + 1
  }

  /** Points before this are no live points. */
  oldestMs(finalMs: number): number {
    return finalMs - this.memoryMs
  }

  private row(points: LiveState): LiveRow {
    const at = points.length - POINT_NUMBERS
    const stopped = this.isStopped(points, at)
    let fromAt = at - POINT_NUMBERS
    if (!this.isWithinStep(points, fromAt, at)) return { speedMmPerS: null, headingDegrees: null, doubtful: false, stopped }
    let stepMm = lengthMm(points, fromAt, points, at)
    if (this.rules.isJump(stepMm, points[at]! - points[fromAt]!)) {
      if (!this.isOddOneOut(points, fromAt)) return { speedMmPerS: null, headingDegrees: null, doubtful: true, stopped }
      fromAt -= POINT_NUMBERS
      stepMm = lengthMm(points, fromAt, points, at)
    }
    const speedMmPerS = Math.floor((stepMm * 1000) / (points[at]! - points[fromAt]!) + 0.5)
    const headingDegrees = stepMm === 0 ? null : bearingDegrees(points[fromAt + 1]!, points[fromAt + 2]!, points[at + 1]!, points[at + 2]!)
    return { speedMmPerS, headingDegrees, doubtful: false, stopped }
  }

  /** Whether there is a point at `fromAt` that is near enough in time for a segment to the one at `at`. */
  private isWithinStep(points: LiveState, fromAt: number, at: number): boolean {
    return fromAt >= 0 && points[at]! - points[fromAt]! <= this.rules.maxSegmentMs
  }

  /**
   * Whether the point at `oddAt`, from which a jump leads to the newest, is the odd one out: a jump leads to it from the point before, and none
   * leads from there to the newest.
   */
  private isOddOneOut(points: LiveState, oddAt: number): boolean {
    const earlier = oddAt - POINT_NUMBERS
    const newest = oddAt + POINT_NUMBERS
    return this.isWithinStep(points, earlier, newest) && this.jumps(points, earlier, oddAt) && !this.jumps(points, earlier, newest)
  }

  private jumps(points: LiveState, fromAt: number, toAt: number): boolean {
    return this.rules.isJump(lengthMm(points, fromAt, points, toAt), points[toAt]! - points[fromAt]!)
  }

  private isStopped(points: LiveState, at: number): boolean {
    const { stopAfterMs, stopMemoryMs, stopLeastMs, stopDistanceMm } = this.settings
    const newestMs = points[at]!
    let then = at
    while (then >= 0 && points[then]! > newestMs - stopAfterMs) then -= POINT_NUMBERS
    if (then < 0 || points[then]! < newestMs - stopMemoryMs) {
      then += POINT_NUMBERS
      if (points[then]! > newestMs - stopLeastMs) return false
    }
    return lengthMm(points, then, points, at) < stopDistanceMm
  }

  /** How many numbers at the front no newer point will be compared with. */
  private spentNumbers(points: LiveState): number {
    const end = points.length
    const keptFromMs = points[end - POINT_NUMBERS]! - this.keepMs
    const mayGo = end - KEPT_POINTS * POINT_NUMBERS
    let spent = 0
    // A point is spent when the next one also lies before all that is kept by age: that one is then the newer witness of where the van was.
    while (spent < mayGo && points[spent + POINT_NUMBERS]! <= keptFromMs) spent += POINT_NUMBERS
    return spent
  }
}
