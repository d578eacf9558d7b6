import type { PositionsSettings } from '@km0/contracts'
import { distanceMm } from './geometry.ts'

/** What joins two neighbouring points. `none`: farther apart than any step is counted. */
export type StepKind = 'segment' | 'jump' | 'gap' | 'none'

/** The rules of sections 4 and 8 on two points that follow each other in event time. */
export class StepRules {
  /** Longest step that is a segment or a jump. */
  readonly maxSegmentMs: number
  /** Longest step that is counted as a gap. */
  readonly maxGapMs: number
  private readonly topSpeedMmPerMs: number

  constructor(settings: Pick<PositionsSettings, 'maxSegmentMs' | 'topSpeedMmPerMs' | 'maxAgeMs'>) {
    this.maxGapMs = settings.maxAgeMs
    this.maxSegmentMs = settings.maxSegmentMs === 0 ? settings.maxAgeMs : settings.maxSegmentMs
    this.topSpeedMmPerMs = settings.topSpeedMmPerMs === 0 ? Number.POSITIVE_INFINITY : settings.topSpeedMmPerMs
  }

  /** Whether `lengthMm` in `durationMs` is faster than a van goes. */
  isJump(lengthMm: number, durationMs: number): boolean {
    return lengthMm > this.topSpeedMmPerMs * durationMs
  }

  kind(lengthMm: number, durationMs: number): StepKind {
    if (durationMs > this.maxSegmentMs) return durationMs > this.maxGapMs ? 'none' : 'gap'
    return this.isJump(lengthMm, durationMs) ? 'jump' : 'segment'
  }
}

/** Points of a van as one flat array, three numbers a point: event time in ms, latitude, longitude in degrees. Ordered by event time. */
export type FlatPoints = number[]
export const POINT_NUMBERS = 3

/** Length from one point of a flat array to one of another (or the same). */
export function lengthMm(from: FlatPoints, fromAt: number, to: FlatPoints, toAt: number): number {
  return distanceMm(from[fromAt + 1]!, from[fromAt + 2]!, to[toAt + 1]!, to[toAt + 2]!)
}

/**
 * Where a point of time `eventMs` belongs: the index of its first number, counted from the end, where new points come. Its complement (`~`),
 * which is negative, when there is a point of that time.
 */
export function placeOf(points: FlatPoints, eventMs: number): number {
  let at = points.length
  while (at > 0 && points[at - POINT_NUMBERS]! > eventMs) at -= POINT_NUMBERS
  return at > 0 && points[at - POINT_NUMBERS] === eventMs ? ~(at - POINT_NUMBERS) : at
}
