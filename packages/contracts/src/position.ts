/** The payload that our own vans publish, and the player's clock; section 1 of docs/semantics.md. */

export interface PositionFix {
  readonly van: string
  readonly lat: number
  readonly lon: number
  readonly eventMs: number
}

/** Our own position payload, JSON text. Coordinates are kept as they are. */
export function encodePosition(fix: PositionFix): string {
  return JSON.stringify({ repartidor: fix.van, lat: fix.lat, lon: fix.lon, data_ms: fix.eventMs })
}

/** Value of `MQTT_TOPICS.clock`: the player's time, JSON text. */
export function encodeClock(nowMs: number): string {
  return JSON.stringify({ ara_ms: nowMs })
}
