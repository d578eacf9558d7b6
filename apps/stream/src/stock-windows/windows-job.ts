import { TOPICS } from '@km0/contracts'
import { type Log, type LogProducer, LogUnavailableError, type OutRecord, type PartitionSlice } from '@km0/transport'
import type { PartitionsJob } from '../checkpointed-role.ts'
import type { Checkpointer } from '../checkpointer.ts'
import { deliver, withHeartbeats } from '../delivery.ts'
import type { StreamProgram } from '../role.ts'
import type { WindowsMetrics } from './windows-metrics.ts'
import type { WindowsPartition, WindowsSlice } from './windows-partition.ts'

export interface WindowsJobOptions {
  readonly program: StreamProgram
  readonly log: Log
  readonly producer: LogProducer
  readonly checkpointer: Checkpointer
  readonly metrics: WindowsMetrics
  readonly newPartition: (partition: number) => WindowsPartition
}

/** All partitions of the shuffle's topic that this process has. */
export class WindowsJob implements PartitionsJob {
  readonly #options: WindowsJobOptions
  readonly #partitions = new Map<number, WindowsPartition>()
  /** Marks of slices that were written, not told yet. */
  readonly #marks = new Map<number, OutRecord>()
  #telling = false
  #trouble: string | null = null

  constructor(options: WindowsJobOptions) {
    const { program, checkpointer } = options
    this.#options = options
    program.health.register('results', () => (this.#trouble === null ? { status: 'ok' } : { status: 'down', detail: this.#trouble }))
    program.health.register('checkpoints', () => checkpointer.health())
  }

  /** Takes a partition over. Returns the offset at which to go on: that of its checkpoint, or the log's start. */
  async start(partition: number, firstOffset: number): Promise<number> {
    const { program, log, checkpointer, metrics, newPartition } = this.#options
    const task = newPartition(partition)
    const restored = await checkpointer.restore(task, firstOffset)
    const logStart = (await log.startOffsets(TOPICS.stockShuffled.name)).get(partition) ?? firstOffset
    const offset = restored ? Math.max(task.nextOffset, logStart) : logStart
    if (restored && task.nextOffset < logStart) {
      metrics.holes.inc({ partition }, logStart - task.nextOffset)
      program.log.error({ partition, expected: task.nextOffset, logStart }, 'retention has deleted shuffled records before they were read')
    }
    metrics.restores.inc({ from: restored ? 'checkpoint' : 'log-start' })
    program.log.info({ partition, firstOffset, offset, restored }, 'partition taken over')
    this.#partitions.set(partition, task)
    return offset
  }

  async onSlice(slice: PartitionSlice): Promise<boolean> {
    const { partition } = slice
    const task = this.#partitions.get(partition)
    if (task === undefined) return false
    try {
      if (await this.#applyTo(task, slice)) return true
      this.#partitions.delete(partition)
      return false
    } catch (error) {
      // The state may be ahead of what was written: it must never become a checkpoint.
      this.#partitions.delete(partition)
      throw error
    }
  }

  async #applyTo(task: WindowsPartition, slice: PartitionSlice): Promise<boolean> {
    const { producer, checkpointer, metrics } = this.#options
    const applied = task.apply(slice.records, slice.nextOffset)
    if (!(await deliver(producer, applied.records, slice, (error) => this.#troubled(error)))) return false
    this.#trouble = null
    this.#marks.set(task.partition, task.mark())
    this.#observe(task, slice, applied)
    if (checkpointer.isDue(task.partition) && !slice.isStale()) {
      await withHeartbeats(slice, checkpointer.store(task, slice.commit))
      metrics.openEpisodes.set({ partition: task.partition }, task.openEpisodes)
    }
    return true
  }

  #observe(task: WindowsPartition, slice: PartitionSlice, { records, flags, foreign }: WindowsSlice): void {
    const { program, checkpointer, metrics } = this.#options
    const { partition } = task
    for (const { topic } of records) metrics.results.inc({ topic })
    metrics.count(flags)
    metrics.lagRecords.set({ partition }, Math.max(0, slice.endOffset - slice.nextOffset))
    if (Number.isFinite(task.watermarkMs)) metrics.watermarkSeconds.set({ partition }, task.watermarkMs / 1000)
    metrics.openEpisodes.set({ partition }, task.openEpisodes)
    checkpointer.observeAges()
    if (foreign === 0) return
    metrics.foreign.inc(foreign)
    program.log.error({ partition, records: foreign }, `somebody but the shuffle writes to ${TOPICS.stockShuffled.name}: passed over`)
  }

  #troubled(error: Error): void {
    if (this.#trouble === null) this.#options.program.log.warn({ err: error }, 'results cannot be written; they are tried again')
    this.#trouble = error.message
  }

  /** Tells how far each partition is. While the log is away nothing is told. */
  async tellMarks(): Promise<void> {
    if (this.#telling || this.#marks.size === 0 || this.#trouble !== null) return
    this.#telling = true
    const marks = [...this.#marks.values()]
    this.#marks.clear()
    try {
      await this.#options.producer.send(marks)
    } catch (error) {
      // The next slices bring newer ones.
      if (!(error instanceof LogUnavailableError)) this.#options.program.shutdown.fail(error)
    } finally {
      this.#telling = false
    }
  }

  onDrop(): void {
    this.#partitions.clear()
    this.#marks.clear()
    this.#options.checkpointer.drop()
    for (const gauge of ['lagRecords', 'watermarkSeconds', 'openEpisodes'] as const) this.#options.metrics[gauge].reset()
  }

  /** The last checkpoint of an ordered stop. */
  async storeAll(commit: (partition: number, nextOffset: number) => Promise<void>): Promise<void> {
    const { checkpointer } = this.#options
    for (const task of this.#partitions.values()) await checkpointer.store(task, (offset) => commit(task.partition, offset))
  }
}
