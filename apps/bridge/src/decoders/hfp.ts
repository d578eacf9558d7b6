import { MQTT_TOPICS } from '@km0/contracts'
import { type Decoder, type JsonObject, type Refused, refused } from './decoded.ts'
import { furtherMembers, strictNumber } from './numbers.ts'

const ISO_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/
/** `tsi` is `tst` cut to seconds. Two clocks further apart than this do not say when it was. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000

/**
 * HSL high-frequency positioning (digitransit.fi, HFP 1 and 2): `/hfp/v2/<journey>/<temporal>/<event>/<mode>/<operator>/<vehicle>/…`,
 * version 1 without `<event>`; van `operator/vehicle` from the topic, as the payload's `oper` is whoever runs the line. The payload has
 * one member, named after the event. `tst` is ISO text in UTC, `long` the longitude, `spd` m/s; `acc` is acceleration and not kept.
 * Coordinates are null where the vehicle does not know where it is.
 */
export const hfpDecoder: Decoder = {
  name: 'hfp',
  filter: MQTT_TOPICS.hfpFilter,
  owns: ([first, second]) => first === '' && second === 'hfp',
  refuseTopic: (levels) => (vehicleOf(levels) === null ? refused('no-posicio', 'topic names no operator and vehicle') : null),
  decode: (levels, message) => {
    const event = eventOf(message)
    if (event === null) return refused('no-posicio', 'not one event with an object')
    if (event.lat === null && event.long === null) return refused('no-posicio', 'the vehicle does not know where it is')
    const lat = strictNumber(event.lat)
    const lon = strictNumber(event.long)
    if (lat === null || lon === null) return refused('camps', 'lat or long is missing or no number')
    const eventMs = timeOf(event)
    if (typeof eventMs !== 'number') return eventMs
    const van = vehicleOf(levels) ?? ''
    const value = { repartidor: van, lat, lon, data_ms: eventMs, ...furtherMembers(event, FURTHER), format: 'hfp' }
    return { kind: 'accepted', van, value: Buffer.from(JSON.stringify(value)), eventMs }
  },
}

const FURTHER = {
  spd: { name: 'velocitat_m_s', decimals: 2 },
  hdg: { name: 'rumb_graus', decimals: 1 },
}

function vehicleOf(levels: readonly string[]): string | null {
  const at = levels[2] === 'v1' ? 6 : levels[2] === 'v2' ? 7 : -1
  const operator = levels[at]
  const vehicle = levels[at + 1]
  return at > 0 && operator && vehicle ? `${operator}/${vehicle}` : null
}

function eventOf(message: JsonObject): JsonObject | null {
  const [event, ...others] = Object.values(message)
  if (others.length > 0 || typeof event !== 'object' || event === null || Array.isArray(event)) return null
  return event as JsonObject
}

function timeOf({ tst, tsi }: JsonObject): number | Refused {
  const eventMs = typeof tst === 'string' && ISO_UTC.test(tst) ? Date.parse(tst) : Number.NaN
  if (Number.isNaN(eventMs)) return refused('camps', 'tst is not a time in UTC')
  const seconds = strictNumber(tsi)
  if (seconds !== null && Math.abs(eventMs - seconds * 1000) > MAX_CLOCK_DIFFERENCE_MS) {
    return refused('camps', 'tst and tsi disagree')
  }
  return eventMs
}
