import { createHash } from 'node:crypto'
import { type BridgeRefusal, type DeadLetterValue, TOPICS } from '@km0/contracts'
import type { OutRecord } from '@km0/transport'

/** So much of the original is kept. */
const MAX_BODY_BYTES = 65_536
const MAX_TOPIC_CHARACTERS = 1_024

export interface Refusal {
  readonly reason: BridgeRefusal
  readonly detail: string
}

/**
 * The record of the dead letters for a message: reason, topic, length and SHA-256 of the whole, its first 64 KiB in base64.
 * `timestampMs` is absent while the clock is unknown.
 */
export function deadLetter(topic: string, payload: Buffer, { reason, detail }: Refusal, timestampMs: number | null): OutRecord {
  const value: DeadLetterValue = {
    motiu: reason,
    tema: topic.slice(0, MAX_TOPIC_CHARACTERS),
    mida: payload.length,
    sha256: createHash('sha256').update(payload).digest('hex'),
    cos: payload.subarray(0, MAX_BODY_BYTES).toString('base64'),
    detall: detail,
  }
  return {
    topic: TOPICS.deadLetters.name,
    key: null,
    value: JSON.stringify(value),
    ...(timestampMs === null ? {} : { timestampMs }),
  }
}
