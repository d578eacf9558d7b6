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
})

export type BatchSettings = z.infer<typeof batchEnvironment>
