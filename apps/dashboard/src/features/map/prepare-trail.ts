import type { RecentPoint } from '@km0/contracts/map-panel'
import type { PanelPoint, TrailPoint, TrailView } from '@km0/contracts/panel'
import type { MapPoint } from './map-lines.ts'

export const TRAIL_MS = 15 * 60_000
/** Two points further apart are not joined: nobody knows the way between them. */
export const TRAIL_GAP_MS = 120_000
/** A point that took longer than this to arrive was saved up by its van. */
export const BACKLOG_AFTER_MS = 60_000

/** The trail with a newer point at its end and what is older than 15 minutes dropped; the same trail when the point is no news. */
export function extendTrail(trail: TrailView, point: PanelPoint): TrailView {
  const last = trail.points.at(-1)
  if (last !== undefined && point.eventMs <= last[2]) return trail
  const kept = trail.points.filter(([, , eventMs]) => eventMs >= point.eventMs - TRAIL_MS)
  return { van: trail.van, points: [...kept, [point.lon, point.lat, point.eventMs]] }
}

/** The trail in pieces, cut where nothing is known of the way for long; oldest first. */
export function trailPieces(points: readonly TrailPoint[]): TrailPoint[][] {
  const pieces: TrailPoint[][] = []
  let lastMs = Number.NEGATIVE_INFINITY
  for (const point of points) {
    if (point[2] - lastMs > TRAIL_GAP_MS) pieces.push([])
    pieces.at(-1)?.push(point)
    lastMs = point[2]
  }
  return pieces
}

interface Placed extends RecentPoint {
  readonly lon: number
  readonly lat: number
}
const isPlaced = (point: RecentPoint): point is Placed => point.lon !== null && point.lat !== null

/**
 * Stretches of a way that arrived late, each joined to the points before and after it. Refused points are on no way. The points are in the order
 * of event time.
 */
export function backlogOf(points: readonly RecentPoint[]): TrailPoint[][] {
  const way = points.filter((point): point is Placed => point.verdict !== 'refused' && isPlaced(point))
  const isLate = (point: Placed | undefined) => point !== undefined && point.arrivalMs - point.eventMs > BACKLOG_AFTER_MS
  const stretches: TrailPoint[][] = []
  way.forEach((point, index) => {
    const before = way[index - 1]
    if (before === undefined || !(isLate(point) || isLate(before)) || point.eventMs - before.eventMs > TRAIL_GAP_MS) return
    const end: TrailPoint = [point.lon, point.lat, point.eventMs]
    const stretch = stretches.at(-1)
    if (stretch?.at(-1)?.[2] === before.eventMs) stretch.push(end)
    else stretches.push([[before.lon, before.lat, before.eventMs], end])
  })
  return stretches
}

/** Single points that have a place, for the map. */
export function mapPoints(points: readonly RecentPoint[]): MapPoint[] {
  return points.filter(isPlaced).map(({ lon, lat, verdict }) => ({ lon, lat, verdict }))
}

export interface PointCounts {
  readonly accepted: number
  readonly late: number
  readonly refused: number
  /** Of them, those that name no place and so are not on the map. */
  readonly nowhere: number
}

export function countPoints(points: readonly RecentPoint[]): PointCounts {
  const counts = { accepted: 0, late: 0, refused: 0, nowhere: 0 }
  for (const point of points) {
    counts[point.verdict] += 1
    if (!isPlaced(point)) counts.nowhere += 1
  }
  return counts
}
