import { setTimeout as sleep } from 'node:timers/promises'
import { TOPICS } from '@km0/contracts'
import {
  Counter,
  commonEnvironment,
  createLogger,
  environmentOrExit,
  Gauge,
  Health,
  type Logger,
  Registry,
  Shutdown,
  serveOperations,
} from '@km0/runtime'
import { type LogProducer, LogUnavailableError, type OutRecord, openLog } from '@km0/transport'
import { brokerHosts } from '@km0/transport/address'
import { z } from 'zod'
import { advance, ClockMemory, firstInstant, without } from '../publishing/clock-memory.ts'
import { duration, Narrator } from '../publishing/narrator.ts'
import { Random, seedOf } from '../random.ts'
import { dueBatches } from './batches.ts'
import { productName } from './catalogue.ts'
import { type Campaign, campaignProducts } from './demand.ts'
import { recallAt } from './recall.ts'
import type { StockRun } from './stock-options.ts'
import { type StockRecord, type StockSettings, stockStream } from './stock-stream.ts'

const environment = commonEnvironment.pick({ KAFKA_BROKERS: true, KM0_HTTP_HOST: true }).extend({
  KM0_HTTP_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  KM0_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('warn'),
})

const GRACE_MS = 3_000
const LINGER_MS = 50
const MAX_RECORDS = 1_000
const RETRY_MS = 500
const COMPLAIN_EVERY_MS = 10_000
const STATUS_EVERY_MS = 60_000

/** Settings of the generator; campaigns and recalls that are asked for count from `startMs`. */
export function stockSettings(command: StockRun, startMs: number): StockSettings {
  const { seed, products, perSecond, campaigns, oddities, lateReplicaMs } = command
  const forced: Campaign[] = command.forced.map(({ atS, lastsS }, index) => {
    const fromMs = Math.floor((startMs + atS * 1000) / 60_000) * 60_000
    return { fromMs, untilMs: fromMs + lastsS * 1000, products: campaignProducts(new Random(seed, index, 75), products) }
  })
  const recalls = command.recalls.map(({ atS, shelves }, index) => {
    return recallAt(seed, index, Math.floor((startMs + atS * 1000) / 60_000) * 60_000, shelves, products)
  })
  return { seed, products, perSecond, campaigns, forced, oddities, lateReplicaMs, recalls }
}

/** Writes the ordering service's records until it is stopped, or until the span that was asked for is written. */
export async function runStock(command: StockRun): Promise<void> {
  const settings = environmentOrExit('stock', environment)
  const logger = createLogger('stock', settings.KM0_LOG_LEVEL)
  const shutdown = new Shutdown(logger, GRACE_MS)
  shutdown.listen()
  const stopping = new AbortController()
  const service = new Service(command, settings.KAFKA_BROKERS, logger, stopping.signal)
  if (settings.KM0_HTTP_PORT !== undefined) {
    const { health, metrics } = service
    const server = await serveOperations({ host: settings.KM0_HTTP_HOST, port: settings.KM0_HTTP_PORT, health, metrics })
    shutdown.add('http', () => server.close())
  }
  const ended = service.run()
  shutdown.add('writing', async () => {
    stopping.abort()
    await ended
  })
  await ended
  if (!stopping.signal.aborted) await shutdown.end(0)
}

class Service {
  readonly metrics = new Registry()
  readonly health = new Health()
  readonly #command: StockRun
  readonly #brokers: readonly string[]
  readonly #logger: Logger
  readonly #signal: AbortSignal
  readonly #narrator = new Narrator((line) => process.stdout.write(`${line}\n`))
  readonly #written = new Counter({
    name: 'km0_stock_written_total',
    help: 'Records that Kafka has acknowledged.',
    labelNames: ['kind'],
    registers: [this.metrics],
  })
  readonly #behind = new Gauge({ name: 'km0_stock_behind_seconds', help: 'Lag behind the own timetable.', registers: [this.metrics] })
  #total = 0
  #trouble: string | null = 'not connected yet'
  #complainedMs = Number.NEGATIVE_INFINITY

  constructor(command: StockRun, brokers: readonly string[], logger: Logger, signal: AbortSignal) {
    this.#command = command
    this.#brokers = brokers
    this.#logger = logger
    this.#signal = signal
    this.health.register('kafka', () => (this.#trouble === null ? { status: 'ok' } : { status: 'down', detail: this.#trouble }))
  }

  async run(): Promise<void> {
    const command = this.#command
    const nowMs = Date.now()
    const memory = command.statePath === null || command.span !== null ? null : new ClockMemory(command.statePath)
    const start =
      command.span === null
        ? firstInstant(command.catchUpMinutes * 60_000, memory?.read() ?? null, nowMs)
        : { clockMs: command.span.startMs, messages: 0 }
    this.#introduce(start.clockMs, nowMs)
    const producer = await this.#connect()
    if (producer === null) return
    const status = this.#reportStatus()
    const records = stockStream(stockSettings(command, start.clockMs), start.clockMs, (campaign) => this.#tell(campaign))
    const wanted = command.span === null ? records : until(start.clockMs + command.span.durationMs, records)
    const pace = { fromMs: start.clockMs, machineMs: nowMs, speed: Number.POSITIVE_INFINITY }
    let progress = start
    const batches = dueBatches(without(start.messages, wanted), {
      pace,
      signal: this.#signal,
      maxRecords: MAX_RECORDS,
      lingerMs: LINGER_MS,
    })
    for await (const batch of batches) {
      if (!(await this.#write(producer, batch))) break
      for (const record of batch) progress = advance(progress, record.arrivalMs)
      memory?.save(progress, Date.now())
      this.#behind.set(Math.max(0, Date.now() - progress.clockMs) / 1000)
    }
    clearInterval(status)
    memory?.save(progress, Date.now(), true)
    await producer.close()
    this.#narrator.say(`${this.#total} records written`)
  }

  /** Tries until it works; null when it is told to stop first. */
  async #connect(): Promise<LogProducer | null> {
    const log = openLog({ brokers: this.#brokers, clientId: 'km0-stock', logger: this.#logger })
    while (!this.#signal.aborted) {
      try {
        const producer = await log.openProducer()
        this.#trouble = null
        return producer
      } catch (error) {
        await this.#complain(error)
      }
    }
    return null
  }

  /** Sends the same records until Kafka has them; false when it is told to stop first. */
  async #write(producer: LogProducer, batch: readonly StockRecord[]): Promise<boolean> {
    const records = batch.map((record) => this.#outRecord(record))
    while (!this.#signal.aborted) {
      try {
        await producer.send(records)
        this.#trouble = null
        this.#total += batch.length
        for (const record of batch) this.#written.inc({ kind: record.kind })
        return true
      } catch (error) {
        await this.#complain(error)
      }
    }
    return false
  }

  #outRecord(record: StockRecord): OutRecord {
    const { partitions } = this.#command
    const common = { topic: TOPICS.stockEvents.name, key: record.key, value: record.value, timestampMs: record.arrivalMs }
    return partitions === null ? common : { ...common, partition: partitions[seedOf(record.key) % partitions.length]! }
  }

  async #complain(error: unknown): Promise<void> {
    if (!(error instanceof LogUnavailableError)) throw error
    this.#trouble = error.message
    if (Date.now() - this.#complainedMs > COMPLAIN_EVERY_MS) {
      this.#complainedMs = Date.now()
      this.#narrator.say(`Kafka at ${brokerHosts(this.#brokers).join(',')} cannot be reached (${error.message}); trying on`)
    }
    await sleep(RETRY_MS, undefined, { signal: this.#signal }).catch(() => undefined)
  }

  #introduce(fromMs: number, nowMs: number): void {
    const { products, perSecond, seed, span } = this.#command
    this.#narrator.say(`${products} products, ${perSecond} changes a second by day, seed ${seed}`)
    if (span === null && fromMs < nowMs) this.#narrator.say(`the last ${duration(nowMs - fromMs)} first, under their own timestamps`)
  }

  #tell(campaign: Campaign): void {
    const names = campaign.products.map(productName).join(', ')
    this.#narrator.at(campaign.fromMs, `campaign for ${duration(campaign.untilMs - campaign.fromMs)}, three times the load: ${names}`)
  }

  #reportStatus(): NodeJS.Timeout {
    let before = 0
    const timer = setInterval(() => {
      const perSecond = (this.#total - before) / (STATUS_EVERY_MS / 1000)
      before = this.#total
      this.#narrator.at(Date.now(), `${perSecond.toFixed(1)} records a second, ${this.#total} in all`)
    }, STATUS_EVERY_MS)
    timer.unref()
    return timer
  }
}

function* until(endMs: number, records: Iterable<StockRecord>): Generator<StockRecord, void> {
  for (const record of records) {
    if (record.arrivalMs >= endMs) return
    yield record
  }
}
