import type { Van } from '../van/prepare-fleet.ts'

const EARTH_RADIUS_MM = 6_371_008_800
const RADIANS = Math.PI / 180

/** How many of the others were last seen within a distance of where this van was; 0 for one without a position. */
export function countNear(van: Van, others: readonly Van[], distanceMm: number): number {
  const here = van.point
  if (here === null) return 0
  return others.filter((other) => other.van !== van.van && other.point !== null && distanceBetweenMm(here, other.point) <= distanceMm)
    .length
}

interface Place {
  readonly lat: number
  readonly lon: number
}

/** On a plane around the two: within kilometres as good as a sphere. */
function distanceBetweenMm(a: Place, b: Place): number {
  const east = (a.lon - b.lon) * Math.cos(((a.lat + b.lat) / 2) * RADIANS)
  return Math.hypot(a.lat - b.lat, east) * RADIANS * EARTH_RADIUS_MM
}
