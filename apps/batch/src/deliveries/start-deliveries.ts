import { QUEUES } from '@km0/contracts/queues'
import { type CommonEnvironment, Counter, Gauge, type Health, type Logger, type Registry } from '@km0/runtime'
import {
  type DataOut,
  openDataOut,
  openSecretBox,
  openServing,
  type SecretBox,
  SecretsKeyError,
  type Serving,
  sealStored,
} from '@km0/serving'
import { JobRefusedError, openQueue, type QueueClient, type QueuedJob, type QueueWorker, startQueueWorker } from '@km0/transport/queue'
import { z } from 'zod'
import { nameOfDay } from './daily-report.ts'
import { dueReports } from './due-reports.ts'
import type { DeliverySettings } from './environment.ts'
import { send } from './send.ts'
import { type Mailer, openMailer } from './send-mail.ts'

export interface DeliveriesProgram {
  readonly settings: CommonEnvironment & DeliverySettings & { readonly KM0_BATCH_LOCK_MS: number }
  readonly log: Logger
  readonly metrics: Registry
  readonly health: Health
}

const DAY_MS = 86_400_000
const TAKEN_AT_A_TIME = 200
const CONCURRENCY = 4
const FORGET_EVERY_MS = 3_600_000

const payload = z.object({ id: z.number().int(), round: z.number().int() })

/**
 * Sends events and reports to whoever has asked for them. What is to be sent stands in Postgres; the queue only says when a try is due, so Redis may
 * lose all of it. Resolves to what stops it.
 */
export async function startDeliveries(program: DeliveriesProgram): Promise<{ close(): Promise<void> }> {
  const service = new DeliveryService(program)
  await service.start()
  return service
}

class DeliveryService {
  readonly #program: DeliveriesProgram
  readonly #store: DataOut
  readonly #serving: Serving
  readonly #secrets: SecretBox
  /** Why secrets stand in the store as they were; null when they are sealed. Absent until that was tried. */
  #unsealed: string | null | undefined
  readonly #queue: QueueClient
  readonly #mailer: Mailer | null
  readonly #tries: Counter<'channel' | 'outcome'>
  readonly #queued: Gauge<'state'>
  #worker: QueueWorker | null = null
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  #forgotAtMs = 0
  #trouble: string | null = null
  #closing = false

  constructor(program: DeliveriesProgram) {
    this.#program = program
    const { settings } = program
    const database = { databaseUrl: settings.DATABASE_URL, applicationName: 'km0-batch-deliveries', maxConnections: 3 }
    this.#store = openDataOut(database)
    this.#serving = openServing(database)
    this.#secrets = openSecretBox({ text: settings.KM0_SECRETS_KEY, file: settings.KM0_SECRETS_KEY_FILE })
    this.#queue = openQueue({ redisUrl: settings.REDIS_URL, queue: QUEUES.deliveries, onError: (error) => this.#later(error) })
    const { KM0_SMTP_URL: url, KM0_SMTP_FROM: from, KM0_DELIVERY_TIMEOUT_MS: timeoutMs } = settings
    this.#mailer = url === undefined ? null : openMailer({ url, from, timeoutMs })
    this.#tries = new Counter({
      name: 'km0_delivery_tries_total',
      help: 'Tries to deliver an event or a report, by channel and outcome',
      labelNames: ['channel', 'outcome'],
      registers: [program.metrics],
    })
    this.#queued = new Gauge({
      name: 'km0_delivery_queue_jobs',
      help: 'Deliveries in the queue that wait, run, or are tried again later',
      labelNames: ['state'],
      registers: [program.metrics],
    })
    const channels = new Gauge({
      name: 'km0_delivery_channel',
      help: '1 where this installation can send by a channel',
      labelNames: ['channel'],
      registers: [program.metrics],
    })
    channels.set({ channel: 'webhook' }, 1)
    channels.set({ channel: 'email' }, Number(this.#mailer !== null))
    channels.set({ channel: 'folder' }, Number(settings.KM0_REPORT_DIR !== undefined))
    program.health.register('deliveries', () => {
      const detail = this.#trouble ?? this.#unsealed ?? null
      return detail === null ? { status: 'ok' } : { status: 'degraded', detail }
    })
  }

  async start(): Promise<void> {
    const { settings } = this.#program
    this.#worker = await startQueueWorker({
      redisUrl: settings.REDIS_URL,
      queue: QUEUES.deliveries,
      concurrency: CONCURRENCY,
      work: (job) => this.#work(job),
      onError: (error) => this.#later(error),
      lockMs: settings.KM0_BATCH_LOCK_MS,
      // What is to be done stands in Postgres: a job that is lost is added again.
      maxLosses: 1_000,
    })
    this.#again()
  }

  #again(): void {
    if (this.#closing) return
    this.#timer = setTimeout(() => {
      this.#looking = this.#look().finally(() => this.#again())
    }, this.#program.settings.KM0_DELIVERY_POLL_MS)
  }

  #later(error: unknown): void {
    if (this.#closing) return
    const text = error instanceof Error ? error.message : String(error)
    if (this.#trouble !== text) this.#program.log.warn({ err: error }, 'deliveries: later again')
    this.#trouble = text
  }

  /** Hands out new events, opens the reports that are due, and has what waits tried. */
  async #look(): Promise<void> {
    const { settings } = this.#program
    const nowMs = Date.now()
    try {
      if (this.#unsealed === undefined) await this.#seal()
      await this.#store.handOutEvents({
        ...{ nowMs, maxAgeMs: settings.KM0_DELIVERY_MAX_AGE_MS, depotDistanceM: settings.KM0_DEPOT_DISTANCE_M },
      })
      await this.#openReports(nowMs)
      const waiting = await this.#store.takeWaiting({
        nowMs,
        queuedBeforeMs: nowMs - settings.KM0_DELIVERY_CHECK_MS,
        limit: TAKEN_AT_A_TIME,
      })
      for (const { id, round, attempts } of waiting) {
        await this.#queue.add(
          'deliver',
          { id, round },
          {
            id: `delivery-${id}-${round}`,
            attempts: Math.max(1, settings.KM0_DELIVERY_ATTEMPTS - attempts),
            backoffMs: settings.KM0_DELIVERY_BACKOFF_MS,
          },
        )
      }
      if (nowMs - this.#forgotAtMs > FORGET_EVERY_MS) {
        await this.#store.forget(nowMs - settings.KM0_DELIVERY_KEEP_DAYS * DAY_MS)
        this.#forgotAtMs = nowMs
      }
      for (const [state, count] of Object.entries((await this.#worker?.counts()) ?? {})) this.#queued.set({ state }, count)
      this.#trouble = null
    } catch (error) {
      this.#later(error)
    }
  }

  /** Once: secrets of before there were keys, and those of a key before. What cannot be sealed is sent as it is, and said. */
  async #seal(): Promise<void> {
    const { settings, log } = this.#program
    try {
      const count = await sealStored({ databaseUrl: settings.DATABASE_URL, applicationName: 'km0-batch-secrets' }, this.#secrets)
      if (count > 0) log.info({ count }, 'secrets of webhooks were sealed')
      this.#unsealed = null
    } catch (error) {
      if (!(error instanceof SecretsKeyError)) throw error
      this.#unsealed = error.message
      log.warn({ err: error }, 'secrets of webhooks are not sealed')
    }
  }

  async #openReports(nowMs: number): Promise<void> {
    const schedules = await this.#store.readReportTimes()
    const rows = schedules.flatMap((schedule) =>
      dueReports(schedule, nowMs, this.#program.settings.KM0_REPORT_DAYS).map((day) => ({
        ...{ subscriptionId: schedule.id, key: `report/${nameOfDay(day)}`, kind: 'report' as const, body: { dayMs: day.startMs } },
      })),
    )
    if (rows.length > 0) await this.#store.addDeliveries(rows, nowMs)
  }

  /** One try. What it came to is stored before the queue hears of it; a process that dies between sends once more, with the same key. */
  async #work({ payload: given }: QueuedJob): Promise<void> {
    const { settings, log } = this.#program
    const { id, round } = payload.parse(given)
    const job = await this.#store.readDelivery(id, round)
    if (job === null) return
    const outcome = await send(job, {
      webhook: { timeoutMs: settings.KM0_DELIVERY_TIMEOUT_MS, allowPrivate: settings.KM0_WEBHOOK_PRIVATE, nowMs: Date.now },
      mailer: this.#mailer,
      secrets: this.#secrets,
      reportDir: settings.KM0_REPORT_DIR ?? null,
      serving: this.#serving,
      store: this.#store,
    })
    const isLast = job.attempts + 1 >= settings.KM0_DELIVERY_ATTEMPTS
    const state = outcome.kind === 'taken' ? 'sent' : outcome.kind === 'refused' || isLast ? 'dead' : 'waiting'
    this.#tries.inc({ channel: job.channel, outcome: outcome.kind })
    await this.#store.noteTry(job, { state, answer: outcome.answer, nowMs: Date.now() })
    if (state === 'sent') return
    log.warn({ delivery: id, key: job.key, channel: job.channel, state, answer: outcome.answer }, 'a delivery was not taken')
    if (state === 'dead') throw new JobRefusedError(outcome.answer)
    throw new Error(outcome.answer)
  }

  async close(): Promise<void> {
    this.#closing = true
    clearTimeout(this.#timer)
    await this.#looking
    await this.#worker?.close()
    await this.#queue.close()
    this.#mailer?.close()
    await Promise.all([this.#store.close(), this.#serving.close()])
  }
}
