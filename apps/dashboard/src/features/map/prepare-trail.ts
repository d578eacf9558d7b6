import type { PanelPoint, TrailView } from '@km0/contracts/panel'

const TRAIL_MS = 15 * 60_000

/** The trail with a newer point at its end and what is older than 15 minutes dropped; the same trail when the point is no news. */
export function extendTrail(trail: TrailView, point: PanelPoint): TrailView {
  const last = trail.points.at(-1)
  if (last !== undefined && point.eventMs <= last[2]) return trail
  const kept = trail.points.filter(([, , eventMs]) => eventMs >= point.eventMs - TRAIL_MS)
  return { van: trail.van, points: [...kept, [point.lon, point.lat, point.eventMs]] }
}
