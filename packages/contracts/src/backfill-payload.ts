import { z } from 'zod'
import { BACKFILL_HOUR_MS } from './backfill.ts'
import { isName } from './wire-json.ts'

/** Payloads of the queue of backfills, parsed where they leave it; and what a person may ask for. */

/** A version notes each hour of each van that it holds: of a longer range that alone takes minutes. */
const LONGEST_DAYS = 62
export const LONGEST_BACKFILL_MS = LONGEST_DAYS * 24 * BACKFILL_HOUR_MS

const hour = z
  .number()
  .int()
  .min(0)
  .refine((ms) => ms % BACKFILL_HOUR_MS === 0, 'must be a whole hour (UTC)')
const owner = z.string().refine(isName, 'is no name')

export const backfillRequest = z
  .strictObject({
    pipeline: z.enum(['positions', 'stock']),
    fromMs: hour,
    toMs: hour,
    owners: z.array(owner).min(1).max(10_000).nullable(),
  })
  .refine(({ fromMs, toMs }) => fromMs < toMs, { path: ['toMs'], message: 'must be after the beginning' })
  .refine(({ fromMs, toMs }) => toMs - fromMs <= LONGEST_BACKFILL_MS, {
    path: ['toMs'],
    message: `at most ${LONGEST_DAYS} days in one version: ask for it month by month, as \`km0 backfill run\` does by itself`,
  })

export const actor = z.strictObject({ id: z.string().min(1), name: z.string(), roles: z.array(z.string()) })

export const JOB_KINDS = {
  /** Says what a backfill would do; result BackfillPreview. */
  preview: 'preview',
  /** Freezes a backfill, cuts it and queues its pieces; result PlanResult. */
  plan: 'plan',
  /** Computes and stores one piece of a version. */
  piece: 'piece',
  /** Compares a version whose pieces are all there with what is served. */
  finish: 'finish',
  /** Points of a van as the lake has them; result LakeTrackPoint[]. */
  track: 'track',
} as const

export const previewPayload = z.strictObject({ request: backfillRequest })
export const planPayload = z.strictObject({ request: backfillRequest, actor, reason: z.string().max(1_000) })
export const piecePayload = z.strictObject({ version: z.number().int().positive(), piece: z.number().int().min(0) })
export const finishPayload = z.strictObject({ version: z.number().int().positive() })
export const trackPayload = z.strictObject({
  van: owner,
  fromMs: z.number().int(),
  toMs: z.number().int(),
  /** Version of the lake; absent: the newest. */
  snapshot: z.number().int().min(0).optional(),
})

export type PlanPayload = z.infer<typeof planPayload>
export type PiecePayload = z.infer<typeof piecePayload>

export const planResult = z.strictObject({
  version: z.number().int().positive(),
  /** False: this very backfill was there already. */
  isNew: z.boolean(),
})
export type PlanResult = z.infer<typeof planResult>
