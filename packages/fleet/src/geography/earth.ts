/** Plane geometry good enough for a province: metres east and north of a point, on a sphere of the radius that the semantics use. */

export interface Point {
  readonly lat: number
  readonly lon: number
}

const EARTH_RADIUS_M = 6_371_008.8
const RADIANS = Math.PI / 180
const METRES_PER_DEGREE = EARTH_RADIUS_M * RADIANS

/** Great circle distance in metres (haversine). */
export function distanceM(from: Point, to: Point): number {
  const lat = Math.sin(((to.lat - from.lat) * RADIANS) / 2) ** 2
  const lon = Math.sin(((to.lon - from.lon) * RADIANS) / 2) ** 2
  return 2 * EARTH_RADIUS_M * Math.asin(Math.sqrt(Math.min(1, lat + Math.cos(from.lat * RADIANS) * Math.cos(to.lat * RADIANS) * lon)))
}

/** The point that lies so many metres east and north. */
export function moved(from: Point, eastM: number, northM: number): Point {
  return {
    lat: from.lat + northM / METRES_PER_DEGREE,
    lon: from.lon + eastM / (METRES_PER_DEGREE * Math.cos(from.lat * RADIANS)),
  }
}

/** Point at a share (0…1) of the straight way. */
export function along(from: Point, to: Point, share: number): Point {
  return { lat: from.lat + (to.lat - from.lat) * share, lon: from.lon + (to.lon - from.lon) * share }
}

/** Displaces a point to the left of the way from -> to, by metres. */
export function asideM(point: Point, from: Point, to: Point, metres: number): Point {
  const east = (to.lon - from.lon) * Math.cos(from.lat * RADIANS)
  const north = to.lat - from.lat
  const length = Math.hypot(east, north)
  if (length === 0) return moved(point, metres, 0)
  return moved(point, (-north / length) * metres, (east / length) * metres)
}
