import { availableParallelism } from 'node:os'
import { lakeEnvironment } from '@km0/lake'
import { commonEnvironment } from '@km0/runtime'
import { z } from 'zod'

const positive = (fallback: number) => z.coerce.number().int().positive().default(fallback)

/** Settings of the worker processes, and of the program, which hands them on. */
export const workerEnvironment = commonEnvironment.extend(lakeEnvironment.shape).extend({
  /** Points that one piece of a backfill reads, about: its memory is some 150 bytes a point. */
  KM0_BATCH_PIECE_POINTS: positive(700_000),
  /** Versions of an hour that are kept, the newest ones, beside the served one. */
  KM0_BATCH_KEEP_VERSIONS: positive(5),
})

export const batchEnvironment = workerEnvironment.extend({
  /** Worker processes at a time; they are started when there is work. Default: one a core, at most 4. */
  KM0_BATCH_CONCURRENCY: z.coerce.number().int().min(1).max(64).default(Math.min(4, availableParallelism())),
  /** A worker process that has had no work for so long is ended. */
  KM0_BATCH_IDLE_MS: positive(30_000),
  /** Tries of a piece before its version has failed. */
  KM0_BATCH_ATTEMPTS: positive(5),
  /** A worker that has not renewed its lock for so long has lost its job to another one. */
  KM0_BATCH_LOCK_MS: z.coerce.number().int().min(1_000).default(15_000),
  /** How often the queue is compared with the versions that run, in case it has lost jobs. */
  KM0_BATCH_CHECK_MS: positive(5_000),
  /** When the night run begins, by the clock of Madrid; `off`: never. */
  KM0_NIGHTLY_AT: z
    .string()
    .regex(/^(([01]\d|2[0-3]):[0-5]\d|off)$/, 'is a time like 03:30, or off')
    .default('03:30'),
  /** How many past days are caught up, and are looked at for dirty hours. */
  KM0_NIGHTLY_DAYS: z.coerce.number().int().min(1).max(31).default(7),
  /** How often an open night is looked at. */
  KM0_NIGHTLY_CHECK_MS: positive(60_000),
  /** The lake must have passed the end of the day by so much event time, in every partition. */
  KM0_NIGHTLY_SETTLE_MS: positive(1_800_000),
  /** A night that is open so long after its time is an alarm. */
  KM0_NIGHTLY_ALARM_MS: positive(7_200_000),
  /** Share of the distance that may change without a person. */
  KM0_NIGHTLY_MAX_CHANGE: z.coerce.number().min(0).default(0.2),
  /** Share of the served windows that may be missing in a version that is published without a person. */
  KM0_NIGHTLY_MAX_MISSING: z.coerce.number().min(0).max(1).default(0.01),
  /** Nights that are held, have failed or are late are told here: POST of a JSON object. */
  KM0_WEBHOOK_URL: z.url().optional(),
})

export type BatchSettings = z.infer<typeof batchEnvironment>
