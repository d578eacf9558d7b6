import { MQTT_TOPICS } from '@km0/contracts'
import { type Decoder, refused } from './decoded.ts'

/** What the bridge itself writes into the log: a van that sends it would close windows or change settings for all. */
const OF_THE_BRIDGE = new Set(['batec', 'parametres'])

/**
 * Our own payload on `km0/repartidors/<id>/posicio`, `<id>` the van percent-encoded, or with a group before it,
 * `km0/repartidors/<group>/<id>/posicio`, by which bridges can share a fleet. It is written as it came, byte for byte: whether
 * numbers are in range and clocks right is rule 1 and 2 of docs/semantics.md, and the stream job's to judge.
 */
export const ownDecoder: Decoder = {
  name: 'own',
  filter: MQTT_TOPICS.positionFilter,
  owns: ([first, second]) => first === 'km0' && second === 'repartidors',
  refuseTopic: (levels) =>
    (levels.length === 4 || levels.length === 5) && levels.at(-1) === 'posicio'
      ? null
      : refused('no-posicio', 'topic is not km0/repartidors/<id>/posicio'),
  decode: (levels, message, payload) => {
    const { repartidor: van, tipus, data_ms: eventMs } = message
    if (typeof tipus === 'string' && OF_THE_BRIDGE.has(tipus)) return refused('no-posicio', `tipus ${tipus} is the bridge's own`)
    if (typeof van !== 'string' || van === '') return refused('camps', 'repartidor is missing, empty or no text')
    if (decodeLevel(levels.at(-2) ?? '') !== van) return refused('identitat', 'topic and repartidor name different vans')
    return { kind: 'accepted', van, value: payload, eventMs: typeof eventMs === 'number' ? eventMs : null }
  },
}

/** Percent-decoded text of a topic level; null when it is not well formed. */
function decodeLevel(level: string): string | null {
  try {
    return decodeURIComponent(level)
  } catch {
    return null
  }
}
