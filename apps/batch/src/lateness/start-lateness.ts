import { type LakeEnvironment, measureLateness } from '@km0/lake'
import type { CommonEnvironment, Health, Logger } from '@km0/runtime'
import { openLatenessHours } from '@km0/serving'
import { z } from 'zod'
import { againAndAgain } from '../again-and-again.ts'
import { withLakeOrWhy } from '../lake-or-why.ts'
import { hoursToMeasure } from './hours-to-measure.ts'

/** Settings of the measuring of lateness. */
export const latenessEnvironment = z.object({
  /** How often the lateness of positions is measured over the lake; 0: never. */
  KM0_LATENESS_EVERY_MS: z.coerce.number().int().min(0).default(300_000),
})

const HOUR_MS = 3_600_000
const KEEP_HOURS = 25
const SETTLE_MS = 600_000

export interface LatenessProgram {
  readonly settings: CommonEnvironment & LakeEnvironment & z.infer<typeof latenessEnvironment>
  readonly log: Logger
  readonly health: Health
}

/**
 * Measures how late positions arrive, by hour, from what the lake holds: a pure function of the log, whoever was restarted meanwhile. The present
 * is the newest record that a mark tells, so it is right under the player's clock too. Returns what stops it.
 */
export function startLateness({ settings, log, health }: LatenessProgram): { close(): Promise<void> } {
  if (settings.KM0_LATENESS_EVERY_MS === 0) return { close: async () => undefined }
  const database = { databaseUrl: settings.DATABASE_URL, applicationName: 'km0-batch-lateness', maxConnections: 1 }
  const store = openLatenessHours(database)
  let trouble: string | null = null
  const measure = async () => {
    const nowMs = await store.newestRecordMs()
    if (nowMs === null) return
    const known = await store.read(nowMs - KEEP_HOURS * HOUR_MS)
    const span = hoursToMeasure(known, { nowMs, keepHours: KEEP_HOURS, settleMs: SETTLE_MS })
    const hours = await withLakeOrWhy(settings, async (lake) => (typeof lake === 'string' ? lake : measureLateness(lake, span)))
    trouble = typeof hours === 'string' ? hours : null
    if (typeof hours !== 'string') await store.write(hours, nowMs, nowMs - (KEEP_HOURS + 1) * HOUR_MS)
  }
  const loop = againAndAgain(async (isClosing) => {
    try {
      await measure()
    } catch (error) {
      if (!isClosing()) log.warn({ err: error }, 'lateness: later again')
    }
  }, settings.KM0_LATENESS_EVERY_MS)
  health.register('lateness', () => (trouble === null ? { status: 'ok' } : { status: 'ok', detail: `not measured: ${trouble}` }))
  return {
    close: async () => {
      await loop.close()
      await store.close()
    },
  }
}
