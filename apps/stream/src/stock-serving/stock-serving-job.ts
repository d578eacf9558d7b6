import { TOPICS } from '@km0/contracts'
import { Counter, Gauge, type Registry } from '@km0/runtime'
import { type RefusedResult, ServingUnavailableError, type StockServing } from '@km0/serving'
import type { Log, PartitionSlice } from '@km0/transport'
import { withHeartbeats } from '../delivery.ts'
import type { StreamProgram } from '../role.ts'

const RETRY_MS = { first: 200, most: 5_000 }
const DAY_MS = 86_400_000

export const STOCK_SERVED = [TOPICS.stockAlerts.name, TOPICS.stockLive.name, TOPICS.stockEpisodes.name, TOPICS.stockMarks.name]

/** Applies results of stock. The place in each topic is kept in PostgreSQL, in the transaction of the rows; Kafka's is for lag tools. */
export class StockServingJob {
  readonly #program: StreamProgram
  readonly #log: Log
  readonly #serving: StockServing
  readonly #clusterId: string
  readonly #metrics: ReturnType<typeof stockServingMetrics>
  #trouble: string | null = null
  #stopping = false

  constructor(program: StreamProgram, log: Log, serving: StockServing, clusterId: string) {
    this.#program = program
    this.#log = log
    this.#serving = serving
    this.#clusterId = clusterId
    this.#metrics = stockServingMetrics(program.metrics)
    program.health.register('stock postgres', () => (this.#trouble === null ? { status: 'ok' } : { status: 'down', detail: this.#trouble }))
  }

  /** Forgets offsets of another log. */
  async prepare(): Promise<void> {
    for (const topic of STOCK_SERVED) {
      const ends = await this.#log.endOffsets(topic)
      const forgotten = await this.#persist(() => this.#serving.forgetForeignOffsets(topic, this.#clusterId, ends))
      if (forgotten > 0) this.#program.log.warn({ topic, partitions: forgotten }, 'the log was replaced: it is applied from its start')
    }
  }

  /** Where the store says that it is. */
  async start(topic: string, partition: number, firstOffset: number): Promise<number> {
    const stored = (await this.#persist(() => this.#serving.nextOffsets(topic))).get(partition) ?? 0
    return Math.max(stored, (await this.#log.startOffsets(topic)).get(partition) ?? firstOffset)
  }

  stopping(): void {
    this.#stopping = true
  }

  /** Tries until PostgreSQL answers or the program stops. */
  async #persist<T>(call: () => Promise<T>): Promise<T> {
    let delayMs = RETRY_MS.first
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!(error instanceof ServingUnavailableError) || this.#stopping) throw error
        this.#troubled(error)
        await new Promise((resolve) => setTimeout(resolve, delayMs))
        delayMs = Math.min(delayMs * 2, RETRY_MS.most)
      }
    }
  }

  #troubled(error: Error): void {
    if (this.#trouble === null) this.#program.log.warn({ err: error }, 'PostgreSQL is away; results of stock wait in Kafka')
    this.#trouble = error.message
  }

  async apply(slice: PartitionSlice): Promise<boolean> {
    const { topic, partition } = slice
    if (!(await this.#untilWritten(slice))) return false
    this.#metrics.records.inc({ topic }, slice.records.length)
    this.#metrics.lagRecords.set({ topic, partition }, Math.max(0, slice.endOffset - slice.nextOffset))
    await slice.commit(slice.nextOffset)
    return true
  }

  async #untilWritten(slice: PartitionSlice): Promise<boolean> {
    let delayMs = RETRY_MS.first
    for (;;) {
      if (slice.isStale()) return false
      try {
        this.#refused(slice, await withHeartbeats(slice, this.#write(slice)))
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

  #write({ topic, partition, nextOffset, records }: PartitionSlice): Promise<readonly RefusedResult[]> {
    const batch = { topic, partition, nextOffset, records, clusterId: this.#clusterId, writtenAtMs: Date.now() }
    if (topic === TOPICS.stockAlerts.name) return this.#serving.applyAlertBatch(batch)
    if (topic === TOPICS.stockLive.name) return this.#serving.applyLiveBatch(batch)
    if (topic === TOPICS.stockEpisodes.name) return this.#serving.applyEpisodeBatch(batch)
    return this.#serving.applyMarkBatch(batch)
  }

  #refused({ topic, partition }: PartitionSlice, refused: readonly RefusedResult[]): void {
    if (refused.length === 0) return
    this.#metrics.refused.inc({ topic }, refused.length)
    this.#program.log.error(
      { topic, partition, first: refused[0], count: refused.length },
      'results that cannot be stored: who else writes this topic?',
    )
  }

  /** Episodes stay as long as rows of results; days are dropped with all others. */
  async dropOld(): Promise<void> {
    try {
      const dropped = await this.#serving.dropEpisodes(Date.now() - this.#program.settings.KM0_RESULT_RETENTION_DAYS * DAY_MS)
      if (dropped > 0) this.#program.log.info({ episodes: dropped }, 'old episodes of low stock were dropped')
    } catch (error) {
      this.#program.log.warn({ err: error }, 'old episodes could not be dropped; they are tried again in an hour')
    }
  }
}

function stockServingMetrics(registry: Registry) {
  const registers = [registry]
  return {
    records: new Counter({ name: 'km0_stock_serving_records_total', help: 'Results of stock stored', labelNames: ['topic'], registers }),
    refused: new Counter({
      name: 'km0_stock_serving_refused_total',
      help: 'Results of stock that cannot be stored',
      labelNames: ['topic'],
      registers,
    }),
    lagRecords: new Gauge({
      name: 'km0_stock_serving_lag_records',
      help: 'Results of stock that are not stored yet',
      labelNames: ['topic', 'partition'],
      registers,
    }),
  }
}
