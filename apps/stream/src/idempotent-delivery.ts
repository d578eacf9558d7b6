import { type LogProducer, LogUnavailableError, type OutRecord, type PartitionSlice, withHeartbeats } from '@km0/transport'
import type { Checkpointer } from './checkpointer.ts'
import { deliver } from './delivery.ts'
import type { DeliveredTask, ResultDelivery, TakenPlace } from './result-delivery.ts'

export interface IdempotentDeliveryOptions {
  readonly producer: LogProducer
  readonly checkpointer: Checkpointer
  /** Why nothing can be written at the moment; null when it can. */
  readonly onTrouble: (error: Error | null) => void
  /** An error that is not of a log that is away. */
  readonly onFatal: (error: unknown) => void
}

/**
 * Results are written at once; the place is committed when its checkpoint is stored. What was written after the last checkpoint is written
 * again after a crash, equal: each reader moves by (epoch, offset), and nothing changes.
 */
export class IdempotentDelivery implements ResultDelivery {
  readonly #options: IdempotentDeliveryOptions
  /** Marks of slices that were written, not told yet. */
  readonly #marks = new Map<number, OutRecord>()
  #telling = false
  #away = false

  constructor(options: IdempotentDeliveryOptions) {
    this.#options = options
  }

  async takeOver(_partition: number, firstOffset: number): Promise<TakenPlace> {
    return { restoreAt: firstOffset, writtenBefore: 0, checkpoint: null }
  }

  async deliver(task: DeliveredTask, slice: PartitionSlice, records: readonly OutRecord[]): Promise<boolean> {
    const { producer, checkpointer } = this.#options
    if (!(await deliver(producer, records, slice, (error) => this.#trouble(error)))) return false
    this.#trouble(null)
    this.#marks.set(task.partition, task.mark())
    if (checkpointer.isDue(task.partition) && !slice.isStale()) await withHeartbeats(slice, checkpointer.store(task, slice.commit))
    return true
  }

  #trouble(error: Error | null): void {
    this.#away = error !== null
    this.#options.onTrouble(error)
  }

  /** A mark never runs ahead of what was written. None while a slice is being repeated: the broker drops twins of what was sent last only. */
  async tellMarks(): Promise<void> {
    if (this.#telling || this.#marks.size === 0 || this.#away) return
    this.#telling = true
    const told = new Map(this.#marks)
    this.#marks.clear()
    try {
      await this.#options.producer.send([...told.values()])
    } catch (error) {
      if (!(error instanceof LogUnavailableError)) return this.#options.onFatal(error)
      for (const [partition, mark] of told) if (!this.#marks.has(partition)) this.#marks.set(partition, mark)
    } finally {
      this.#telling = false
    }
  }

  async storeAll(tasks: Iterable<DeliveredTask>, commit: (partition: number, nextOffset: number) => Promise<void>): Promise<void> {
    for (const task of tasks) await this.#options.checkpointer.store(task, (offset) => commit(task.partition, offset))
  }

  drop(): void {
    this.#marks.clear()
  }

  stopping(): void {
    // Slices hear it from the consumer.
  }

  close(): Promise<void> {
    return this.#options.producer.close()
  }
}
