import { TOPICS } from '@km0/contracts'
import { Counter, Gauge, Histogram, type Registry } from '@km0/runtime'
import { openServing, type RefusedResult, type Serving, ServingUnavailableError } from '@km0/serving'
import type { Log, PartitionSlice } from '@km0/transport'
import { withHeartbeats } from './delivery.ts'
import { type PlatformClock, platformClock } from './platform-clock.ts'
import { groupHealth, type Role, type StreamProgram } from './role.ts'

export const SERVING_GROUP = 'km0-serving'

const SERVED = [TOPICS.panel.name, TOPICS.live.name, TOPICS.marks.name]
const RETRY_MS = { first: 200, most: 5_000 }
const RETENTION_EVERY_MS = 3_600_000

/** Writes result topics to PostgreSQL. Its place in each topic is kept there, in the transaction of the rows; Kafka's is for lag tools. */
export async function startServing(program: StreamProgram, log: Log): Promise<Role> {
  const { settings } = program
  const serving = openServing({
    databaseUrl: settings.DATABASE_URL,
    applicationName: 'km0-stream-serving',
    onError: (error) => program.log.warn({ err: error }, 'a connection to PostgreSQL was lost'),
  })
  const clusterId = await log.clusterId()
  const job = new ServingJob(program, log, serving, clusterId)
  await job.prepare()
  const consumer = await log.consumePartitions({
    groupId: SERVING_GROUP,
    topics: SERVED,
    onStart: (topic, partition, firstOffset) => job.start(topic, partition, firstOffset),
    onSlice: (slice) => job.apply(slice),
    onDrop: () => undefined,
    onFatal: (error) => program.shutdown.fail(error),
    maxSliceRecords: settings.KM0_STREAM_SLICE_RECORDS,
    sessionTimeoutMs: settings.KM0_STREAM_SESSION_TIMEOUT_MS,
  })
  program.health.register('group', () => groupHealth(consumer))
  const retention = setInterval(() => void job.dropOldDays(), RETENTION_EVERY_MS)
  await job.dropOldDays()
  return {
    stop: async () => {
      clearInterval(retention)
      await consumer.stop()
      await serving.close()
    },
  }
}

class ServingJob {
  readonly #program: StreamProgram
  readonly #log: Log
  readonly #serving: Serving
  readonly #clusterId: string
  readonly #clock: PlatformClock
  readonly #metrics: ReturnType<typeof servingMetrics>
  #trouble: string | null = null
  #stopping = false

  constructor(program: StreamProgram, log: Log, serving: Serving, clusterId: string) {
    this.#program = program
    this.#log = log
    this.#serving = serving
    this.#clusterId = clusterId
    this.#clock = platformClock(program.settings.KM0_CLOCK)
    this.#metrics = servingMetrics(program.metrics)
    program.health.register('postgres', () => (this.#trouble === null ? { status: 'ok' } : { status: 'down', detail: this.#trouble }))
    program.shutdown.add('postgres retries', () => {
      this.#stopping = true
    })
  }

  /** Brings the schema up to date and forgets offsets of another log. */
  async prepare(): Promise<void> {
    const applied = await this.#persist(() => this.#serving.migrate())
    if (applied.length > 0) this.#program.log.info({ migrations: applied }, 'database migrated')
    for (const topic of SERVED) {
      const ends = await this.#log.endOffsets(topic)
      const forgotten = await this.#persist(() => this.#serving.forgetForeignOffsets(topic, this.#clusterId, ends))
      if (forgotten > 0) this.#program.log.warn({ topic, partitions: forgotten }, 'the log was replaced: it is applied from its start')
    }
  }

  /** Where the store says that it is; what retention deleted meanwhile is counted. */
  async start(topic: string, partition: number, firstOffset: number): Promise<number> {
    const stored = (await this.#persist(() => this.#serving.nextOffsets(topic))).get(partition) ?? 0
    const logStart = (await this.#log.startOffsets(topic)).get(partition) ?? firstOffset
    if (stored < logStart && stored > 0) {
      this.#metrics.holes.inc({ topic }, logStart - stored)
      this.#program.log.error({ topic, partition, stored, logStart }, 'retention has deleted results before they were stored')
    }
    return Math.max(stored, logStart)
  }

  async apply(slice: PartitionSlice): Promise<boolean> {
    for (const record of slice.records) this.#clock.hear(record.timestampMs)
    const applied = await this.#untilWritten(slice)
    if (!applied) return false
    this.#metrics.records.inc({ topic: slice.topic }, slice.records.length)
    this.#metrics.lagRecords.set({ topic: slice.topic, partition: slice.partition }, Math.max(0, slice.endOffset - slice.nextOffset))
    await slice.commit(slice.nextOffset)
    return true
  }

  async #untilWritten(slice: PartitionSlice): Promise<boolean> {
    let delayMs = RETRY_MS.first
    for (;;) {
      if (slice.isStale()) return false
      try {
        const done = this.#metrics.batchSeconds.startTimer()
        await withHeartbeats(slice, this.#write(slice))
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

  async #write(slice: PartitionSlice): Promise<void> {
    const { topic, partition, nextOffset, records } = slice
    const writtenAtMs = this.#clock.nowMs()
    const batch = { topic, partition, nextOffset, records, clusterId: this.#clusterId, writtenAtMs }
    if (topic === TOPICS.panel.name) {
      const { distanceEndsMs, refused } = await this.#serving.applyPanelBatch(batch)
      for (const endMs of distanceEndsMs) this.#metrics.resultDelay.observe((writtenAtMs - endMs) / 1000)
      this.#refused(topic, partition, refused)
    } else {
      const refused = topic === TOPICS.live.name ? await this.#serving.applyLiveBatch(batch) : await this.#serving.applyMarkBatch(batch)
      this.#refused(topic, partition, refused)
    }
  }

  #refused(topic: string, partition: number, refused: readonly RefusedResult[]): void {
    if (refused.length === 0) return
    this.#metrics.refused.inc({ topic }, refused.length)
    this.#program.log.error(
      { topic, partition, first: refused[0], count: refused.length },
      'results that cannot be stored: who else writes this topic?',
    )
  }

  #troubled(error: Error): void {
    if (this.#trouble === null) this.#program.log.warn({ err: error }, 'PostgreSQL is away; results wait in Kafka')
    this.#trouble = error.message
  }

  /** Tries until PostgreSQL answers or the program stops. */
  async #persist<T>(call: () => Promise<T>): Promise<T> {
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

  async dropOldDays(): Promise<void> {
    const { KM0_RESULT_RETENTION_DAYS: resultDays, KM0_TRACK_RETENTION_DAYS: trackDays } = this.#program.settings
    try {
      const dropped = await this.#serving.dropOldDays({ resultDays, trackDays }, this.#clock.nowMs())
      if (dropped.length > 0) this.#program.log.info({ dropped }, 'old days were dropped')
    } catch (error) {
      this.#program.log.warn({ err: error }, 'old days could not be dropped; they are tried again in an hour')
    }
  }
}

/** Around the budget of 60 s, finer: that is what is looked at. */
const DELAY_BUCKETS_S = [1, 5, 10, 20, 30, 40, 44, 46, 48, 50, 52, 54, 56, 58, 60, 62, 65, 70, 80, 100, 150, 300, 1_800, 7_200]

function servingMetrics(registry: Registry) {
  const registers = [registry]
  return {
    records: new Counter({ name: 'km0_serving_records_total', help: 'Result records stored', labelNames: ['topic'], registers }),
    refused: new Counter({
      name: 'km0_serving_refused_total',
      help: 'Result records that cannot be stored',
      labelNames: ['topic'],
      registers,
    }),
    holes: new Counter({
      name: 'km0_serving_hole_records_total',
      help: 'Result records deleted before they were stored, at most',
      labelNames: ['topic'],
      registers,
    }),
    lagRecords: new Gauge({
      name: 'km0_serving_lag_records',
      help: 'Result records that are not stored yet',
      labelNames: ['topic', 'partition'],
      registers,
    }),
    batchSeconds: new Histogram({
      name: 'km0_serving_batch_duration_seconds',
      help: 'Time of one transaction',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    resultDelay: new Histogram({
      name: 'km0_serving_result_delay_seconds',
      help: 'From the end of a distance window to its row in PostgreSQL',
      buckets: DELAY_BUCKETS_S,
      registers,
    }),
  }
}
