import type { LakeLatePoint, LakeRefusedPoint, VanDayLate } from '@km0/contracts/van-day-panel'
import { placeAt, type Track } from '../playback/track-columns.ts'

/** A point that is not, or not whole, in the live results, for the list and the map. */
export interface OddPoint {
  readonly id: string
  readonly kind: 'late' | 'refused'
  /** Wire name. */
  readonly reason: string
  readonly eventMs: number | null
  readonly arrivalMs: number | null
  readonly windowsClosed: number | null
  readonly detail: string | null
  readonly lat: number | null
  readonly lon: number | null
  /** Its own place is not kept: it is drawn where the van was when it arrived. */
  readonly isGuess: boolean
}

/**
 * Late and refused points in the order of their arrival, event time where that is not known. Late ones of the store that the lake has not told are
 * there too, without place.
 */
export function preparePoints(
  lake: { readonly late: readonly LakeLatePoint[]; readonly refused: readonly LakeRefusedPoint[] },
  stored: readonly VanDayLate[],
  track: Track,
  gapMs: number,
): OddPoint[] {
  const sourceOf = ({ partition, offset, eventMs }: VanDayLate) => `${partition}|${offset}|${eventMs}`
  const told = new Set(lake.late.map(sourceOf))
  const bare = stored
    .filter((late) => !told.has(sourceOf(late)))
    .map((late) => ({ ...late, windowsClosed: null, arrivalMs: null, lat: null, lon: null }))
  const late = [...lake.late, ...bare].map((point): OddPoint => {
    const { eventMs, reason, arrivalMs, windowsClosed, lat, lon } = point
    return {
      id: `late|${sourceOf(point)}`,
      kind: 'late',
      eventMs,
      reason,
      arrivalMs,
      windowsClosed,
      lat,
      lon,
      detail: null,
      isGuess: false,
    }
  })
  const refused = lake.refused.map((point, index): OddPoint => {
    const guess = point.lat === null ? placeAt(track, point.arrivalMs, gapMs) : null
    return {
      ...point,
      id: `refused|${point.arrivalMs}|${index}`,
      kind: 'refused',
      windowsClosed: null,
      lat: point.lat ?? guess?.lat ?? null,
      lon: point.lon ?? guess?.lon ?? null,
      isGuess: guess !== null,
    }
  })
  const orderOf = ({ arrivalMs, eventMs }: OddPoint) => arrivalMs ?? eventMs ?? 0
  return [...late, ...refused].sort((a, b) => orderOf(a) - orderOf(b) || (a.eventMs ?? 0) - (b.eventMs ?? 0))
}
