import { Counter, Gauge, Histogram, type Registry } from '@km0/runtime'
import { type RefusedResult, type ResultRecord, type Serving, ServingUnavailableError } from '@km0/serving'
import { type Log, type PartitionSlice, withHeartbeats } from '@km0/transport'
import { Backpressure } from '../backpressure.ts'
import { noteBatch } from '../note-batch.ts'
import type { PlatformClock } from '../platform-clock.ts'
import type { StreamProgram } from '../role.ts'

const RETRY_MS = { first: 200, most: 5_000 }

/** A stretch of a result topic's partition, to be applied in one transaction with its offset. */
export interface SinkBatch {
  readonly topic: string
  readonly partition: number
  readonly nextOffset: number
  readonly records: readonly ResultRecord[]
  readonly clusterId: string
  /** Time of the platform. */
  readonly writtenAtMs: number
}

/** Applies a batch. Resolves with the records that cannot be stored; rejects with ServingUnavailableError while PostgreSQL is away. */
export type WriteBatch = (batch: SinkBatch) => Promise<readonly RefusedResult[]>

type Stretch = Pick<PartitionSlice, 'topic' | 'partition' | 'nextOffset' | 'records'>

export interface SinkOptions {
  /** Of its part of the health report, and in its log. */
  readonly name: string
  /** Begins the names of its metrics. */
  readonly metricPrefix: string
  /** Result topics by name, and how each is written. */
  readonly topics: Readonly<Record<string, WriteBatch>>
  readonly store: Pick<Serving, 'nextOffsets' | 'forgetForeignOffsets'>
  readonly clusterId: string
  readonly clock: PlatformClock
}

/**
 * Writes result topics to PostgreSQL. Its place in each topic is kept there, in the transaction of the rows; Kafka's is for lag tools.
 * While PostgreSQL is away results wait in Kafka.
 */
export class ResultSink {
  readonly #program: StreamProgram
  readonly #log: Log
  readonly #options: SinkOptions
  readonly #metrics: ReturnType<typeof sinkMetrics>
  readonly #backpressure = new Backpressure('PostgreSQL')
  #trouble: string | null = null
  #stopping = false

  constructor(program: StreamProgram, log: Log, options: SinkOptions) {
    this.#program = program
    this.#log = log
    this.#options = options
    this.#metrics = sinkMetrics(program.metrics, options.metricPrefix)
    program.health.register(options.name, () => (this.#trouble === null ? { status: 'ok' } : { status: 'down', detail: this.#trouble }))
    const { name, metricPrefix } = options
    this.#backpressure.register(program.metrics, `${metricPrefix}_backpressure_ratio`, program.health, `${name} backpressure`)
    program.shutdown.add(`${options.name} retries`, () => {
      this.#stopping = true
    })
  }

  get topics(): string[] {
    return Object.keys(this.#options.topics)
  }

  /** Forgets offsets of another log: what it held is applied from its start. */
  async prepare(): Promise<void> {
    const { store, clusterId } = this.#options
    for (const topic of this.topics) {
      const ends = await this.#log.endOffsets(topic)
      const forgotten = await this.persist(() => store.forgetForeignOffsets(topic, clusterId, ends))
      if (forgotten > 0) this.#program.log.warn({ topic, partitions: forgotten }, 'the log was replaced: it is applied from its start')
    }
  }

  /** Where the store says that it is; what retention deleted meanwhile is counted. */
  async start(topic: string, partition: number, firstOffset: number): Promise<number> {
    const stored = (await this.persist(() => this.#options.store.nextOffsets(topic))).get(partition) ?? 0
    const logStart = (await this.#log.startOffsets(topic)).get(partition) ?? firstOffset
    if (stored < logStart && stored > 0) {
      this.#metrics.holes.inc({ topic }, logStart - stored)
      this.#program.log.error({ topic, partition, stored, logStart }, 'retention has deleted results before they were stored')
    }
    return Math.max(stored, logStart)
  }

  /** Applies a slice however long PostgreSQL is away. Resolves false when the slice is no longer ours, or the program stops meanwhile. */
  async apply(slice: PartitionSlice): Promise<boolean> {
    const { topic, partition } = slice
    for (const record of slice.records) this.#options.clock.hear(record.timestampMs)
    const beganMs = Date.now()
    if (!(await this.#backpressure.during(this.#untilWritten(slice)))) return false
    if (this.#program.tracer != null) noteBatch(this.#program.tracer, [{ name: 'stream serving: PostgreSQL', startMs: beganMs }], slice)
    this.#metrics.records.inc({ topic }, slice.records.length)
    this.#metrics.lagRecords.set({ topic, partition }, Math.max(0, slice.endOffset - slice.nextOffset))
    await slice.commit(slice.nextOffset)
    return true
  }

  /**
   * A partition goes on at `nextOffset` without a record to show: ends of transactions. That is noted as soon as may be, so that nobody waits
   * for what is not there; a failure is made good by the next slice.
   */
  skipped(topic: string, partition: number, nextOffset: number): void {
    this.#write({ topic, partition, nextOffset, records: [] }).catch((error: unknown) => {
      if (!(error instanceof ServingUnavailableError)) this.#program.shutdown.fail(error)
    })
  }

  /** Tries until PostgreSQL answers or the program stops. */
  async persist<T>(call: () => Promise<T>): Promise<T> {
    let delayMs = RETRY_MS.first
    for (;;) {
      try {
        const value = await call()
        this.#trouble = null
        return value
      } catch (error) {
        if (!(error instanceof ServingUnavailableError) || this.#stopping) throw error
        this.#troubled(error)
        await new Promise((resolve) => setTimeout(resolve, delayMs))
        delayMs = Math.min(delayMs * 2, RETRY_MS.most)
      }
    }
  }

  async #untilWritten(slice: PartitionSlice): Promise<boolean> {
    let delayMs = RETRY_MS.first
    for (;;) {
      if (slice.isStale()) return false
      try {
        const done = this.#metrics.batchSeconds.startTimer()
        this.#refused(slice, await withHeartbeats(slice, this.#write(slice)))
        done()
        this.#trouble = null
        return true
      } catch (error) {
        if (!(error instanceof ServingUnavailableError)) throw error
        this.#troubled(error)
        if (slice.isStopping()) return false
        await withHeartbeats(slice, new Promise((resolve) => setTimeout(resolve, delayMs)))
        delayMs = Math.min(delayMs * 2, RETRY_MS.most)
      }
    }
  }

  #write({ topic, partition, nextOffset, records }: Stretch): Promise<readonly RefusedResult[]> {
    const { topics, clusterId, clock } = this.#options
    const write = topics[topic]
    if (write === undefined) throw new Error(`${topic} is not a topic of the sink ${this.#options.name}`)
    return write({ topic, partition, nextOffset, records, clusterId, writtenAtMs: clock.nowMs() })
  }

  #refused({ topic, partition }: PartitionSlice, refused: readonly RefusedResult[]): void {
    if (refused.length === 0) return
    this.#metrics.refused.inc({ topic }, refused.length)
    this.#program.log.error(
      { topic, partition, first: refused[0], count: refused.length },
      'results that cannot be stored: who else writes this topic?',
    )
  }

  #troubled(error: Error): void {
    if (this.#trouble === null) {
      this.#program.log.warn({ err: error, sink: this.#options.name }, 'PostgreSQL is away; results wait in Kafka')
    }
    this.#trouble = error.message
  }
}

function sinkMetrics(registry: Registry, prefix: string) {
  const registers = [registry]
  return {
    records: new Counter({ name: `${prefix}_records_total`, help: 'Result records stored', labelNames: ['topic'], registers }),
    refused: new Counter({
      name: `${prefix}_refused_total`,
      help: 'Result records that cannot be stored',
      labelNames: ['topic'],
      registers,
    }),
    holes: new Counter({
      name: `${prefix}_hole_records_total`,
      help: 'Result records deleted before they were stored, at most',
      labelNames: ['topic'],
      registers,
    }),
    lagRecords: new Gauge({
      name: `${prefix}_lag_records`,
      help: 'Result records that are not stored yet',
      labelNames: ['topic', 'partition'],
      registers,
    }),
    batchSeconds: new Histogram({
      name: `${prefix}_batch_duration_seconds`,
      help: 'Time of one transaction',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
  }
}
