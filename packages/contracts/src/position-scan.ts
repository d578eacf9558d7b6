import type { Position } from './position-decode.ts'

const QUOTE = 0x22
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c
const FIRST_SURROGATE = 0xd800
const MAX_NAME_UNITS = 64

/** Beyond 15 digits an integer may not be exact. */
const MAX_DIGITS = 15
const POWERS_OF_TEN = Array.from({ length: MAX_DIGITS + 1 }, (_, digits) => 10 ** digits)

/** What stands before each member's value; written without spaces, as JSON.stringify does, and with, as Python does. */
interface Layout {
  readonly van: Uint16Array
  readonly lat: Uint16Array
  readonly lon: Uint16Array
  readonly time: Uint16Array
}

const TIGHT = layout('{"repartidor":"', '","lat":', ',"lon":', ',"data_ms":')
const SPACED = layout('{"repartidor": "', '", "lat": ', ', "lon": ', ', "data_ms": ')

/** A position whose ranges are not checked. */
export type ScannedPosition = Position & { readonly kind: 'position' }

/** End of the number last read; -1 when there was none. A variable of the module because a pair would be an object for each number. */
let numberEnd = 0

/**
 * Reads a position of the form that vans send, `{"repartidor":"…","lat":…,"lon":…,"data_ms":…}`, much faster than JSON.parse. Returns null
 * for anything that is not plainly that, valid or not: JSON.parse is then to judge. What it returns equals what JSON.parse and
 * decodePosition give, ranges unchecked.
 */
export function scanPosition(text: string): ScannedPosition | null {
  const form = text.charCodeAt(TIGHT.van.length - 1) === QUOTE ? TIGHT : SPACED
  if (!standsAt(text, 0, form.van)) return null
  const nameStart = form.van.length
  const nameEnd = plainNameEnd(text, nameStart)
  if (nameEnd === nameStart || !standsAt(text, nameEnd, form.lat)) return null
  const lat = plainNumber(text, nameEnd + form.lat.length)
  if (!standsAt(text, numberEnd, form.lon)) return null
  const lon = plainNumber(text, numberEnd + form.lon.length)
  if (!standsAt(text, numberEnd, form.time)) return null
  const eventMs = plainNumber(text, numberEnd + form.time.length)
  if (numberEnd < 0 || numberEnd !== text.length - 1 || text.charCodeAt(numberEnd) !== 0x7d) return null
  return { kind: 'position', van: text.slice(nameStart, nameEnd), lat, lon, eventMs }
}

function standsAt(text: string, at: number, units: Uint16Array): boolean {
  if (at < 0) return false
  for (let i = 0; i < units.length; i += 1) if (text.charCodeAt(at + i) !== units[i]) return false
  return true
}

/** End of a name that needs no unescaping: no quote, backslash, control character, nor anything from the surrogates on. */
function plainNameEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_NAME_UNITS)
  let end = start
  for (; end < limit; end += 1) {
    const unit = text.charCodeAt(end)
    if (unit === QUOTE || unit === BACKSLASH || unit < 0x20 || unit >= FIRST_SURROGATE) break
  }
  return end
}

/**
 * A JSON number without exponent and of at most 15 digits; sets numberEnd. Digits and power of ten are then exact, and one division of exact
 * numbers rounds as the decimal itself does (W. D. Clinger, "How to read floating point numbers accurately", 1990).
 */
function plainNumber(text: string, at: number): number {
  const negative = text.charCodeAt(at) === MINUS
  const start = negative ? at + 1 : at
  let end = start
  let digits = 0
  let point = -1
  for (; ; end += 1) {
    const unit = text.charCodeAt(end)
    if (unit >= ZERO && unit <= NINE) digits = digits * 10 + (unit - ZERO)
    else if (unit === POINT && point < 0) point = end
    else break
  }
  const decimals = point < 0 ? 0 : end - point - 1
  const whole = (point < 0 ? end : point) - start
  const malformed = whole === 0 || point === end - 1 || (whole > 1 && text.charCodeAt(start) === ZERO)
  numberEnd = malformed || whole + decimals > MAX_DIGITS ? -1 : end
  const value = decimals === 0 ? digits : digits / POWERS_OF_TEN[Math.min(decimals, MAX_DIGITS)]!
  return negative ? -value : value
}

function layout(van: string, lat: string, lon: string, time: string): Layout {
  const units = (text: string) => Uint16Array.from(text, (unit) => unit.charCodeAt(0))
  return { van: units(van), lat: units(lat), lon: units(lon), time: units(time) }
}
