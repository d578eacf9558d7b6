/** What the bridge writes besides positions, and the topics on which it listens. */

/** Heartbeat of a partition. Whatever else it holds is for people and for the ledger; the windowing reads `data_ms` only. */
export interface HeartbeatValue {
  readonly tipus: 'batec'
  readonly data_ms: number
  /** Instance of the bridge; `rebuts` and `bessons` count from its start. */
  readonly pont?: string
  /** Client id of the bridge: the same for the one that is active and those that stand by for it. */
  readonly client?: string
  /** Messages received. */
  readonly rebuts?: number
  /** Redeliveries that were merged with what was queued or stored already. */
  readonly bessons?: number
  /** Messages of the player's clock: received, and no record of the log. */
  readonly tics?: number
  /** Settings in force, so that a bridge that starts finds them without reading the log back to its start. */
  readonly retard_ms?: number
  readonly marge_ms?: number
  /** What held heartbeats back since the one before it; absent when nothing did. */
  readonly retingut?: 'sense-connexio' | 'espera-kafka' | 'endarreriment'
  /** Written on the player's clock, before it met the machine's. */
  readonly rellotge?: 'reproduccio'
}

export interface SettingsValue {
  readonly tipus: 'parametres'
  readonly data_ms: number
  readonly retard_ms: number
  readonly marge_ms: number
  readonly rellotge?: 'reproduccio'
}

export type BridgeRefusal =
  | 'identitat'
  | 'json'
  | 'buit'
  | 'retingut'
  | 'utf8'
  | 'massa-gran'
  | 'no-posicio'
  | 'sense-format'
  | 'camps'
  | 'rebutjat-per-kafka'

/** Value of a record of `repartiment.rebutjats`. The stream job writes `motiu` and, off the clock, `data_ms`; the bridge the rest too. */
export interface DeadLetterValue {
  readonly motiu: 'invalid' | 'futur' | 'antic' | BridgeRefusal
  readonly data_ms?: number
  /** MQTT topic. */
  readonly tema?: string
  /** Length of the original in bytes. */
  readonly mida?: number
  /** SHA-256 of the original, lower-case hexadecimal. */
  readonly sha256?: string
  /** Original bytes, base64, the first 64 KiB. */
  readonly cos?: string
  readonly detall?: string
}

export const MQTT_TOPICS = {
  /** `<id>` is the van's name percent-encoded. A group may stand before it, to which only a bridge with filters of its own listens. */
  positionFilter: 'km0/repartidors/+/posicio',
  owntracksFilter: 'owntracks/#',
  hfpFilter: '/hfp/#',
  /** Play mode: the player's clock, `{"ara_ms":N}`, in order with the positions. */
  clock: 'km0/rellotge',
  /** Self-probe of the bridge. */
  probe: 'km0/sonda',
} as const

/** MQTT topic on which a van publishes its positions. */
export function positionTopic(van: string): string {
  return `km0/repartidors/${encodeTopicLevel(van)}/posicio`
}

/** Percent-encoding that leaves no `/`, `+` or `#` in a topic level. Throws a URIError for a lone surrogate. */
export function encodeTopicLevel(text: string): string {
  return encodeURIComponent(text)
}
