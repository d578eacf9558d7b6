/** Values of `repartiment.panell` and `repartiment.viu` as they stand on the wire; sections 4, 5 and 13 of docs/semantics.md. */

export interface DistanceValue {
  readonly tipus: 'distancia'
  readonly repartidor: string
  readonly inici_ms: number
  readonly fi_ms: number
  readonly distancia_mm: number
  readonly posicions: number
  readonly salts: number
  readonly desplacament_mm: number
  readonly revisio?: number
}

export interface SessionValue {
  readonly tipus: 'sessio'
  readonly repartidor: string
  readonly inici_ms: number
  readonly fi_ms: number
  readonly posicions: number
}

export interface SignalValue {
  readonly tipus: 'senyal'
  readonly repartidor: string
  readonly estat: 'amb-senyal' | 'sense-senyal'
  readonly des_de_ms: number
}

export type PanelValue = DistanceValue | SessionValue | SignalValue

/** Newest point of a van by event time, late ones included; section 13. */
export interface LiveValue {
  readonly repartidor: string
  readonly lat: number
  readonly lon: number
  readonly data_ms: number
  /** Arrival time of the record that brought it. */
  readonly arribada_ms: number
  /** From the point before, in millimetres per second; null when there is none within `maxSegmentMs`, and when in doubt. */
  readonly velocitat_mm_s: number | null
  /** Whole degrees clockwise from north, 0 to 359, from the point before; null when unknown, in doubt or not moved. */
  readonly rumb_graus: number | null
  /** Reached by a jump and not yet confirmed by the next point. */
  readonly dubtos: boolean
  /** Under 30 m from where it was 120 s before. */
  readonly estat: 'en-moviment' | 'aturada'
}

/** Value of `repartiment.marques`: how far one source partition has come. */
export interface MarkValue {
  readonly particio: number
  /** Next offset to read. */
  readonly offset: number
  /** null before the first record that counts. */
  readonly marca_aigua_ms: number | null
  readonly progres_ms: number | null
  /** Record timestamp of the newest heartbeat; null before the first. */
  readonly darrer_batec_ms: number | null
  /** Record timestamp of the newest record of any kind. */
  readonly darrer_registre_ms: number | null
  readonly epoca: number
}

/**
 * A hole in the log, as `repartiment.tardans` tells of it under the key `forat|<particio>`: records that retention had deleted before the
 * windowing job read them. Live results miss whatever they held.
 */
export interface HoleValue {
  readonly motiu: 'forat'
  /** Newest time that the job had heard of before it. */
  readonly inici_ms: number
  /** Arrival of the first record behind it. */
  readonly data_ms: number
  /** Offsets, `[des_de_offset, fins_offset)`. */
  readonly des_de_offset: number
  readonly fins_offset: number
}

/** Why no heartbeat came, as far as the log tells; null when it does not. `pont`: the bridge was away; `broker`: the bridge had no connection. */
export type OutageCauseValue = 'pont' | 'broker' | 'kafka' | 'endarreriment' | null

/**
 * An outage of ours: a span without heartbeats of a source partition, longer than the setting says. Value of `repartiment.marques` under the key
 * `tall|<particio>|<inici_ms>`.
 */
export interface OutageValue {
  readonly tipus: 'tall'
  readonly particio: number
  /** Record timestamp of the last heartbeat before it. */
  readonly inici_ms: number
  /** Record timestamp of the heartbeat that ended it. */
  readonly fi_ms: number
  readonly causa: OutageCauseValue
  /** Log epoch and offset of the heartbeat that ended it. */
  readonly epoca: number
  readonly offset: number
}
