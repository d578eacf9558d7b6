import { type ClockSettings, decodeHeartbeat, decodeSettings, HEARTBEAT_KIND, SETTINGS_KIND } from './control.ts'
import { decodePosition, isPosition, type Position } from './position-decode.ts'
import { scanPosition } from './position-scan.ts'
import { MAX_VALUE_BYTES, parseJsonObject } from './wire-json.ts'

/** What a record of `repartiment.posicions` says. */
export type PositionRecord =
  | { readonly kind: 'invalid' }
  | { readonly kind: 'heartbeat'; readonly eventMs: number }
  | ({ readonly kind: 'settings' } & ClockSettings)
  | ({ readonly kind: 'position' } & Position)

const INVALID: PositionRecord = { kind: 'invalid' }

/**
 * Reads a value of `repartiment.posicions` (sections 1 and 3.1). `text` is the value as UTF-8 with a BOM kept, null for none; `byteLength` its
 * length in bytes; `validUtf8` false when decoding had to replace anything.
 */
export function readPositionRecord(text: string | null, byteLength: number, validUtf8: boolean, refuseNullIsland: boolean): PositionRecord {
  if (text !== null && byteLength <= MAX_VALUE_BYTES && validUtf8) {
    const scanned = scanPosition(text)
    if (scanned !== null) return isPosition(scanned, refuseNullIsland) ? scanned : INVALID
  }
  const value = parseJsonObject(text, byteLength, validUtf8)
  if (value === null) return INVALID
  if (value.tipus === SETTINGS_KIND) {
    const settings = decodeSettings(value)
    return settings === null ? INVALID : { kind: 'settings', ...settings }
  }
  if (value.tipus === HEARTBEAT_KIND) {
    const eventMs = decodeHeartbeat(value)
    return eventMs === null ? INVALID : { kind: 'heartbeat', eventMs }
  }
  const position = decodePosition(value, refuseNullIsland)
  return position === null ? INVALID : { kind: 'position', ...position }
}
