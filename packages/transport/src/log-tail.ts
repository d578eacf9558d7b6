import { randomUUID } from 'node:crypto'
import type { Admin, Consumer, EachBatchPayload, Kafka } from 'kafkajs'
import { typedError } from './log-errors.ts'
import { type LogRecord, toLogRecord, toOffset } from './log-record.ts'

export interface TailOptions {
  readonly topic: string
  /**
   * Next offset of each partition; a partition that is not named begins at the log's start. So does one whose log ends before its offset:
   * it is another log, and nothing of it is known.
   */
  readonly from: 'start' | 'end' | ReadonlyMap<number, number>
  /** A partition ends before its offset in `from`, and is read from its start. */
  readonly onOtherLog?: (partition: number, wantedOffset: number, endOffset: number) => void
  /** Records of one partition, in order, never none. The next batch waits until it resolves. An error ends the reader. */
  readonly onBatch: (records: readonly LogRecord[], partition: number) => Promise<void> | void
  /** Called once, when everything that the topic held at the start has been read. */
  readonly onCaughtUp?: () => void
  /** The log is away; the reader goes on trying. Called at each attempt that fails. */
  readonly onTrouble?: (error: Error) => void
  /** `onBatch` threw: the reader has stopped. */
  readonly onError?: (error: Error) => void
  readonly signal?: AbortSignal
  /** A fetch waits until there is so much, at most `maxWaitMs`. Default: anything, 250 ms. */
  readonly minBytes?: number
  readonly maxWaitMs?: number
}

export interface TailHandle {
  /** Next offset to read of each partition. */
  nextOffsets(): ReadonlyMap<number, number>
  close(): Promise<void>
}

export interface LogClient {
  readonly kafka: Kafka
  readonly clientId: string
  withAdmin<T>(use: (admin: Admin) => Promise<T>): Promise<T>
}

const RETRY_MS = 1_000
const CLOSE_MS = 3_000

/**
 * Reads a topic without a place of its own in the log: every reader sees everything from where it says. It keeps its offsets itself,
 * so a lost session or a restarted broker neither skips nor repeats. Its group has a random name, commits nothing, and is deleted at
 * the end. Rejects with LogUnavailableError when the log cannot be reached at the start.
 */
export async function tailTopic(client: LogClient, options: TailOptions): Promise<TailHandle> {
  const bounds = await client.withAdmin((admin) => admin.fetchTopicOffsets(options.topic))
  const next = new Map<number, number>()
  const goal = new Map<number, number>()
  for (const { partition, low, high } of bounds) {
    const first = toOffset(low)
    const end = toOffset(high)
    let wanted = options.from === 'start' ? first : options.from === 'end' ? end : (options.from.get(partition) ?? first)
    if (wanted > end) {
      options.onOtherLog?.(partition, wanted, end)
      wanted = first
    }
    next.set(partition, wanted)
    if (wanted < end && first < end) goal.set(partition, end)
  }
  const tail = new Tail(client, options, next, goal)
  await tail.start()
  return tail
}

class Tail implements TailHandle {
  readonly #client: LogClient
  readonly #options: TailOptions
  readonly #next: Map<number, number>
  /** End of each partition at the start, until it is reached. */
  readonly #goal: Map<number, number>
  readonly #groupId: string
  #consumer: Consumer | undefined
  #retry: NodeJS.Timeout | undefined
  #caughtUp = false
  #closed: Promise<void> | undefined

  constructor(client: LogClient, options: TailOptions, next: Map<number, number>, goal: Map<number, number>) {
    this.#client = client
    this.#options = options
    this.#next = next
    this.#goal = goal
    this.#groupId = `${client.clientId}-lector-${randomUUID()}`
  }

  nextOffsets(): ReadonlyMap<number, number> {
    return this.#next
  }

  async start(): Promise<void> {
    this.#options.signal?.addEventListener('abort', () => void this.close(), { once: true })
    if (this.#options.signal?.aborted === true) return
    await this.#connect()
    this.#reached()
  }

  async #connect(): Promise<void> {
    const consumer = this.#client.kafka.consumer({
      groupId: this.#groupId,
      sessionTimeout: 30_000,
      heartbeatInterval: 3_000,
      rebalanceTimeout: 15_000,
      minBytes: this.#options.minBytes ?? 1,
      maxWaitTimeInMs: this.#options.maxWaitMs ?? 250,
      metadataMaxAge: 30_000,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 5 },
    })
    this.#consumer = consumer
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      if (this.#consumer !== consumer) return
      if (payload.restart) this.#options.onTrouble?.(typedError(payload.error))
      else this.#again(typedError(payload.error))
    })
    // Batches of control records alone never reach eachBatch, but move the offset.
    consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => {
      const offset = toOffset(payload.lastOffset) + 1
      if (offset > (this.#next.get(payload.partition) ?? 0) && payload.batchSize === 0) this.#advance(payload.partition, offset)
    })
    try {
      await consumer.connect()
      await consumer.subscribe({ topics: [this.#options.topic], fromBeginning: true })
      await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: (payload) => this.#take(consumer, payload) })
    } catch (error) {
      this.#consumer = undefined
      await consumer.disconnect().catch(() => undefined)
      throw typedError(error)
    }
  }

  async #take(consumer: Consumer, { batch, resolveOffset, heartbeat }: EachBatchPayload): Promise<void> {
    if (this.#closed !== undefined) return
    const { partition } = batch
    const next = this.#next.get(partition) ?? 0
    // The group starts at the log's start each time it is joined: everything before `next` is passed over.
    if (toOffset(batch.lastOffset()) < next) {
      consumer.seek({ topic: this.#options.topic, partition, offset: String(next) })
      return
    }
    const records = batch.messages.map((message) => toLogRecord(partition, message)).filter((record) => record.offset >= next)
    const last = batch.messages.at(-1)
    try {
      if (records.length > 0) await this.#options.onBatch(records, partition)
    } catch (error) {
      void this.close()
      this.#options.onError?.(error instanceof Error ? error : new Error(String(error)))
      return
    }
    if (last !== undefined) resolveOffset(last.offset)
    this.#advance(partition, toOffset(batch.lastOffset()) + 1)
    await heartbeat()
  }

  #advance(partition: number, offset: number): void {
    this.#next.set(partition, offset)
    const goal = this.#goal.get(partition)
    if (goal === undefined || offset < goal) return
    this.#goal.delete(partition)
    this.#reached()
  }

  #reached(): void {
    if (this.#caughtUp || this.#goal.size > 0 || this.#closed !== undefined) return
    this.#caughtUp = true
    this.#options.onCaughtUp?.()
  }

  #again(error: Error): void {
    this.#consumer = undefined
    if (this.#closed !== undefined) return
    this.#options.onTrouble?.(error)
    this.#retry = setTimeout(() => {
      this.#connect().catch((failure: unknown) => this.#again(typedError(failure)))
    }, RETRY_MS)
  }

  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  async #end(): Promise<void> {
    clearTimeout(this.#retry)
    const consumer = this.#consumer
    this.#consumer = undefined
    if (consumer === undefined) return
    const ended = consumer
      .disconnect()
      .then(() => this.#client.withAdmin((admin) => admin.deleteGroups([this.#groupId])))
      // An empty group without offsets is removed by the broker too, later.
      .catch(() => undefined)
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, CLOSE_MS).unref())])
  }
}
