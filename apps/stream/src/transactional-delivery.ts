import type { Logger } from '@km0/runtime'
import {
  type Log,
  LogFencedError,
  LogUnavailableError,
  type OutRecord,
  type PartitionSlice,
  type TransactionalProducer,
  withHeartbeats,
} from '@km0/transport'
import { z } from 'zod'
import type { Checkpointer } from './checkpointer.ts'
import type { DeliveredTask, ResultDelivery, TakenPlace } from './result-delivery.ts'
import { settledPlace } from './settled-place.ts'

const RETRY_MS = 1_000

/** What stands beside a committed offset. */
const placeSchema = z.object({
  version: z.literal(1),
  /** Results of another epoch are not those of this one. */
  epoch: z.number().int(),
  /** Offset of the newest checkpoint that was stored before; null when there was none. */
  checkpoint: z.number().int().nullable(),
})
type Place = z.infer<typeof placeSchema>

export interface TransactionalDeliveryOptions {
  readonly log: Log
  readonly groupId: string
  /** Whose offsets are committed. */
  readonly topic: string
  readonly epoch: number
  readonly checkpointer: Checkpointer
  readonly logger: Logger
  /** Why nothing can be written at the moment; null when it can. */
  readonly onTrouble: (error: Error | null) => void
  /** Somebody else has taken a partition over. */
  readonly onFenced: () => void
}

interface Held {
  readonly producer: TransactionalProducer
  checkpoint: number | null
}

/**
 * Results of a slice, its mark, the place after it and where the newest checkpoint lies are one Kafka transaction: all or nothing. Each source
 * partition has a transactional id, opened before its place is read: whoever had it can write nothing more, and what it left is decided.
 * Checkpoints lag behind the place; the records between them are applied again after a restart, and what they lead to is in the log already.
 */
export class TransactionalDelivery implements ResultDelivery {
  readonly #options: TransactionalDeliveryOptions
  readonly #held = new Map<number, Held>()
  #stopping = false

  constructor(options: TransactionalDeliveryOptions) {
    this.#options = options
  }

  async takeOver(partition: number, firstOffset: number): Promise<TakenPlace> {
    for (;;) {
      try {
        return await this.#takeOver(partition, firstOffset)
      } catch (error) {
        if (!(error instanceof LogUnavailableError || error instanceof LogFencedError)) throw error
        this.#options.onTrouble(error)
        if (this.#stopping) throw error
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
  }

  async #takeOver(partition: number, firstOffset: number): Promise<TakenPlace> {
    const { log, groupId, topic, epoch, logger } = this.#options
    this.#release(partition)
    const producer = await log.openTransactionalProducer({ transactionalId: `${groupId}-${partition}` })
    const held: Held = { producer, checkpoint: null }
    this.#held.set(partition, held)
    const committed = await settledPlace(log, groupId, topic, partition)
    const place = decodePlace(committed?.metadata ?? null)
    if (committed === undefined || place === null || place.epoch !== epoch) {
      logger.info({ partition, committed: committed?.nextOffset ?? null, place }, 'nothing was written in transactions of this epoch')
      return { restoreAt: firstOffset, writtenBefore: 0, checkpoint: null }
    }
    held.checkpoint = place.checkpoint
    return { restoreAt: committed.nextOffset, writtenBefore: committed.nextOffset, checkpoint: place.checkpoint }
  }

  async deliver(task: DeliveredTask, slice: PartitionSlice, records: readonly OutRecord[]): Promise<boolean> {
    const { partition } = task
    const { checkpointer } = this.#options
    const held = this.#held.get(partition)
    if (held === undefined || slice.isStale()) return false
    try {
      // Before the transaction that points at it: one that nothing points at yet is as good as any other.
      if (checkpointer.isDue(partition)) await withHeartbeats(slice, this.#store(task, held))
      await withHeartbeats(slice, this.#write(task, held, records))
      this.#options.onTrouble(null)
      return true
    } catch (error) {
      this.#release(partition)
      return this.#givenUp(partition, error)
    }
  }

  async #store(task: DeliveredTask, held: Held): Promise<void> {
    await this.#options.checkpointer.store(task, async (offset) => {
      held.checkpoint = offset
    })
  }

  #write(task: DeliveredTask, { producer, checkpoint }: Held, records: readonly OutRecord[]): Promise<void> {
    const { groupId, topic, epoch } = this.#options
    const { partition, nextOffset } = task
    const place: Place = { version: 1, epoch, checkpoint }
    return producer.write([...records, task.mark()], { groupId, topic, partition, nextOffset, metadata: JSON.stringify(place) })
  }

  /** An error of the log is mended by taking over anew, and tells false; any other one, a rebalance among them, is thrown on. */
  #givenUp(partition: number, error: unknown): false {
    const { logger, onFenced, onTrouble } = this.#options
    if (error instanceof LogFencedError) {
      onFenced()
      logger.warn({ partition, err: error }, 'somebody else has taken this partition over')
      return false
    }
    if (!(error instanceof LogUnavailableError)) throw error
    onTrouble(error)
    return false
  }

  /** Marks are in the transactions. */
  async tellMarks(): Promise<void> {
    return
  }

  /** The group's own commit is not used: it would take away what stands beside the place. */
  async storeAll(tasks: Iterable<DeliveredTask>): Promise<void> {
    for (const task of tasks) {
      const held = this.#held.get(task.partition)
      if (held === undefined) continue
      await this.#store(task, held)
      await this.#write(task, held, [])
    }
  }

  #release(partition: number): void {
    const held = this.#held.get(partition)
    this.#held.delete(partition)
    held?.producer.close().catch(() => undefined)
  }

  drop(): void {
    for (const partition of [...this.#held.keys()]) this.#release(partition)
  }

  stopping(): void {
    this.#stopping = true
  }

  async close(): Promise<void> {
    const all = [...this.#held.values()]
    this.#held.clear()
    await Promise.allSettled(all.map(({ producer }) => producer.close()))
  }
}

/** null when the text is not a place of ours: the offset was committed in another way. */
function decodePlace(metadata: string | null): Place | null {
  if (metadata === null) return null
  try {
    return placeSchema.parse(JSON.parse(metadata))
  } catch {
    return null
  }
}
