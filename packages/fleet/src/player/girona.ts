import type { RecordedFix } from './recording.ts'

/** Plaça de Catalunya, Girona. */
const CENTRE = { lat: 41.9794, lon: 2.8214 }
const RADIANS = Math.PI / 180

/**
 * Moves fixes onto Girona: the median of the recording goes to its centre. Degrees of longitude are stretched by the ratio of the
 * cosines of latitude, so the steps of a vehicle keep their length (within 3 in 10,000 for a city of 40 km). Fixes at 0,0 stay there: they are a fault, not a place.
 */
export function moveToGirona(fixes: readonly RecordedFix[]): RecordedFix[] {
  const real = fixes.filter((fix) => !isNullIsland(fix))
  const lat0 = median(real.map((fix) => fix.lat))
  const lon0 = median(real.map((fix) => fix.lon))
  return fixes.map((fix) => {
    if (isNullIsland(fix)) return fix
    const lat = CENTRE.lat + (fix.lat - lat0)
    const stretch = Math.cos(fix.lat * RADIANS) / Math.cos(lat * RADIANS)
    return { ...fix, lat: sixDecimals(lat), lon: sixDecimals(CENTRE.lon + (fix.lon - lon0) * stretch) }
  })
}

function isNullIsland(fix: RecordedFix): boolean {
  return Math.abs(fix.lat) < 0.01 && Math.abs(fix.lon) < 0.01
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1] ?? 0
}

function sixDecimals(degrees: number): number {
  return Math.round(degrees * 1e6) / 1e6
}
