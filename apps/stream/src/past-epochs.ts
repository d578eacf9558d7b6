import type { CheckpointStore } from '@km0/checkpoints'
import type { Logger } from '@km0/runtime'

const LOOK_EVERY_MS = 3_600_000
const DAY_MS = 86_400_000

export interface PastEpochsOptions {
  readonly store: Pick<CheckpointStore, 'removePast'>
  readonly pipeline: string
  /** In which this process works: what is of an earlier one nobody reads. */
  readonly epoch: number
  /** So long after they were stored they stay, for who goes back to the version before. */
  readonly keptDays: number
  readonly log: Logger
}

/** Removes checkpoints of past epochs when their time is over, now and every hour. Returns what ends it. A store that is away is tried again then. */
export function clearPastEpochs({ store, pipeline, epoch, keptDays, log }: PastEpochsOptions): () => void {
  const look = async () => {
    try {
      const removed = await store.removePast(pipeline, epoch, Date.now() - keptDays * DAY_MS)
      if (removed > 0) log.info({ pipeline, epoch, keptDays, removed }, 'checkpoints of past epochs were removed')
    } catch (error) {
      log.warn({ err: error, pipeline }, 'checkpoints of past epochs could not be removed; it is tried again in an hour')
    }
  }
  void look()
  const timer = setInterval(() => void look(), LOOK_EVERY_MS)
  timer.unref()
  return () => clearInterval(timer)
}
