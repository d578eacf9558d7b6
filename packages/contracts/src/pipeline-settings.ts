import { z } from 'zod'
import { DEFAULT_POSITIONS_SETTINGS, DEFAULT_STOCK_SETTINGS, type PositionsSettings, type StockSettings } from './host.ts'

/**
 * Settings of all pipelines, in one place. Delay and allowed lateness are told to the log when they change, so that a replay uses what was in
 * force. All others make another pipeline of it: they change together with `version`.
 */
export interface PipelineSettings {
  readonly positions: PositionsSettings & Versioned
  readonly stock: StockSettings & Versioned
}

interface Versioned {
  /** Grows by one with every change of what the pipeline computes. */
  readonly version: number
}

/** The product ships with 5 minutes of allowed lateness for stock; a replay has none unless told. */
const STOCK_DEFAULTS: StockSettings = { ...DEFAULT_STOCK_SETTINGS, allowedLatenessMs: 300_000 }
const POSITIONS_DEFAULTS = DEFAULT_POSITIONS_SETTINGS

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const whole = (min: number, max: number) => z.number().int().min(min).max(max)
const durationMs = (maxMs: number) => whole(0, maxMs)
const version = whole(1, 1_000_000).default(1)

const positionsShape = {
  version,
  windowSizeMs: whole(1_000, DAY_MS).default(POSITIONS_DEFAULTS.windowSizeMs),
  slideMs: whole(1_000, DAY_MS).default(POSITIONS_DEFAULTS.slideMs),
  sessionGapMs: whole(1_000, DAY_MS).default(POSITIONS_DEFAULTS.sessionGapMs),
  delayMs: durationMs(HOUR_MS).default(POSITIONS_DEFAULTS.delayMs),
  allowedLatenessMs: durationMs(HOUR_MS).default(POSITIONS_DEFAULTS.allowedLatenessMs),
  maxSegmentMs: durationMs(DAY_MS).default(POSITIONS_DEFAULTS.maxSegmentMs),
  topSpeedMmPerMs: z.number().min(0).max(1_000).default(POSITIONS_DEFAULTS.topSpeedMmPerMs),
  maxFutureMs: durationMs(DAY_MS).default(POSITIONS_DEFAULTS.maxFutureMs),
  maxAgeMs: durationMs(8 * DAY_MS).default(POSITIONS_DEFAULTS.maxAgeMs),
  refuseNullIsland: z.boolean().default(POSITIONS_DEFAULTS.refuseNullIsland),
  livePoints: z.boolean().default(POSITIONS_DEFAULTS.livePoints),
  liveMemoryMs: durationMs(8 * DAY_MS).default(POSITIONS_DEFAULTS.liveMemoryMs),
  stopDistanceMm: whole(0, 10_000_000).default(POSITIONS_DEFAULTS.stopDistanceMm),
  stopAfterMs: durationMs(HOUR_MS).default(POSITIONS_DEFAULTS.stopAfterMs),
  stopMemoryMs: durationMs(DAY_MS).default(POSITIONS_DEFAULTS.stopMemoryMs),
  stopLeastMs: whole(1, HOUR_MS).default(POSITIONS_DEFAULTS.stopLeastMs),
}

const threshold = z.number().min(-1e9).max(1e9)
const stockShape = {
  version,
  windowSizeMs: whole(1_000, DAY_MS).default(STOCK_DEFAULTS.windowSizeMs),
  delayMs: durationMs(HOUR_MS).default(STOCK_DEFAULTS.delayMs),
  allowedLatenessMs: durationMs(HOUR_MS).default(STOCK_DEFAULTS.allowedLatenessMs),
  threshold: threshold.default(STOCK_DEFAULTS.threshold),
  thresholds: z
    .record(z.string().regex(/^[^|]{1,64}\|[^|]{1,64}$/, 'write producte|mercat, producte|* or *|mercat'), threshold)
    .default(STOCK_DEFAULTS.thresholds),
  maxFutureMs: durationMs(DAY_MS).default(STOCK_DEFAULTS.maxFutureMs),
  maxAgeMs: durationMs(8 * DAY_MS).default(STOCK_DEFAULTS.maxAgeMs),
}

export const pipelineSettingsSchema = z.strictObject({
  positions: z
    .strictObject(positionsShape)
    .prefault({})
    .superRefine(({ windowSizeMs, slideMs, stopMemoryMs, stopAfterMs }, context) => {
      if (windowSizeMs % slideMs !== 0) {
        context.addIssue({ code: 'custom', path: ['slideMs'], message: `must divide windowSizeMs (${windowSizeMs})` })
      }
      if (stopMemoryMs < stopAfterMs) {
        context.addIssue({ code: 'custom', path: ['stopMemoryMs'], message: `must be at least stopAfterMs (${stopAfterMs})` })
      }
    }),
  stock: z.strictObject(stockShape).prefault({}),
})

/** Names of the settings that a variable can give, by section: all but those with members of their own. */
export const PIPELINE_VARIABLES: ReadonlyMap<string, readonly [section: 'positions' | 'stock', name: string]> = new Map(
  (['positions', 'stock'] as const).flatMap((part) =>
    Object.keys(part === 'positions' ? positionsShape : stockShape)
      .filter((name) => name !== 'thresholds')
      .map((name) => [variableOf(part, name), [part, name] as const] as const),
  ),
)

/** `positions`, `slideMs` → KM0_POSITIONS_SLIDE_MS. */
export function variableOf(part: string, name: string): string {
  return `KM0_${part}_${name.replace(/[A-Z]/g, (letter) => `_${letter}`)}`.toUpperCase()
}
