import { isEventMs, isName, type JsonObject } from './wire-json.ts'

/** One position of a van, as section 3.1 accepts it. */
export interface Position {
  readonly van: string
  /** Degrees, WGS 84. */
  readonly lat: number
  readonly lon: number
  readonly eventMs: number
}

/** The position in a value of `repartiment.posicions`; null when it is `invalid` (section 3.1). Further members are not read. */
export function decodePosition(value: JsonObject, refuseNullIsland: boolean): Position | null {
  const { repartidor, lat, lon, data_ms } = value
  if (!isEventMs(data_ms) || !isName(repartidor)) return null
  // NaN and infinities fail the comparisons.
  if (typeof lat !== 'number' || typeof lon !== 'number' || !(lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180)) return null
  if (refuseNullIsland && lat === 0 && lon === 0) return null
  return { van: repartidor, lat, lon, eventMs: data_ms }
}
