import { z } from 'zod'

const ms = z.number().int().describe('milliseconds since 1970-01-01T00:00:00Z')
const frame = {
  id: z.number().int().describe('place in the stream; grows'),
  key: z.string().describe('natural key: the same event has the same key for ever'),
  atMs: ms,
  foundAtMs: ms,
}
const degrees = z.number().nullable()

/** An event as the stream and webhooks have it. */
export const eventSchema = z.discriminatedUnion('kind', [
  z.object({
    ...frame,
    kind: z.literal('no-signal'),
    van: z.string(),
    sinceMs: ms,
    stepMs: z.number().int().describe('milliseconds of silence, a step of KM0_SILENCE_STEPS_MIN'),
    lat: degrees,
    lon: degrees,
  }),
  z.object({ ...frame, kind: z.literal('returned'), van: z.string(), sinceMs: ms, endedMs: ms }),
  z.object({
    ...frame,
    kind: z.literal('low-stock'),
    product: z.string(),
    market: z.string(),
    startMs: ms,
    reason: z.enum(['begun', 'halved', 'empty']),
    stock: z.number(),
    threshold: z.number().nullable(),
  }),
  z.object({
    ...frame,
    kind: z.literal('low-stock-over'),
    product: z.string(),
    market: z.string(),
    startMs: ms,
    endMs: ms,
    minimum: z.number(),
    threshold: z.number(),
  }),
])
