import type { CheckpointStore } from '@km0/checkpoints'
import { linesOf } from '@km0/pipelines'
import type { Logger, PartHealth } from '@km0/runtime'
import { inSteps } from './in-steps.ts'
import type { PositionsMetrics } from './positions-metrics.ts'

export const POSITIONS_PIPELINE = 'positions'

/** After a failure the next try comes sooner than the interval. */
const RETRY_MS = 5_000

/** State of one partition that can be stored and restored. */
export interface CheckpointedTask {
  readonly partition: number
  readonly nextOffset: number
  /** Asked for one by one; nothing is applied before the last one is taken. */
  snapshotLines(): Iterable<string>
  /** Takes a state over in short steps. Throws when it does not fit. */
  restoreLines(lines: Iterable<string>, nextOffset: number): Iterable<void>
}

/** Somebody has put another epoch in force while this process worked: what it would store or write is of before. */
export class OtherEpochError extends Error {
  override readonly name = 'OtherEpochError'
}

export interface CheckpointerOptions {
  /** Under which the checkpoints are kept. */
  readonly pipeline: string
  readonly store: CheckpointStore
  readonly epoch: number
  /** The epoch of this pipeline as it stands in the store now. */
  readonly epochInForce: () => Promise<number>
  readonly intervalMs: number
  /** How many checkpoints of a partition the store keeps. */
  readonly keep: number
  /** Where they lie, for people. */
  readonly detail: string
  readonly metrics: Pick<
    PositionsMetrics,
    | 'checkpointIntervalSeconds'
    | 'checkpointsKept'
    | 'checkpointBytes'
    | 'checkpointAgeSeconds'
    | 'checkpointSeconds'
    | 'checkpointFailures'
    | 'damagedCheckpoints'
  >
  readonly log: Logger
}

/** Decides when a partition's state is stored, and finds it again. The machine's clock rules it, in play mode too. */
export class Checkpointer {
  readonly #options: CheckpointerOptions
  /** Partition -> machine time of its newest checkpoint, or of taking it over. */
  readonly #storedAtMs = new Map<number, number>()
  readonly #dueAtMs = new Map<number, number>()
  #failure: string | null = null

  constructor(options: CheckpointerOptions) {
    this.#options = options
    options.metrics.checkpointIntervalSeconds.set(options.intervalMs / 1000)
    options.metrics.checkpointsKept.set(options.keep)
  }

  /** Degraded while the last checkpoint failed; always says where they lie. */
  health(): PartHealth {
    const { detail } = this.#options
    return this.#failure === null ? { status: 'ok', detail } : { status: 'degraded', detail: `${this.#failure} (${detail})` }
  }

  /**
   * Restores a task from the newest checkpoint at or below `firstOffset`. False when there is none: the task stays as new. Throws
   * OtherEpochError when another epoch is in force by now.
   */
  async restore(task: CheckpointedTask, firstOffset: number): Promise<boolean> {
    const { pipeline, store, epoch, metrics, log } = this.#options
    await this.#requireEpoch()
    const { partition } = task
    const { checkpoint, damaged } = await store.newestAtOrBelow(pipeline, epoch, partition, firstOffset)
    for (const { entry, reason } of damaged) {
      metrics.damagedCheckpoints.inc()
      log.error({ partition, offset: entry.offset, reason }, 'a checkpoint is damaged; the one before it is taken')
    }
    this.#taken(partition)
    if (checkpoint === null) return false
    await inSteps(task.restoreLines(linesOf(checkpoint.snapshot), checkpoint.offset))
    return true
  }

  isDue(partition: number): boolean {
    return Date.now() >= (this.#dueAtMs.get(partition) ?? 0)
  }

  /**
   * Stores the state, then commits its offset, so that a committed offset always has its checkpoint. A store that fails is counted and
   * tried again soon; nothing is committed then. Errors of `commit` pass through. Throws OtherEpochError when another epoch is in force by
   * now: this process stood still while somebody restored a savepoint.
   */
  async store(task: CheckpointedTask, commit: (nextOffset: number) => Promise<void>): Promise<void> {
    const { pipeline, store, epoch, metrics, log } = this.#options
    const { partition, nextOffset } = task
    const done = metrics.checkpointSeconds.startTimer()
    try {
      await this.#requireEpoch()
      const bytes = await store.put({ pipeline, partition, offset: nextOffset, epoch, lines: task.snapshotLines() })
      metrics.checkpointBytes.set({ partition }, bytes)
    } catch (error) {
      if (error instanceof OtherEpochError) throw error
      this.#failure = error instanceof Error ? error.message : String(error)
      metrics.checkpointFailures.inc()
      log.error({ err: error, partition, offset: nextOffset }, 'a checkpoint could not be stored; it is tried again')
      this.#dueAtMs.set(partition, Date.now() + RETRY_MS)
      return
    }
    this.#failure = null
    await commit(nextOffset)
    done()
    this.#taken(partition)
  }

  async #requireEpoch(): Promise<void> {
    const { pipeline, epoch, epochInForce } = this.#options
    const inForce = await epochInForce()
    if (inForce !== epoch)
      throw new OtherEpochError(`${pipeline} works in epoch ${epoch}, but ${inForce} is in force: it has to start again`)
  }

  #taken(partition: number): void {
    this.#storedAtMs.set(partition, Date.now())
    this.#dueAtMs.set(partition, Date.now() + this.#options.intervalMs)
  }

  /** All partitions are gone. */
  drop(): void {
    this.#storedAtMs.clear()
    this.#dueAtMs.clear()
    this.#options.metrics.checkpointAgeSeconds.reset()
  }

  /** Refreshes the ages for a scrape. */
  observeAges(): void {
    for (const [partition, storedAtMs] of this.#storedAtMs) {
      this.#options.metrics.checkpointAgeSeconds.set({ partition }, (Date.now() - storedAtMs) / 1000)
    }
  }
}
