import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs'
import { isKafkaError, typedError } from './log-errors.ts'
import { type LogRecord, toLogRecord, toOffset } from './log-record.ts'
import { withHeartbeats } from './membership.ts'

/** A stretch of one partition's log, never empty. */
export interface PartitionSlice {
  readonly topic: string
  readonly partition: number
  readonly records: readonly LogRecord[]
  /** Offset from which the log goes on after these records. */
  readonly nextOffset: number
  /** End of the partition when the records were fetched. */
  readonly endOffset: number
  /** The partition may belong to somebody else by now: write nothing more. */
  isStale(): boolean
  /** The consumer stops: finish this slice, or give up what cannot be finished soon. */
  isStopping(): boolean
  /** Keeps the membership while something takes long. Throws when the group is rebalancing: let it pass through. */
  heartbeat(): Promise<void>
  /** Commits the offset from which the next owner goes on. Throws when the partition is no longer ours: let it pass through. */
  commit(nextOffset: number): Promise<void>
}

/** Records that should have been there are gone, mostly because retention has deleted them. */
export interface LogHole {
  readonly topic: string
  readonly partition: number
  readonly expectedOffset: number
  readonly foundOffset: number
}

export interface PartitionConsumerOptions {
  readonly groupId: string
  readonly topics: readonly string[]
  /**
   * First batch of a partition since it was assigned: restore its state and return the offset at which to go on. `firstOffset` is that
   * of the first record at hand: the committed one, or the log's start. Going on below is fine while the log still has it.
   */
  readonly onStart: (topic: string, partition: number, firstOffset: number) => Promise<number>
  /**
   * One slice at a time over all partitions. Resolves true when it is applied; false gives the partition up: its state is forgotten, and
   * `onStart` is asked again. An error that is not Kafka's ends the consumer.
   */
  readonly onSlice: (slice: PartitionSlice) => Promise<boolean>
  /** Synchronous, at every rebalance: all partitions are gone, forget their state. */
  readonly onDrop: () => void
  /** Topics with compaction or transactions have gaps by nature: leave it out for them. */
  readonly onHole?: (hole: LogHole) => void
  /** The consumer has stopped for good: end the process, so that its supervisor starts it again. */
  readonly onFatal: (error: Error) => void
  /** Records of a slice at most, so that heartbeats are in time. Default 5,000. */
  readonly maxSliceRecords?: number
  readonly sessionTimeoutMs?: number
  readonly heartbeatIntervalMs?: number
  /** How long a fetch waits for a first record; also how long a stop may take. */
  readonly maxWaitMs?: number
  readonly maxBytesPerPartition?: number
  /** A fetch waits, `maxWaitMs` at most, until there is so much: fewer and larger slices. Default 1. */
  readonly minBytes?: number
  /** How soon partitions that were added to a topic are noticed. Default 30 s. */
  readonly metadataMaxAgeMs?: number
  /** The log goes on at `nextOffset` without a record to show: control records, aborted transactions. */
  readonly onSkipped?: (topic: string, partition: number, nextOffset: number) => void
}

export interface PartitionConsumer {
  /** Partitions that are ours now, by topic; null while the group is being joined. */
  assignment(): ReadonlyMap<string, readonly number[]> | null
  /** Machine time since when `assignment` is as it is. */
  assignmentSinceMs(): number
  /** Machine time of the group's last answer to a heartbeat, which come every `heartbeatIntervalMs` while the log is there. */
  lastContactMs(): number
  /**
   * Ordered stop: waits for the slice in work, calls `beforeLeave` while the partitions are still ours (`commit` works), then leaves.
   */
  stop(beforeLeave?: (commit: (topic: string, partition: number, nextOffset: number) => Promise<void>) => Promise<void>): Promise<void>
}

const IDLE_WHILE_STOPPING_MS = 50
const SESSION_TIMEOUT_MS = 6_000

/** Joins a group and consumes what it is given. Rejects when the log cannot be reached. */
export async function consumePartitions(kafka: Kafka, options: PartitionConsumerOptions): Promise<PartitionConsumer> {
  const consumer = new CheckpointedConsumer(kafka, options)
  await consumer.start()
  return consumer
}

/**
 * How kafkajs is used, and why. It announces a new assignment without waiting for whoever listens, so state is restored inside the first
 * batch of a partition, and a batch that does not begin where the state ends is dropped with a seek. Offsets are resolved slice by slice;
 * nothing is committed but by `commit`, which carries the generation of the group: a member that lost its partitions cannot move them.
 * A batch in work when the group rebalances sees a generation number that is no longer its own.
 */
class CheckpointedConsumer implements PartitionConsumer {
  readonly #options: PartitionConsumerOptions
  readonly #consumer: Consumer
  /** `topic/partition` -> offset expected next. Empty after each rebalance. */
  readonly #expected = new Map<string, number>()
  #generation = 0
  #assignment: ReadonlyMap<string, readonly number[]> | null = null
  #assignmentSinceMs = Date.now()
  #lastContactMs = Date.now()
  #inWork: Promise<unknown> = Promise.resolve()
  #stopping = false
  #failed = false

  constructor(kafka: Kafka, options: PartitionConsumerOptions) {
    this.#options = options
    this.#consumer = kafka.consumer({
      groupId: options.groupId,
      sessionTimeout: options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS,
      heartbeatInterval: options.heartbeatIntervalMs ?? 1_500,
      rebalanceTimeout: 10_000,
      maxWaitTimeInMs: options.maxWaitMs ?? 250,
      maxBytesPerPartition: options.maxBytesPerPartition ?? 1_048_576,
      minBytes: options.minBytes ?? 1,
      metadataMaxAge: options.metadataMaxAgeMs ?? 30_000,
      allowAutoTopicCreation: false,
      retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 10 },
    })
    const { events } = this.#consumer
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => this.#drop(new Map(Object.entries(payload.memberAssignment))))
    this.#consumer.on(events.HEARTBEAT, () => {
      this.#lastContactMs = Date.now()
    })
    this.#consumer.on(events.REBALANCING, () => this.#drop(null))
    // Batches without a record to show never reach eachBatch, but move the offset.
    this.#consumer.on(events.END_BATCH_PROCESS, ({ payload: { topic, partition, batchSize, lastOffset } }) => {
      if (batchSize === 0) this.#options.onSkipped?.(topic, partition, toOffset(lastOffset) + 1)
    })
    this.#consumer.on(events.CRASH, ({ payload }) => {
      this.#drop(null)
      if (!payload.restart) this.#fail(typedError(payload.error))
    })
  }

  async start(): Promise<void> {
    try {
      await this.#consumer.connect()
      await this.#consumer.subscribe({ topics: [...this.#options.topics], fromBeginning: true })
      await this.#consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: (payload) => this.#take(payload) })
    } catch (error) {
      this.#stopping = true
      await this.#consumer.disconnect().catch(() => undefined)
      throw typedError(error)
    }
  }

  assignment(): ReadonlyMap<string, readonly number[]> | null {
    return this.#assignment
  }

  assignmentSinceMs(): number {
    return this.#assignmentSinceMs
  }

  lastContactMs(): number {
    return this.#lastContactMs
  }

  #drop(assignment: ReadonlyMap<string, readonly number[]> | null): void {
    this.#generation += 1
    if (assignment !== null) this.#lastContactMs = Date.now()
    // One attempt to join after the other is one long absence.
    if (assignment !== null || this.#assignment !== null) this.#assignmentSinceMs = Date.now()
    this.#assignment = assignment
    this.#expected.clear()
    this.#options.onDrop()
  }

  #fail(error: Error): void {
    if (this.#failed || this.#stopping) return
    this.#failed = true
    this.#options.onFatal(error)
  }

  #take(payload: EachBatchPayload): Promise<void> {
    const work = this.#process(payload)
    this.#inWork = work.catch(() => undefined)
    return work
  }

  async #process(payload: EachBatchPayload): Promise<void> {
    if (this.#stopping || this.#failed) return new Promise((resolve) => setTimeout(resolve, IDLE_WHILE_STOPPING_MS))
    try {
      await this.#requireMembership(payload)
      const generation = this.#generation
      if (await this.#isReady(payload, generation)) await this.#slices(payload, generation)
    } catch (error) {
      // kafkajs mends its own errors (rebalances above all); any other one is ours, and would leave a dead consumer in a living process.
      if (!isKafkaError(error)) this.#fail(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
  }

  /**
   * kafkajs 2.2.4 goes on fetching what it had when joining again fails once after the group has forgotten it: without a member id, so without
   * heartbeats, for ever, beside whoever owns the partitions by then. Whoever is a member is answered here, or told to join again.
   */
  async #requireMembership({ heartbeat }: EachBatchPayload): Promise<void> {
    const limitMs = this.#options.sessionTimeoutMs ?? SESSION_TIMEOUT_MS
    if (Date.now() - this.#lastContactMs <= limitMs) return
    await heartbeat()
    if (Date.now() - this.#lastContactMs <= limitMs) return
    throw new Error(`records come, but the group ${this.#options.groupId} has not answered for longer than its session: no member any more`)
  }

  /** Whether the batch continues where the partition's state ends; restores the state when there is none. */
  async #isReady({ batch, heartbeat }: EachBatchPayload, generation: number): Promise<boolean> {
    const { topic, partition } = batch
    const name = `${topic}/${partition}`
    const first = batch.messages[0]
    if (first === undefined) return false
    const firstOffset = toOffset(first.offset)
    let expected = this.#expected.get(name)
    if (expected === undefined) {
      // Whoever was thrown out while it stood still must hear of it before it takes anything over again.
      await heartbeat()
      // A large state takes seconds to come back; without heartbeats somebody else would get the partition meanwhile.
      expected = await withHeartbeats({ heartbeat }, this.#options.onStart(topic, partition, firstOffset))
      if (generation !== this.#generation) return false
      this.#expected.set(name, expected)
      await heartbeat()
      if (expected < firstOffset) {
        this.#consumer.seek({ topic, partition, offset: String(expected) })
        return false
      }
    }
    if (expected > firstOffset) {
      this.#consumer.seek({ topic, partition, offset: String(expected) })
      return false
    }
    if (expected < firstOffset) this.#options.onHole?.({ topic, partition, expectedOffset: expected, foundOffset: firstOffset })
    return true
  }

  async #slices(
    { batch, resolveOffset, heartbeat, isStale, commitOffsetsIfNecessary }: EachBatchPayload,
    generation: number,
  ): Promise<void> {
    const { topic, partition } = batch
    const endOffset = toOffset(batch.highWatermark)
    const stale = () => generation !== this.#generation || isStale()
    const size = this.#options.maxSliceRecords ?? 5_000
    for (let start = 0; start < batch.messages.length; start += size) {
      if (stale() || this.#stopping) return
      const messages = batch.messages.slice(start, start + size)
      const last = messages[messages.length - 1]
      if (last === undefined) return
      const isLast = start + size >= batch.messages.length
      // The last records of a batch may be control records, which are not shown.
      const nextOffset = toOffset(isLast ? batch.lastOffset() : last.offset) + 1
      const applied = await this.#slice({
        topic,
        partition,
        records: messages.map((message) => toLogRecord(partition, message)),
        nextOffset,
        endOffset,
        isStale: stale,
        isStopping: () => this.#stopping,
        heartbeat,
        commit: (offset) => commitOffsetsIfNecessary({ topics: [{ topic, partitions: [{ partition, offset: String(offset) }] }] }),
      })
      if (generation !== this.#generation) return
      if (!applied) {
        this.#expected.delete(`${topic}/${partition}`)
        return
      }
      resolveOffset(last.offset)
      this.#expected.set(`${topic}/${partition}`, nextOffset)
      await heartbeat()
    }
  }

  /** A slice that failed may be half applied: its partition starts anew from what is stored. */
  async #slice(slice: PartitionSlice): Promise<boolean> {
    try {
      return await this.#options.onSlice(slice)
    } catch (error) {
      this.#expected.delete(`${slice.topic}/${slice.partition}`)
      throw error
    }
  }

  async stop(beforeLeave?: Parameters<PartitionConsumer['stop']>[0]): Promise<void> {
    this.#stopping = true
    await this.#inWork
    if (!this.#failed && this.#assignment !== null && beforeLeave !== undefined) {
      await beforeLeave((topic, partition, nextOffset) => this.#consumer.commitOffsets([{ topic, partition, offset: String(nextOffset) }]))
    }
    await this.#consumer.disconnect()
  }
}
