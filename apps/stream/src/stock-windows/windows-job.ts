import { TOPICS } from '@km0/contracts'
import type { Log, PartitionSlice } from '@km0/transport'
import { Backpressure } from '../backpressure.ts'
import type { PartitionsJob } from '../checkpointed-role.ts'
import type { Checkpointer } from '../checkpointer.ts'
import type { ResultDelivery } from '../result-delivery.ts'
import type { StreamProgram } from '../role.ts'
import type { WindowsMetrics } from './windows-metrics.ts'
import type { WindowsPartition, WindowsSlice } from './windows-partition.ts'

export interface WindowsJobOptions {
  readonly program: StreamProgram
  readonly log: Log
  readonly delivery: ResultDelivery
  readonly checkpointer: Checkpointer
  readonly metrics: WindowsMetrics
  readonly newPartition: (partition: number) => WindowsPartition
}

/** All partitions of the shuffle's topic that this process has. */
export class WindowsJob implements PartitionsJob {
  readonly #options: WindowsJobOptions
  readonly #partitions = new Map<number, WindowsPartition>()
  readonly #backpressure = new Backpressure('the log')

  constructor(options: WindowsJobOptions) {
    const { program, checkpointer } = options
    this.#options = options
    program.health.register('checkpoints', () => checkpointer.health())
    this.#backpressure.register(program.metrics, 'km0_stock_windows_backpressure_ratio', program.health, 'backpressure')
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
    const applied = task.apply(slice.records, slice.nextOffset)
    if (!(await this.#backpressure.during(this.#options.delivery.deliver(task, slice, applied.records)))) return false
    this.#observe(task, slice, applied)
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

  tellMarks(): Promise<void> {
    return this.#options.delivery.tellMarks()
  }

  onDrop(): void {
    this.#partitions.clear()
    this.#options.delivery.drop()
    this.#options.checkpointer.drop()
    for (const gauge of ['lagRecords', 'watermarkSeconds', 'openEpisodes'] as const) this.#options.metrics[gauge].reset()
  }

  /** The last checkpoint of an ordered stop. */
  async storeAll(commit: (partition: number, nextOffset: number) => Promise<void>): Promise<void> {
    await this.#options.delivery.storeAll(this.#partitions.values(), commit)
  }
}
