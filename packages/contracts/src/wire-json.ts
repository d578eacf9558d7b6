/** Values of the log as JSON objects; rules of section 3.1 that every kind of record shares. */

/** Longest value that is read, in bytes. */
export const MAX_VALUE_BYTES = 65_536

const FIRST_EVENT_MS = 946_684_800_000
const END_EVENT_MS = 4_102_444_800_000
const MAX_NAME_UNITS = 64

export type JsonObject = Readonly<Record<string, unknown>>

/**
 * The JSON object in a record's value; null when there is no value, it is longer than MAX_VALUE_BYTES, was not UTF-8, begins with a BOM,
 * is not JSON or not an object. JSON is as JSON.parse reads it: the last of equal members wins.
 */
export function parseJsonObject(text: string | null, byteLength: number, validUtf8: boolean): JsonObject | null {
  if (text === null || byteLength > MAX_VALUE_BYTES || !validUtf8) return null
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
}

/** Whether `value` is an event time: an integer of ms in [2000-01-01, 2100-01-01). */
export function isEventMs(value: unknown): value is number {
  return typeof value === 'number' && value >= FIRST_EVENT_MS && value < END_EVENT_MS && Number.isInteger(value)
}

/** Whether `value` is a name: 1 to 64 code units without control character (below U+0020) or lone surrogate. */
export function isName(value: unknown): value is string {
  if (typeof value !== 'string' || value.length === 0 || value.length > MAX_NAME_UNITS) return false
  for (let i = 0; i < value.length; i += 1) {
    const unit = value.charCodeAt(i)
    if (unit < 0x20) return false
    if (unit < 0xd800 || unit > 0xdfff) continue
    const next = i + 1 < value.length ? value.charCodeAt(i + 1) : 0
    if (unit > 0xdbff || next < 0xdc00 || next > 0xdfff) return false
    i += 1
  }
  return true
}
