import { lakeEnvironment } from '@km0/lake'
import { z } from 'zod'

const positive = (fallback: number) => z.coerce.number().int().positive().default(fallback)

/** Settings of the panel's reads of the lake, and of the process that does them. */
export const panelLakeEnvironment = lakeEnvironment.extend({
  KM0_PANEL_LAKE_POINTS: positive(50_000).describe('points of one answer at most; more are thinned'),
  KM0_PANEL_LAKE_QUERY_MS: positive(10_000).describe('ms; a read of the lake that takes longer is given up'),
  KM0_PANEL_LAKE_IDLE_MS: positive(120_000).describe('ms; the process that reads the lake ends when nobody has asked for so long'),
  KM0_REPLAY_SAMPLE_MS: z.coerce
    .number()
    .int()
    .min(1_000)
    .max(300_000)
    .default(15_000)
    .describe('ms; the fleet replay has one point of a van in so long'),
})

export interface ReadLimits {
  readonly points: number
  readonly queryMs: number
  readonly sampleMs: number
}

export function readLimitsOf(settings: z.infer<typeof panelLakeEnvironment>): ReadLimits {
  return { points: settings.KM0_PANEL_LAKE_POINTS, queryMs: settings.KM0_PANEL_LAKE_QUERY_MS, sampleMs: settings.KM0_REPLAY_SAMPLE_MS }
}
