const EARTH_RADIUS_M = 6_371_008.8
const METRES_PER_DEGREE = (EARTH_RADIUS_M * Math.PI) / 180

/** Metres between two places, good to a thousandth over some kilometres: near enough for "near the depot" and for a track from point to point. */
export function metresBetween(
  a: { readonly lat: number; readonly lon: number },
  b: { readonly lat: number; readonly lon: number },
): number {
  const east = (a.lon - b.lon) * Math.cos((((a.lat + b.lat) / 2) * Math.PI) / 180)
  return Math.hypot(east, a.lat - b.lat) * METRES_PER_DEGREE
}
