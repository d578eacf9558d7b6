import { TOPICS } from '@km0/contracts'
import { type IHeaders, type Kafka, type Message, Partitioners, type Producer, type TopicMessages } from 'kafkajs'
import { RecordTooLargeError, typedError } from './log-errors.ts'
import { type OutRecord, recordBytes } from './log-record.ts'

export interface ProducerOptions {
  /** Let the broker drop what a retry sends twice. Default true. */
  readonly idempotent?: boolean
  /** Largest record of a topic in bytes. Default: the table of topics, 1 MiB for topics that are not in it. */
  readonly maxMessageBytes?: (topic: string) => number
  /** How often a request is repeated before `send` rejects. Default 5. */
  readonly retries?: number
}

export interface LogProducer {
  /**
   * Writes the records, in order, and resolves when all in-sync replicas have them. Calls are served one after the other.
   * Rejects with RecordTooLargeError (nothing sent), LogRefusedError, LogFencedError or LogUnavailableError (some may have been
   * written: send the same array again, and the broker drops the twins of what it has).
   */
  send(records: readonly OutRecord[]): Promise<void>
  close(): Promise<void>
}

/** Requests stay below the largest record batch: kafkajs makes one batch a partition of all that it is given. */
const REQUEST_BYTES = 900_000

const LIMITS = new Map<string, number>(Object.values(TOPICS).map((topic) => [topic.name, topic.maxMessageBytes]))
const DEFAULT_LIMIT_BYTES = 1_048_576

/** Largest record of a topic of the table, in bytes; 1 MiB for others. */
export function topicLimitBytes(topic: string): number {
  return LIMITS.get(topic) ?? DEFAULT_LIMIT_BYTES
}

/** Opens a producer that keeps one request in flight, so that order holds under retries. Rejects with LogUnavailableError. */
export async function openProducer(kafka: Kafka, options: ProducerOptions = {}): Promise<LogProducer> {
  const producer = new SerialProducer(kafka, options)
  await producer.connect()
  return producer
}

class SerialProducer implements LogProducer {
  readonly #kafka: Kafka
  readonly #options: ProducerOptions
  #producer: Producer | undefined
  #tail: Promise<void> = Promise.resolve()
  /** The last call that failed, and how many of its requests were written: only the same array may use the same sequence numbers again. */
  #failed: { readonly records: readonly OutRecord[]; readonly written: number } | undefined

  constructor(kafka: Kafka, options: ProducerOptions) {
    this.#kafka = kafka
    this.#options = options
  }

  async connect(): Promise<Producer> {
    if (this.#producer !== undefined) return this.#producer
    const producer = this.#kafka.producer({
      idempotent: this.#options.idempotent ?? true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: Partitioners.DefaultPartitioner,
      metadataMaxAge: 30_000,
      retry: { initialRetryTime: 50, maxRetryTime: 1_000, retries: this.#options.retries ?? 5 },
    })
    try {
      await producer.connect()
    } catch (error) {
      await producer.disconnect().catch(() => undefined)
      throw typedError(error)
    }
    this.#producer = producer
    return producer
  }

  send(records: readonly OutRecord[]): Promise<void> {
    let requests: TopicMessages[][]
    try {
      requests = requestsOf(records, this.#options.maxMessageBytes)
    } catch (error) {
      return Promise.reject(error)
    }
    const sent = this.#tail.then(() => this.#send(records, requests))
    this.#tail = sent.catch(() => undefined)
    return sent
  }

  async #send(records: readonly OutRecord[], requests: readonly TopicMessages[][]): Promise<void> {
    if (records.length === 0) return
    // A broker takes a batch with sequence numbers that it knows for a twin and drops it. After a failure it may know them,
    // so other records need a producer id of their own.
    if (this.#failed !== undefined && this.#failed.records !== records) await this.#renew()
    let written = this.#failed?.written ?? 0
    try {
      const producer = await this.connect()
      for (const request of requests.slice(written)) {
        await producer.sendBatch({ topicMessages: request, acks: -1 })
        written += 1
      }
      this.#failed = undefined
    } catch (error) {
      this.#failed = { records, written }
      // kafkajs gives up on a refused connection for good; connecting again keeps the producer id and its sequence numbers.
      await this.#producer?.connect().catch(() => undefined)
      throw typedError(error)
    }
  }

  async #renew(): Promise<void> {
    const old = this.#producer
    this.#producer = undefined
    this.#failed = undefined
    await old?.disconnect().catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.#tail
    await this.#producer?.disconnect()
    this.#producer = undefined
  }
}

/**
 * kafkajs 2.2.4 sorts a request's messages into partitions with a `reduce` that copies a partition's list for each message: quadratic. Here
 * each message meets its step alone, and the lists are put together once.
 */
class MessagesOfRequest extends Array<Message> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array
  }

  override reduce(step: (...args: never[]) => unknown, ...initial: unknown[]): never {
    // Theirs begins with an empty object; any other is of somebody else.
    if (typeof initial[0] !== 'object')
      return (Array.prototype.reduce as (...args: unknown[]) => unknown).call(this, step, ...initial) as never
    const byPartition: Record<string, Message[]> = {}
    const sort = step as unknown as (empty: object, message: Message) => Record<string, Message[]>
    const put = (partition: string | number, messages: Message[]) => {
      const all = byPartition[partition]
      if (all === undefined) byPartition[partition] = messages
      else all.push(...messages)
    }
    for (const message of this) {
      // As every partitioner of ours does it.
      if (message.partition !== undefined) put(message.partition, [message])
      else for (const [partition, messages] of Object.entries(sort({}, message))) put(partition, messages)
    }
    return byPartition as never
  }
}

/** Cuts records into requests, each with the records of each topic in order. Throws RecordTooLargeError for one that is beyond its topic's limit. */
export function requestsOf(records: readonly OutRecord[], limitBytes: (topic: string) => number = topicLimitBytes): TopicMessages[][] {
  const requests: TopicMessages[][] = []
  let byTopic = new Map<string, TopicMessages>()
  let bytes = 0
  for (const [index, record] of records.entries()) {
    const size = recordBytes(record)
    const limit = limitBytes(record.topic)
    if (size > limit) throw new RecordTooLargeError(record.topic, index, size, limit)
    if (bytes > 0 && bytes + size > REQUEST_BYTES) {
      requests.push([...byTopic.values()])
      byTopic = new Map()
      bytes = 0
    }
    bytes += size
    let messages = byTopic.get(record.topic)
    if (messages === undefined) {
      messages = { topic: record.topic, messages: new MessagesOfRequest() }
      byTopic.set(record.topic, messages)
    }
    messages.messages.push({
      key: record.key,
      value: record.value,
      ...(record.headers === undefined ? {} : { headers: record.headers as IHeaders }),
      ...(record.timestampMs === undefined ? {} : { timestamp: String(record.timestampMs) }),
      ...(record.partition === undefined ? {} : { partition: record.partition }),
    })
  }
  if (byTopic.size > 0) requests.push([...byTopic.values()])
  return requests
}
