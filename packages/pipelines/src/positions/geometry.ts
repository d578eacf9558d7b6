/** Mean Earth radius of @turf/distance, metres. */
const EARTH_RADIUS_M = 6_371_008.8
const HALF_AROUND_M = Math.PI * EARTH_RADIUS_M
const RADIANS = Math.PI / 180

/**
 * Length between two points given in degrees, in whole millimetres, halves up: the haversine of @turf/distance, operation for operation, without
 * the arrays that turf makes for each call. Between antipodes the term under its roots may come out above 1, and turf gives NaN: there it counts
 * as 1 (section 4).
 */
export function distanceMm(fromLat: number, fromLon: number, toLat: number, toLon: number): number {
  return haversineMm(fromLat, fromLon, latitudeCosine(fromLat), toLat, toLon, latitudeCosine(toLat))
}

/** What `haversineMm` wants of a latitude: of many steps one after the other it is computed once a point. */
export function latitudeCosine(lat: number): number {
  return Math.cos(radians(lat))
}

/** The same as `distanceMm`, where the cosines of both latitudes are known. */
export function haversineMm(fromLat: number, fromLon: number, fromCosine: number, toLat: number, toLon: number, toCosine: number): number {
  const north = Math.sin(radians(toLat - fromLat) / 2)
  const east = Math.sin(radians(toLon - fromLon) / 2)
  const a = north * north + east * east * fromCosine * toCosine
  const metres = 2 * Math.atan2(Math.sqrt(a), Math.sqrt(1 - a)) * EARTH_RADIUS_M
  return Math.floor((Number.isNaN(metres) ? HALF_AROUND_M : metres) * 1000 + 0.5)
}

/** Rounds as turf does, which multiplies before it divides. A remainder costs more than all the rest, and is the number itself below one turn. */
function radians(degrees: number): number {
  const withinTurn = degrees > -360 && degrees < 360 ? degrees : degrees % 360
  return (withinTurn * Math.PI) / 180
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
