import { distance } from '@turf/distance'

/** Mean Earth radius of @turf/distance, metres. */
const EARTH_RADIUS_M = 6_371_008.8
const HALF_AROUND_M = Math.PI * EARTH_RADIUS_M
const METRES = { units: 'meters' as const }
const RADIANS = Math.PI / 180

// One pair for all calls: turf copies the coordinates it is given.
const from: [number, number] = [0, 0]
const to: [number, number] = [0, 0]

/**
 * Length between two points given in degrees, in whole millimetres, halves up: haversine by @turf/distance. Between antipodes the term under
 * its roots may come out above 1, and turf gives NaN: there it counts as 1 (section 4).
 */
export function distanceMm(fromLat: number, fromLon: number, toLat: number, toLon: number): number {
  from[0] = fromLon
  from[1] = fromLat
  to[0] = toLon
  to[1] = toLat
  const metres = distance(from, to, METRES)
  return Math.floor((Number.isNaN(metres) ? HALF_AROUND_M : metres) * 1000 + 0.5)
}

/** Direction at the first point towards the second along a great circle: whole degrees clockwise from north, 0 to 359. */
export function bearingDegrees(fromLat: number, fromLon: number, toLat: number, toLon: number): number {
  const lat1 = fromLat * RADIANS
  const lat2 = toLat * RADIANS
  const dLon = (toLon - fromLon) * RADIANS
  const east = Math.sin(dLon) * Math.cos(lat2)
  const north = Math.cos(lat1) * Math.sin(lat2) - Math.sin(lat1) * Math.cos(lat2) * Math.cos(dLon)
  return (Math.floor((Math.atan2(east, north) * 180) / Math.PI + 0.5) + 360) % 360
}
