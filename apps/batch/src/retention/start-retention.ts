import { QUEUES } from '@km0/contracts/queues'
import { type CommonEnvironment, Counter, Gauge, type Health, type Logger, type Registry } from '@km0/runtime'
import { isSchemaMissing, openRetention, RETENTION_KINDS, type Retention, retentionJobEnvironment } from '@km0/serving'
import { type QueuedJob, startQueueWorker } from '@km0/transport/queue'
import { keepSchedules } from '@km0/transport/schedule'
import { z } from 'zod'
import { dropOldReports } from './old-reports.ts'

/** Settings of the job that deletes what is too old. */
export const retentionSettings = retentionJobEnvironment.extend({
  /** Days that files in KM0_REPORT_DIR are kept. */
  KM0_REPORT_RETENTION_DAYS: z.coerce.number().int().min(1).max(10_000).default(90),
})

const DAY_MS = 86_400_000

export interface RetentionProgram {
  readonly settings: CommonEnvironment &
    z.infer<typeof retentionSettings> & { readonly KM0_BATCH_LOCK_MS: number; readonly KM0_REPORT_DIR?: string | undefined }
  readonly log: Logger
  readonly metrics: Registry
  readonly health: Health
}

/** Deletes what is too old, by the clock of the queue. Resolves to what stops it. */
export async function startRetention(program: RetentionProgram): Promise<{ close(): Promise<void> }> {
  if (program.settings.KM0_RETENTION_EVERY_MS === 0) return { close: async () => undefined }
  const service = new RetentionService(program)
  await service.start()
  return service
}

class RetentionService {
  readonly #program: RetentionProgram
  readonly #store: Retention
  readonly #rows: Counter<'kind'>
  readonly #progress: Gauge
  readonly #last: Gauge
  #stopWorker: () => Promise<void> = async () => undefined
  #schedules: { close(): void } | undefined
  #trouble: string | null = null
  #closing = false

  constructor(program: RetentionProgram) {
    this.#program = program
    this.#store = openRetention({ databaseUrl: program.settings.DATABASE_URL, applicationName: 'km0-batch-retention' })
    const registers = [program.metrics]
    this.#rows = new Counter({
      ...{ name: 'km0_retention_rows_total', help: 'Rows deleted since they were too old, by kind', labelNames: ['kind'], registers },
    })
    for (const kind of RETENTION_KINDS) this.#rows.inc({ kind }, 0)
    this.#progress = new Gauge({ name: 'km0_retention_progress_ratio', help: 'How far the round in work is; 1 between rounds', registers })
    this.#progress.set(1)
    this.#last = new Gauge({ name: 'km0_retention_last_success_timestamp_seconds', help: 'End of the newest whole round', registers })
    program.health.register('retention', () =>
      this.#trouble === null ? { status: 'ok' } : { status: 'degraded', detail: `what is too old stays: ${this.#trouble}` },
    )
  }

  async start(): Promise<void> {
    const worker = await startQueueWorker({
      redisUrl: this.#program.settings.REDIS_URL,
      queue: QUEUES.retention,
      concurrency: 1,
      lockMs: this.#program.settings.KM0_BATCH_LOCK_MS,
      // A round that was lost is done again from where it was: what is deleted is deleted.
      maxLosses: 1_000,
      work: (job) => this.#round(job),
      onError: (error) => this.#later(error),
    })
    this.#stopWorker = () => worker.close()
    const { REDIS_URL: redisUrl, KM0_RETENTION_EVERY_MS: everyMs } = this.#program.settings
    this.#schedules = await keepSchedules(
      { redisUrl, queue: QUEUES.retention, onError: (error) => this.#later(error) },
      { retention: { kind: 'retention', schedule: { everyMs } } },
    )
  }

  #later(error: unknown): void {
    if (this.#closing) return
    if (isSchemaMissing(error)) return
    this.#trouble = error instanceof Error ? error.message : String(error)
    this.#program.log.warn({ err: error }, 'retention: later again')
  }

  async #round(job: QueuedJob): Promise<void> {
    const { settings, log } = this.#program
    const pace = { batchRows: settings.KM0_RETENTION_BATCH_ROWS, pauseMs: settings.KM0_RETENTION_PAUSE_MS }
    try {
      this.#progress.set(0)
      const nowMs = Date.now()
      const done = await this.#store.apply(settings, nowMs, pace, async ({ kind, rows }, share) => {
        this.#progress.set(share)
        await job.progress(share)
        const count = Object.values(rows).reduce((sum, of) => sum + of, 0)
        this.#rows.inc({ kind }, count)
        if (Object.keys(rows).length > 0) log.info({ kind, dropped: rows }, 'what was too old is deleted')
      })
      if (settings.KM0_REPORT_DIR !== undefined) {
        const files = await dropOldReports(settings.KM0_REPORT_DIR, nowMs - settings.KM0_REPORT_RETENTION_DAYS * DAY_MS)
        if (files.length > 0) log.info({ dropped: files.length }, 'old reports are deleted')
      }
      if (done !== null) this.#last.set(Date.now() / 1000)
      this.#trouble = null
    } catch (error) {
      this.#later(error)
    } finally {
      this.#progress.set(1)
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    this.#schedules?.close()
    await this.#stopWorker()
    await this.#store.close()
  }
}
