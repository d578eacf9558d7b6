/** Metres of a degree of latitude, on a sphere of 6,371 km: a grid needs no better. */
const METRES_PER_DEGREE = 111_195
/** A hundredth of a degree at the poles is enough: no column is wider. */
const LEAST_COSINE = 0.01
const DIGITS = 1e6

/**
 * The centre of the cell of a grid that holds a place. Rows are `sizeM` high, columns as wide at the centre of their row. All places of a cell give
 * the same one, and so does that one itself: what it was before cannot be told from it. Latitude and longitude in degrees, rounded to 0.1 m.
 */
export function gridCentre(lat: number, lon: number, sizeM: number): readonly [lat: number, lon: number] {
  const stepLat = sizeM / METRES_PER_DEGREE
  const rowLat = clamp((Math.floor(lat / stepLat) + 0.5) * stepLat, 90)
  const stepLon = stepLat / Math.max(LEAST_COSINE, Math.cos((rowLat * Math.PI) / 180))
  const columnLon = clamp((Math.floor(lon / stepLon) + 0.5) * stepLon, 180)
  return [rounded(rowLat), rounded(columnLon)]
}

const clamp = (degrees: number, most: number) => Math.max(-most, Math.min(most, degrees))
const rounded = (degrees: number) => Math.round(degrees * DIGITS) / DIGITS
