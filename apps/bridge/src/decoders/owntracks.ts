import { MQTT_TOPICS } from '@km0/contracts'
import { type Decoder, refused } from './decoded.ts'
import { furtherMembers, strictNumber } from './numbers.ts'

/**
 * OwnTracks (booklet, "JSON" page): `owntracks/<user>/<device>`, van `user/device`. Only `_type` location is a position; some senders
 * leave `_type` out, and then lat, lon and tst must all be there. `tst` is the time of the fix in seconds, `vel` km/h, `acc` and `alt`
 * metres, `cog` degrees, `batt` per cent. Quoted numbers (Greenwich trackers) are read as numbers.
 */
export const owntracksDecoder: Decoder = {
  name: 'owntracks',
  filter: MQTT_TOPICS.owntracksFilter,
  owns: ([first]) => first === 'owntracks',
  refuseTopic: (levels) =>
    levels.length === 3 && levels[1] !== '' && levels[2] !== '' ? null : refused('no-posicio', 'topic is not owntracks/<user>/<device>'),
  decode: (levels, message) => {
    const type = message._type
    if (type !== undefined && type !== 'location') return refused('no-posicio', `_type ${describe(type)}`)
    const lat = strictNumber(message.lat)
    const lon = strictNumber(message.lon)
    const fixSeconds = strictNumber(message.tst)
    if (lat === null || lon === null || fixSeconds === null) return refused('camps', 'lat, lon or tst is missing or no number')
    const van = `${levels[1]}/${levels[2]}`
    const eventMs = Math.round(fixSeconds * 1000)
    const value = { repartidor: van, lat, lon, data_ms: eventMs, ...furtherMembers(message, FURTHER), format: 'owntracks' }
    return { kind: 'accepted', van, value: Buffer.from(JSON.stringify(value)), eventMs }
  },
}

const FURTHER = {
  vel: { name: 'velocitat_m_s', factor: 1 / 3.6, decimals: 2 },
  cog: { name: 'rumb_graus', decimals: 1 },
  acc: { name: 'precisio_m', decimals: 1 },
  alt: { name: 'altitud_m', decimals: 1 },
  batt: { name: 'bateria_pct', decimals: 0 },
}

/** A member for a message to people, cut to a line. */
function describe(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 40)
}
