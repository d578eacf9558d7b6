import type { BridgeRefusal } from '@km0/contracts'

export interface Refused {
  readonly kind: 'refused'
  readonly reason: BridgeRefusal
  /** For people; never holds a position. */
  readonly detail: string
}

export interface Accepted {
  readonly kind: 'accepted'
  readonly van: string
  /** What goes into the log, to the byte. */
  readonly value: Buffer
  /** `data_ms` where it is a number; what it is worth is for the stream job to say. */
  readonly eventMs: number | null
}

export type Decoded = Accepted | Refused

export type JsonObject = Readonly<Record<string, unknown>>

/** One format of messages. */
export interface Decoder {
  readonly name: string
  /** MQTT subscription that brings its messages. */
  readonly filter: string
  /** Whether a topic, split at its slashes, is of this format at all. */
  owns(levels: readonly string[]): boolean
  /** Says why a topic of this format carries no positions, null when it does. */
  refuseTopic(levels: readonly string[]): Refused | null
  decode(levels: readonly string[], message: JsonObject, payload: Buffer): Decoded
}

export function refused(reason: BridgeRefusal, detail: string): Refused {
  return { kind: 'refused', reason, detail }
}
