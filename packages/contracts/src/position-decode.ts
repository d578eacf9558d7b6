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
  if (typeof repartidor !== 'string' || typeof lat !== 'number' || typeof lon !== 'number' || typeof data_ms !== 'number') return null
  const position = { van: repartidor, lat, lon, eventMs: data_ms }
  return isName(repartidor) && isPosition(position, refuseNullIsland) ? position : null
}

/** Whether a position whose van is a name may count: ranges of section 3.1. */
export function isPosition({ lat, lon, eventMs }: Position, refuseNullIsland: boolean): boolean {
  // NaN and infinities fail the comparisons.
  if (!isEventMs(eventMs) || !(lat >= -90 && lat <= 90 && lon >= -180 && lon <= 180)) return false
  return !(refuseNullIsland && lat === 0 && lon === 0)
}
