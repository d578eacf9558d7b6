import { isUtf8 } from 'node:buffer'
import { type Decoded, type Decoder, type JsonObject, refused } from './decoded.ts'
import { hfpDecoder } from './hfp.ts'
import { ownDecoder } from './own.ts'
import { owntracksDecoder } from './owntracks.ts'

/** Every format that the bridge reads. */
export const DECODERS = { own: ownDecoder, owntracks: owntracksDecoder, hfp: hfpDecoder } as const satisfies Record<string, Decoder>

/** Records larger than this do not fit into the log: its largest record less room for key and framing. */
export interface DecodeLimits {
  readonly maxRecordBytes: number
}

/** Key, headers and framing of a record besides its value. */
const RECORD_OVERHEAD_BYTES = 1024

/**
 * What is to be made of one MQTT message: a van and the bytes to write, or a refusal with its reason. Never throws, whatever the bytes.
 * Only what cannot be decoded or attributed is refused.
 */
export function decode(topic: string, payload: Buffer, retain: boolean, limits: DecodeLimits): Decoded {
  try {
    return decodeUnguarded(topic, payload, retain, limits)
  } catch (error) {
    return refused('camps', `decoder failed: ${error instanceof Error ? error.name : 'unknown'}`)
  }
}

function decodeUnguarded(topic: string, payload: Buffer, retain: boolean, limits: DecodeLimits): Decoded {
  // Before `retingut`: clearing a retained message reaches everybody as an empty one.
  if (payload.length === 0) return refused('buit', 'no bytes')
  if (retain) return refused('retingut', 'a copy the broker had kept is no sign of life')
  const levels = topic.split('/')
  const decoder = Object.values<Decoder>(DECODERS).find((candidate) => candidate.owns(levels))
  if (decoder === undefined) return refused('sense-format', 'no format has this topic')
  const wrongTopic = decoder.refuseTopic(levels)
  if (wrongTopic !== null) return wrongTopic
  if (payload.length > limits.maxRecordBytes) return refused('massa-gran', `${payload.length} bytes`)
  if (!isUtf8(payload)) return refused('utf8', 'not UTF-8')
  const message = parseJson(payload.toString('utf8'))
  if (message === undefined) return refused('json', 'not JSON')
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return refused('no-posicio', 'not a JSON object')
  const decoded = decoder.decode(levels, message as JsonObject, payload)
  return decoded.kind === 'accepted' ? withinLimit(decoded, limits) : decoded
}

function withinLimit(accepted: Extract<Decoded, { kind: 'accepted' }>, { maxRecordBytes }: DecodeLimits): Decoded {
  const bytes = accepted.value.length + Buffer.byteLength(accepted.van) + RECORD_OVERHEAD_BYTES
  return bytes > maxRecordBytes ? refused('massa-gran', `${bytes} bytes with key and framing`) : accepted
}

/** The value, undefined when it is not JSON (`undefined` itself is not). A byte order mark is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
