import { DEFAULT_POSITIONS_SETTINGS, type PositionsSettings, TOPICS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import {
  type Log,
  type LogHole,
  type LogProducer,
  LogUnavailableError,
  type OutRecord,
  type PartitionConsumer,
  type PartitionSlice,
} from '@km0/transport'
import { openCheckpoints, type PartitionsJob, requirePartitions, runPartitions } from './checkpointed-role.ts'
import { type Checkpointer, POSITIONS_PIPELINE } from './checkpointer.ts'
import { deliver, withHeartbeats } from './delivery.ts'
import { PartitionTask } from './partition-task.ts'
import { type PlatformClock, platformClock } from './platform-clock.ts'
import { type PositionsMetrics, positionsMetrics } from './positions-metrics.ts'
import { groupHealth, type Role, type StreamProgram } from './role.ts'

export const POSITIONS_GROUP = 'km0-positions'

/**
 * The windowing job: positions in, results for the panel, live points, late points, dead letters and marks out. The state of each
 * partition is stored at an offset, then that offset is committed; a restart goes on there, and what was written after it is written
 * again, equal.
 */
export async function startPositions(program: StreamProgram, log: Log): Promise<Role> {
  const { rules, version } = positionsRules(program)
  await requirePartitions(log, TOPICS.positions.name, [TOPICS.panel.name])
  const metrics = positionsMetrics(program.metrics)
  const { checkpointer, epoch } = await openCheckpoints(program, log, {
    pipeline: POSITIONS_PIPELINE,
    topic: TOPICS.positions.name,
    setting: 'positions.version',
    version,
    tryRestore: (snapshot, inEpoch) => new PartitionTask(0, inEpoch, createPositionsHost(rules), 0).restore(snapshot, 0),
    metrics,
  })
  const producer = await log.openProducer()
  const job = new PositionsJob(program, log, producer, checkpointer, metrics, epoch)
  const role = await runPartitions(program, log, { groupId: POSITIONS_GROUP, topic: TOPICS.positions.name, job, producer })
  job.registerHealth(role.consumer)
  return role
}

/** What the pipeline computes. Delay and allowed lateness are records of its log, so they are no part of what a stored state belongs to. */
function positionsRules({ pipelines }: StreamProgram): { readonly rules: PositionsSettings; readonly version: number } {
  const { version, ...positions } = pipelines.positions
  const { delayMs, allowedLatenessMs } = DEFAULT_POSITIONS_SETTINGS
  return { rules: { ...positions, delayMs, allowedLatenessMs }, version }
}

class PositionsJob implements PartitionsJob {
  readonly #program: StreamProgram
  readonly #log: Log
  readonly #producer: LogProducer
  readonly #checkpointer: Checkpointer
  readonly #metrics: PositionsMetrics
  readonly #epoch: number
  readonly #clock: PlatformClock
  readonly #tasks = new Map<number, PartitionTask>()
  /** Marks of slices that were written, not told yet. */
  readonly #marks = new Map<number, OutRecord>()
  #telling = false
  #trouble: string | null = null

  constructor(
    program: StreamProgram,
    log: Log,
    producer: LogProducer,
    checkpointer: Checkpointer,
    metrics: PositionsMetrics,
    epoch: number,
  ) {
    this.#program = program
    this.#log = log
    this.#producer = producer
    this.#checkpointer = checkpointer
    this.#metrics = metrics
    this.#epoch = epoch
    this.#clock = platformClock(program.settings.KM0_CLOCK)
    metrics.beforeScrape(() => this.#refresh())
  }

  registerHealth(consumer: PartitionConsumer): void {
    const { health } = this.#program
    health.register('group', () => groupHealth(consumer))
    health.register('results', () => (this.#trouble === null ? { status: 'ok' } : { status: 'down', detail: this.#trouble }))
    health.register('checkpoints', () => this.#checkpointer.health())
  }

  /** Takes a partition over. Returns the offset at which to go on: that of its checkpoint, or the log's start. */
  async start(partition: number, firstOffset: number): Promise<number> {
    const task = new PartitionTask(
      partition,
      this.#epoch,
      createPositionsHost(positionsRules(this.#program).rules, null, { coalesceLivePoints: true }),
      0,
      this.#program.settings.KM0_OUTAGE_AFTER_MS,
    )
    const restored = await this.#checkpointer.restore(task, firstOffset)
    const offset = restored ? task.nextOffset : ((await this.#log.startOffsets(TOPICS.positions.name)).get(partition) ?? firstOffset)
    this.#metrics.restores.inc({ from: restored ? 'checkpoint' : 'log-start' })
    this.#program.log.info({ partition, firstOffset, offset, restored }, 'partition taken over')
    this.#tasks.set(partition, task)
    return offset
  }

  async onSlice(slice: PartitionSlice): Promise<boolean> {
    const { partition } = slice
    const task = this.#tasks.get(partition)
    if (task === undefined) return false
    try {
      if (await this.#applyTo(task, slice)) return true
      this.#tasks.delete(partition)
      return false
    } catch (error) {
      // The state may be ahead of what was written: it must never become a checkpoint.
      this.#tasks.delete(partition)
      throw error
    }
  }

  async #applyTo(task: PartitionTask, slice: PartitionSlice): Promise<boolean> {
    const { partition } = slice
    const { records, outcomes } = task.apply(slice.records, slice.nextOffset)
    for (const record of slice.records) this.#clock.hear(record.timestampMs)
    if (!(await deliver(this.#producer, records, slice, (error) => this.#troubled(error)))) return false
    this.#trouble = null
    this.#marks.set(partition, task.mark())
    this.#observe(task, slice, records)
    this.#metrics.count(outcomes)
    if (this.#checkpointer.isDue(partition) && !slice.isStale()) {
      await withHeartbeats(slice, this.#checkpointer.store(task, slice.commit))
    }
    return true
  }

  /** Tells how far each partition has come, when it has moved since the last time. A mark never runs ahead of what was written. */
  async tellMarks(): Promise<void> {
    if (this.#telling || this.#marks.size === 0) return
    this.#telling = true
    const told = new Map(this.#marks)
    this.#marks.clear()
    try {
      await this.#producer.send([...told.values()])
      this.#metrics.results.inc({ topic: TOPICS.marks.name }, told.size)
    } catch (error) {
      if (!(error instanceof LogUnavailableError)) return this.#program.shutdown.fail(error)
      for (const [partition, mark] of told) if (!this.#marks.has(partition)) this.#marks.set(partition, mark)
    } finally {
      this.#telling = false
    }
  }

  #troubled(error: Error): void {
    if (this.#trouble === null) this.#program.log.warn({ err: error }, 'results cannot be written; they are tried again')
    this.#trouble = error.message
  }

  #observe(task: PartitionTask, slice: PartitionSlice, written: readonly OutRecord[]): void {
    const { partition } = task
    const metrics = this.#metrics
    const byTopic = new Map<string, number>()
    for (const { topic } of written) byTopic.set(topic, (byTopic.get(topic) ?? 0) + 1)
    for (const [topic, count] of byTopic) metrics.results.inc({ topic }, count)
    metrics.lagRecords.set({ partition }, Math.max(0, slice.endOffset - slice.nextOffset))
    if (!Number.isFinite(task.progressMs)) return
    metrics.watermarkSeconds.set({ partition }, task.watermarkMs / 1000)
  }

  /** What grows while nothing happens. */
  #refresh(): void {
    const nowMs = this.#clock.nowMs()
    for (const [partition, { progressMs }] of this.#tasks) {
      if (Number.isFinite(progressMs)) this.#metrics.lagSeconds.set({ partition }, (nowMs - progressMs) / 1000)
    }
    this.#checkpointer.observeAges()
  }

  onHole({ partition, expectedOffset, foundOffset }: LogHole): void {
    const records = foundOffset - expectedOffset
    this.#metrics.holes.inc({ partition }, records)
    this.#program.log.error(
      { partition, expectedOffset, foundOffset, records },
      'retention has deleted records before they were read: live results miss them; a backfill of the batch job fills what the lake holds',
    )
  }

  onDrop(): void {
    this.#tasks.clear()
    this.#marks.clear()
    this.#metrics.lagSeconds.reset()
    this.#checkpointer.drop()
  }

  /** The last checkpoint of an ordered stop. */
  async storeAll(commit: (partition: number, nextOffset: number) => Promise<void>): Promise<void> {
    for (const task of this.#tasks.values()) await this.#checkpointer.store(task, (offset) => commit(task.partition, offset))
  }
}
