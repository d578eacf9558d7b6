import type { ShuffleSnapshot } from '@km0/pipelines'
import { z } from 'zod'

const ms = z.number().int().nullable()

const placeSchema = z.object({
  version: z.literal(1),
  /** Source partitions that every target knows of. */
  sources: z.number().int().positive(),
  targets: z.number().int().positive(),
  task: z.object({
    clock: z.object({ progressMs: ms, watermarkMs: ms, finalMs: ms, delayMs: z.number(), allowedLatenessMs: z.number() }),
    configured: z.object({ delayMs: z.number(), allowedLatenessMs: z.number() }).nullable(),
    followedOffset: z.number().int(),
    number: z.number().int(),
    toldMs: ms,
  }),
})

/**
 * The checkpoint of the shuffle's work on a source partition. It is stored beside the committed offset, in the transaction of what was made
 * of the records before that offset, so the two can never disagree.
 */
export interface ShufflePlace {
  readonly sources: number
  readonly targets: number
  readonly task: ShuffleSnapshot
}

export function encodePlace(place: ShufflePlace): string {
  return JSON.stringify({ version: 1, ...place })
}

/** null when the text is not a place: the offset was set by other means. */
export function decodePlace(metadata: string | null): ShufflePlace | null {
  if (metadata === null) return null
  let value: unknown
  try {
    value = JSON.parse(metadata)
  } catch {
    return null
  }
  const parsed = placeSchema.safeParse(value)
  return parsed.success ? parsed.data : null
}
