import { TOPICS } from '@km0/contracts'
import type { Log, LogHole, OutRecord, PartitionSlice } from '@km0/transport'
import { Backpressure } from './backpressure.ts'
import type { PartitionsJob } from './checkpointed-role.ts'
import type { Checkpointer } from './checkpointer.ts'
import { HoleWatch } from './hole-watch.ts'
import { noteBatch } from './note-batch.ts'
import type { PartitionTask } from './partition-task.ts'
import { type PlatformClock, platformClock } from './platform-clock.ts'
import type { PositionsMetrics } from './positions-metrics.ts'
import type { ResultDelivery } from './result-delivery.ts'
import type { StreamProgram } from './role.ts'

export interface PositionsJobOptions {
  readonly program: StreamProgram
  readonly log: Log
  readonly delivery: ResultDelivery
  readonly checkpointer: Checkpointer
  readonly metrics: PositionsMetrics
  readonly newTask: (partition: number) => PartitionTask
}

interface Work {
  readonly task: PartitionTask
  /** Results of the records before this offset are in the log already. */
  readonly writtenBefore: number
}

/** All source partitions that this process has. */
export class PositionsJob implements PartitionsJob {
  readonly #options: PositionsJobOptions
  readonly #clock: PlatformClock
  readonly #backpressure = new Backpressure('the log')
  readonly #work = new Map<number, Work>()
  readonly #holes: HoleWatch
  /** Holes that the next results of their partition tell of. */
  readonly #untold = new Map<number, { readonly expectedOffset: number; readonly foundOffset: number; readonly fromMs: number }>()

  constructor(options: PositionsJobOptions) {
    const { program, metrics } = options
    this.#options = options
    this.#clock = platformClock(program.settings.KM0_CLOCK)
    this.#backpressure.register(program.metrics, 'km0_stream_backpressure_ratio', program.health, 'backpressure')
    this.#holes = new HoleWatch(program.log, (partition, records) => metrics.holes.inc({ partition }, records))
    program.health.register('log', () => this.#holes.health())
    metrics.beforeScrape(() => this.#refresh())
  }

  /** Takes a partition over. Returns the offset at which to go on: that of its checkpoint, or the log's start. */
  async start(partition: number, firstOffset: number): Promise<number> {
    const { program, log, delivery, checkpointer, metrics, newTask } = this.#options
    const task = newTask(partition)
    const { restoreAt, writtenBefore, checkpoint } = await delivery.takeOver(partition, firstOffset)
    const restored = await checkpointer.restore(task, restoreAt)
    const offset = restored ? task.nextOffset : ((await log.startOffsets(TOPICS.positions.name)).get(partition) ?? firstOffset)
    if (!restored) this.#holes.find(partition, 0, offset, null)
    if (checkpoint !== null && offset < checkpoint) {
      program.log.error({ partition, checkpoint, offset }, 'the checkpoint that the log points at is not there; an older state is taken')
    }
    metrics.restores.inc({ from: restored ? 'checkpoint' : 'log-start' })
    program.log.info({ partition, firstOffset, offset, restored, writtenBefore }, 'partition taken over')
    this.#work.set(partition, { task, writtenBefore })
    return offset
  }

  async onSlice(slice: PartitionSlice): Promise<boolean> {
    const { partition } = slice
    const work = this.#work.get(partition)
    if (work === undefined) return false
    const [first] = slice.records
    if (first !== undefined) this.#holes.hear(partition, first.timestampMs)
    try {
      if (await this.#applyTo(work, slice)) return true
      this.#work.delete(partition)
      return false
    } catch (error) {
      // The state may be ahead of what was written: it must never become a checkpoint.
      this.#work.delete(partition)
      throw error
    }
  }

  async #applyTo(work: Work, slice: PartitionSlice): Promise<boolean> {
    const { delivery, program } = this.#options
    const { task } = work
    const beganMs = Date.now()
    const results = this.#resultsOf(work, slice)
    const appliedMs = Date.now()
    const hole = this.#tellHole(task, slice)
    const records = results === null || hole === null ? results : [hole, ...results]
    for (const record of slice.records) this.#clock.hear(record.timestampMs)
    if (records !== null && !(await this.#backpressure.during(delivery.deliver(task, slice, records)))) return false
    if (program.tracer != null) {
      const steps = [
        { name: 'stream positions: windows', startMs: beganMs },
        { name: 'stream positions: results to Kafka', startMs: appliedMs },
      ]
      noteBatch(program.tracer, steps, slice)
    }
    this.#untold.delete(slice.partition)
    this.#observe(task, slice, records ?? [])
    return true
  }

  /** Applies the slice. Returns what is not written yet; null when all that it leads to is in the log already. */
  #resultsOf({ task, writtenBefore }: Work, { records, nextOffset }: PartitionSlice): readonly OutRecord[] | null {
    const { metrics } = this.#options
    const apply = (part: typeof records, upTo: number) => {
      const applied = task.apply(part, upTo)
      metrics.count(applied.outcomes)
      return applied.records
    }
    if (nextOffset <= writtenBefore) {
      apply(records, nextOffset)
      return null
    }
    const fresh = records.findIndex(({ offset }) => offset >= writtenBefore)
    if (fresh <= 0) return apply(records, nextOffset)
    apply(records.slice(0, fresh), writtenBefore)
    return apply(records.slice(fresh), nextOffset)
  }

  #observe(task: PartitionTask, slice: PartitionSlice, written: readonly OutRecord[]): void {
    const { partition } = task
    const { metrics } = this.#options
    const byTopic = new Map<string, number>()
    for (const { topic } of written) byTopic.set(topic, (byTopic.get(topic) ?? 0) + 1)
    for (const [topic, count] of byTopic) metrics.results.inc({ topic }, count)
    metrics.lagRecords.set({ partition }, Math.max(0, slice.endOffset - slice.nextOffset))
    metrics.keys.set({ partition }, task.keyCount)
    if (!Number.isFinite(task.progressMs)) return
    metrics.watermarkSeconds.set({ partition }, task.watermarkMs / 1000)
  }

  tellMarks(): Promise<void> {
    return this.#options.delivery.tellMarks()
  }

  /** What grows while nothing happens. */
  #refresh(): void {
    const { metrics, checkpointer } = this.#options
    const nowMs = this.#clock.nowMs()
    for (const [partition, { task }] of this.#work) {
      if (!Number.isFinite(task.progressMs)) continue
      metrics.lagSeconds.set({ partition }, (nowMs - task.progressMs) / 1000)
      metrics.watermarkLagSeconds.set({ partition }, (nowMs - task.watermarkMs) / 1000)
    }
    checkpointer.observeAges()
  }

  onHole({ partition, expectedOffset, foundOffset }: LogHole): void {
    const fromMs = this.#work.get(partition)?.task.progressMs ?? null
    this.#holes.find(partition, expectedOffset, foundOffset, fromMs)
    if (fromMs !== null && Number.isFinite(fromMs)) this.#untold.set(partition, { expectedOffset, foundOffset, fromMs })
  }

  /** The hole before this slice as a record of the late side output: whatever was in it, live results miss. */
  #tellHole(task: PartitionTask, { partition, records: [first] }: PartitionSlice): OutRecord | null {
    const hole = this.#untold.get(partition)
    if (hole === undefined || first === undefined) return null
    const { expectedOffset, foundOffset, fromMs } = hole
    return task.hole({
      motiu: 'forat',
      inici_ms: fromMs,
      data_ms: first.timestampMs,
      des_de_offset: expectedOffset,
      fins_offset: foundOffset,
    })
  }

  onDrop(): void {
    const { delivery, checkpointer, metrics } = this.#options
    this.#work.clear()
    this.#untold.clear()
    delivery.drop()
    metrics.lagSeconds.reset()
    metrics.watermarkLagSeconds.reset()
    metrics.keys.reset()
    checkpointer.drop()
  }

  /** The last checkpoint of an ordered stop. */
  async storeAll(commit: (partition: number, nextOffset: number) => Promise<void>): Promise<void> {
    const ahead = [...this.#work.values()].filter(({ task, writtenBefore }) => task.nextOffset >= writtenBefore)
    await this.#options.delivery.storeAll(
      ahead.map(({ task }) => task),
      commit,
    )
  }
}
