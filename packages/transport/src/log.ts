import type { TopicDefinition } from '@km0/contracts'
import { type Admin, Kafka, logLevel } from 'kafkajs'
import { kafkaAddress } from './address.ts'
import { readEveryCompression } from './compression-codecs.ts'
import { useFetchDecoder } from './fetch-decoder.ts'
import { consumePartitions, type PartitionConsumer, type PartitionConsumerOptions } from './log-consumer.ts'
import { typedError } from './log-errors.ts'
import { countMembers, deleteGroups, growTopic, setOffsets } from './log-groups.ts'
import { type LogProducer, openProducer, type ProducerOptions } from './log-producer.ts'
import { endOffsets, offsetsAt, type ReadBatch, type ReadOptions, readTopic, startOffsets } from './log-read.ts'
import { toOffset } from './log-record.ts'
import { type LogClient, type TailHandle, type TailOptions, tailTopic } from './log-tail.ts'
import { countPartitions, ensureTopics, type TopicOverride } from './log-topics.ts'
import { openTransactionalProducer, type TransactionalProducer, type TransactionOptions } from './log-transaction.ts'
import { useProduceEncoder } from './produce-encoder.ts'

/** The part of a structured logger (pino's order of arguments) that the log needs. */
export interface LogSink {
  debug(details: object, message: string): void
  warn(details: object, message: string): void
  error(details: object, message: string): void
}

export interface LogOptions {
  /** `host:port`, or `kafkas://NAME:PASSWORD@host:port?sasl=…` (address.ts). */
  readonly brokers: readonly string[]
  readonly clientId: string
  /** Where warnings of the client go. Absent: nowhere. */
  readonly logger?: LogSink
  readonly connectionTimeoutMs?: number
  readonly requestTimeoutMs?: number
}

export interface CommittedPlace {
  readonly nextOffset: number
  /** null when there is none: the offset was committed, or set, by other means. */
  readonly metadata: string | null
}

/** The log (Kafka). Nothing of the client library shows through. All methods reject with LogUnavailableError when it cannot be reached. */
export interface Log {
  /** Name that a broker keeps for the life of its data. */
  clusterId(): Promise<string>
  ensureTopics(
    definitions: readonly TopicDefinition[],
    overrides?: Readonly<Record<string, TopicOverride>>,
  ): Promise<ReadonlyMap<string, number>>
  partitionCount(topic: string): Promise<number>
  /** Offset after the newest record of each partition. */
  endOffsets(topic: string): Promise<Map<number, number>>
  startOffsets(topic: string): Promise<Map<number, number>>
  /** Offset of the first record of each partition whose timestamp is `timestampMs` or later; the end where there is none. */
  offsetsAt(topic: string, timestampMs: number): Promise<Map<number, number>>
  /** Committed offsets of a group; partitions without one are absent. */
  committedOffsets(groupId: string, topic: string): Promise<Map<number, number>>
  /** The same with what was stored beside each offset. */
  committedPlaces(groupId: string, topic: string): Promise<Map<number, CommittedPlace>>
  /** Deletes groups and their places; one that does not exist is none to delete. Rejects with LogRefusedError while one has members. */
  deleteGroups(groupIds: readonly string[]): Promise<void>
  /** How many members a group has now; one that was killed counts until its session ends. */
  memberCount(groupId: string): Promise<number>
  /** Sets the places of a group that nobody is in. Rejects with LogRefusedError while it has members. */
  setCommittedOffsets(groupId: string, topic: string, offsets: ReadonlyMap<number, number>): Promise<void>
  /** Gives a topic at least so many partitions. Returns how many it has. */
  growTopic(topic: string, partitions: number): Promise<number>
  /** Deletes topics and all that they hold; one that does not exist is none to delete. */
  deleteTopics(topics: readonly string[]): Promise<void>
  openProducer(options?: ProducerOptions): Promise<LogProducer>
  openTransactionalProducer(options: TransactionOptions): Promise<TransactionalProducer>
  tailTopic(options: TailOptions): Promise<TailHandle>
  readTopic(options: ReadOptions): AsyncGenerator<ReadBatch>
  consumePartitions(options: PartitionConsumerOptions): Promise<PartitionConsumer>
}

/** A handle to the log. Connects at the first use; producers and readers are closed one by one. */
export function openLog(options: LogOptions): Log {
  readEveryCompression()
  useFetchDecoder()
  useProduceEncoder()
  const kafka = new Kafka({
    clientId: options.clientId,
    ...kafkaAddress(options.brokers),
    connectionTimeout: options.connectionTimeoutMs ?? 3_000,
    requestTimeout: options.requestTimeoutMs ?? 15_000,
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => forward(options.logger, entry.level, entry.log),
    retry: { initialRetryTime: 100, maxRetryTime: 1_000, retries: 5 },
  })
  return new KafkaLog(kafka, options.clientId)
}

/** Answers that kafkajs asks again after: a coordinator that is loading, a transaction that is not over yet. */
const RETRIED = /^(Response |Failed to send messages: The producer attempted to update a transaction)/

/** What kafkajs calls an error is mostly a retry of its own; whoever calls it gets a typed error when it gives up. */
function forward(sink: LogSink | undefined, level: logLevel, entry: { message: string; [name: string]: unknown }): void {
  if (sink === undefined) return
  const { message, timestamp: _timestamp, logger: _logger, stack: _stack, ...details } = entry
  const text = `kafkajs: ${message}`
  if (level === logLevel.ERROR && !RETRIED.test(message)) sink.warn(details, text)
  else sink.debug(details, text)
}

class KafkaLog implements Log, LogClient {
  readonly kafka: Kafka
  readonly clientId: string

  constructor(kafka: Kafka, clientId: string) {
    this.kafka = kafka
    this.clientId = clientId
  }

  /** A fresh connection for each call: they are rare, and kafkajs' admin does not mend a broken one. */
  async withAdmin<T>(use: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = this.kafka.admin()
    try {
      await admin.connect()
      return await use(admin)
    } catch (error) {
      throw typedError(error)
    } finally {
      await admin.disconnect().catch(() => undefined)
    }
  }

  clusterId(): Promise<string> {
    return this.withAdmin(async (admin) => (await admin.describeCluster()).clusterId)
  }

  ensureTopics(definitions: readonly TopicDefinition[], overrides?: Readonly<Record<string, TopicOverride>>): Promise<Map<string, number>> {
    return this.withAdmin((admin) => ensureTopics(admin, definitions, overrides))
  }

  async partitionCount(topic: string): Promise<number> {
    const counts = await this.withAdmin((admin) => countPartitions(admin, [topic]))
    return counts.get(topic) ?? 0
  }

  endOffsets(topic: string): Promise<Map<number, number>> {
    return endOffsets(this, topic)
  }

  startOffsets(topic: string): Promise<Map<number, number>> {
    return startOffsets(this, topic)
  }

  offsetsAt(topic: string, timestampMs: number): Promise<Map<number, number>> {
    return offsetsAt(this, topic, timestampMs)
  }

  async committedOffsets(groupId: string, topic: string): Promise<Map<number, number>> {
    const places = await this.committedPlaces(groupId, topic)
    return new Map([...places].map(([partition, { nextOffset }]) => [partition, nextOffset]))
  }

  committedPlaces(groupId: string, topic: string): Promise<Map<number, CommittedPlace>> {
    return this.withAdmin(async (admin) => {
      const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] })
      const known = (offsets?.partitions ?? []).filter(({ offset }) => toOffset(offset) >= 0)
      return new Map(
        known.map(({ partition, offset, metadata }) => [
          partition,
          { nextOffset: toOffset(offset), metadata: metadata === '' ? null : metadata },
        ]),
      )
    })
  }

  deleteGroups(groupIds: readonly string[]): Promise<void> {
    return this.withAdmin((admin) => deleteGroups(admin, groupIds))
  }

  memberCount(groupId: string): Promise<number> {
    return this.withAdmin((admin) => countMembers(admin, groupId))
  }

  setCommittedOffsets(groupId: string, topic: string, offsets: ReadonlyMap<number, number>): Promise<void> {
    return this.withAdmin((admin) => setOffsets(admin, groupId, topic, offsets))
  }

  growTopic(topic: string, partitions: number): Promise<number> {
    return this.withAdmin((admin) => growTopic(admin, topic, partitions))
  }

  deleteTopics(topics: readonly string[]): Promise<void> {
    return this.withAdmin(async (admin) => {
      const existing = await admin.listTopics()
      const known = topics.filter((topic) => existing.includes(topic))
      if (known.length > 0) await admin.deleteTopics({ topics: known })
    })
  }

  openProducer(options?: ProducerOptions): Promise<LogProducer> {
    return openProducer(this.kafka, options)
  }

  openTransactionalProducer(options: TransactionOptions): Promise<TransactionalProducer> {
    return openTransactionalProducer(this.kafka, options)
  }

  tailTopic(options: TailOptions): Promise<TailHandle> {
    return tailTopic(this, options)
  }

  readTopic(options: ReadOptions): AsyncGenerator<ReadBatch> {
    return readTopic(this, options)
  }

  consumePartitions(options: PartitionConsumerOptions): Promise<PartitionConsumer> {
    return consumePartitions(this.kafka, options)
  }
}
