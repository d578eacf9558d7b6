import { join } from 'node:path'
import { checkpointEnvironment, type ObjectStore, openObjects } from '@km0/checkpoints'
import { commonEnvironment, diskEnvironment } from '@km0/runtime'
import { silenceStepsEnvironment } from '@km0/runtime/silence-steps'
import { retentionEnvironment } from '@km0/serving'
import { z } from 'zod'

const positive = (fallback: number) => z.coerce.number().int().positive().default(fallback)

/** Settings of apps/stream beside the common ones. */
export const streamEnvironment = commonEnvironment.extend({
  // Where checkpoints lie. Default: `checkpoints` in KM0_DATA_DIR.
  ...checkpointEnvironment.shape,
  ...diskEnvironment.shape,
  ...silenceStepsEnvironment,
  KM0_CHECKPOINT_INTERVAL_MS: positive(30_000),
  /** Checkpoints of a partition that are kept. */
  KM0_CHECKPOINT_KEEP: z.coerce.number().int().min(2).default(5),
  /** Checkpoints of an epoch that is no longer in force stay for so long after they were stored. */
  KM0_CHECKPOINT_PAST_DAYS: positive(30),
  /** How results of positions get into the log: written again, equal, after a crash, or in transactions, once. */
  KM0_DELIVERY: z.enum(['idempotent', 'transactional']).default('idempotent'),
  /** Records that are handled between two heartbeats to the group. */
  KM0_STREAM_SLICE_RECORDS: positive(10_000),
  KM0_STREAM_SESSION_TIMEOUT_MS: positive(6_000),
  /** A source partition of stock that was read to its end and has been silent for so long gets a heartbeat. */
  KM0_STOCK_IDLE_MS: positive(10_000),
  /** How soon partitions that were added to the source of stock are noticed. */
  KM0_STOCK_TOPIC_CHECK_MS: positive(10_000),
  // Days that are over are dropped by who writes them, too.
  ...retentionEnvironment.pick({ KM0_RESULT_RETENTION_DAYS: true, KM0_TRACK_RETENTION_DAYS: true }).shape,
})

export type StreamSettings = z.infer<typeof streamEnvironment>

/** Where checkpoints lie. Throws CheckpointSettingsError when the settings contradict each other. */
export function checkpointObjects(settings: StreamSettings): ObjectStore {
  return openObjects(settings, join(settings.KM0_DATA_DIR, 'checkpoints'))
}
