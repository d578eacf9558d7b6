import { type Kafka, Partitioners, type Producer, type Transaction } from 'kafkajs'
import { kafkaType, typedError } from './log-errors.ts'
import { requestsOf } from './log-producer.ts'
import type { OutRecord } from './log-record.ts'

export interface TransactionOptions {
  /** Who opens it again fences whoever held it: one id for each piece of work that one process at a time may do. */
  readonly transactionalId: string
  /** The broker gives up an unfinished transaction after so long; until then readers of its partitions wait. Default 15 s. */
  readonly timeoutMs?: number
}

/** A place in a topic that is stored in the transaction of what was made of the records before it. */
export interface TransactionCommit {
  readonly groupId: string
  readonly topic: string
  readonly partition: number
  readonly nextOffset: number
  /** Stored beside the offset; 4,096 bytes at most. */
  readonly metadata: string
}

export interface TransactionalProducer {
  /**
   * Writes the records and the commit in one transaction: all or nothing. Calls are one after the other. Rejects with RecordTooLargeError,
   * LogRefusedError, LogFencedError or LogUnavailableError; it is then unknown whether the transaction was committed, and the producer is
   * spent: close it, open another under the same id, and read back what is committed.
   */
  write(records: readonly OutRecord[], commit: TransactionCommit): Promise<void>
  close(): Promise<void>
}

const DEFAULT_TIMEOUT_MS = 15_000
/**
 * A transaction may begin only when the markers of the one before are written, and a broker that has just started loads its coordinators;
 * kafkajs waits for neither when offsets are added.
 */
const BUSY = new Set(['CONCURRENT_TRANSACTIONS', 'GROUP_COORDINATOR_NOT_AVAILABLE', 'GROUP_LOAD_IN_PROGRESS', 'NOT_COORDINATOR_FOR_GROUP'])
const BUSY_RETRY_MS = 15
const BUSY_LIMIT_MS = 5_000

/**
 * Opens a producer under a transactional id. When it resolves, whoever held the id before can write nothing more, and a transaction that it
 * left is committed or aborted: what is read back from now on is final. Rejects with LogUnavailableError.
 */
export async function openTransactionalProducer(kafka: Kafka, options: TransactionOptions): Promise<TransactionalProducer> {
  const producer = kafka.producer({
    transactionalId: options.transactionalId,
    transactionTimeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
    metadataMaxAge: 30_000,
    // Transactions that follow each other closely are answered "not yet": 300 ms, the default, would be the time of each.
    retry: { initialRetryTime: BUSY_RETRY_MS, maxRetryTime: 1_000, retries: 15 },
  })
  try {
    await producer.connect()
    // The first transaction asks for the producer id, which fences; ending it with nothing in it sends nothing.
    await (await producer.transaction()).abort()
  } catch (error) {
    await producer.disconnect().catch(() => undefined)
    throw typedError(error)
  }
  return new KafkaTransactionalProducer(producer)
}

class KafkaTransactionalProducer implements TransactionalProducer {
  readonly #producer: Producer
  #spent: Error | null = null

  constructor(producer: Producer) {
    this.#producer = producer
  }

  async write(records: readonly OutRecord[], commit: TransactionCommit): Promise<void> {
    if (this.#spent !== null) throw this.#spent
    const requests = requestsOf(records)
    try {
      const transaction = await this.#producer.transaction()
      for (const request of requests) await transaction.sendBatch({ topicMessages: request, acks: -1 })
      await addCommit(transaction, commit)
      await transaction.commit()
    } catch (error) {
      this.#spent = typedError(error)
      throw this.#spent
    }
  }

  close(): Promise<void> {
    return this.#producer.disconnect()
  }
}

async function addCommit(transaction: Transaction, { groupId, topic, partition, nextOffset, metadata }: TransactionCommit): Promise<void> {
  // kafkajs passes members of a partition through; its types leave the metadata out.
  const place = { partition, offset: String(nextOffset), metadata }
  const deadlineMs = Date.now() + BUSY_LIMIT_MS
  for (;;) {
    try {
      await transaction.sendOffsets({ consumerGroupId: groupId, topics: [{ topic, partitions: [place] }] })
      return
    } catch (error) {
      if (!BUSY.has(kafkaType(error) ?? '') || Date.now() > deadlineMs) throw error
      await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS))
    }
  }
}
