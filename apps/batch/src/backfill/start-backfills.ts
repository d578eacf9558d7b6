import { fileURLToPath } from 'node:url'
import { finishPayload, JOB_KINDS, piecePayload, planResult } from '@km0/contracts/backfill-payload'
import { QUEUES } from '@km0/contracts/queues'
import { Counter, Gauge, type Health, type Logger, type Registry } from '@km0/runtime'
import { type Backfills, openBackfills } from '@km0/serving'
import { JobRefusedError, openQueue, type QueueClient, type QueuedJob, startQueueWorker } from '@km0/transport/queue'
import type { BatchSettings } from '../environment.ts'
import { RefusedError } from './context.ts'
import { explainedFault } from './faults.ts'
import { HANDLERS } from './handlers.ts'
import { WorkerDiedError, WorkerPool } from './worker-pool.ts'

export interface BackfillsProgram {
  readonly settings: BatchSettings
  readonly log: Logger
  readonly metrics: Registry
  readonly health: Health
  /** Bundle of the worker processes; default: beside this one. */
  readonly workerProgram?: string
}

/** Of the newest versions those that run are told in metrics. */
const OBSERVED_VERSIONS = 20
/** Cancelled versions are noticed so soon. */
const CANCEL_POLL_MS = 250
/** Locks that a piece may lose: kill -9 of this program costs one each. */
const MAX_LOSSES = 100
/** Deaths of worker processes that one try of a piece survives. */
const MAX_DEATHS = 5
/** Previews and plans, which people wait for, have none and come first. */
const PIECE_PRIORITY = 10

/** Serves the queue of backfills. Resolves, when it is connected, to what stops it. */
export async function startBackfills(program: BackfillsProgram): Promise<{ close(): Promise<void> }> {
  const service = new BackfillService(program)
  await service.start()
  return service
}

class BackfillService {
  readonly #settings: BatchSettings
  readonly #log: Logger
  readonly #health: Health
  readonly #jobs: Counter
  readonly #waiting: Gauge<'state'>
  readonly #progress: Gauge<'version'>
  readonly #store: Backfills
  readonly #queue: QueueClient
  readonly #pool: WorkerPool
  readonly #timers: NodeJS.Timeout[] = []
  #stopWorker: () => Promise<void> = async () => undefined
  #isConnected = () => false
  #closing = false

  constructor({ settings, log, metrics, health, workerProgram }: BackfillsProgram) {
    this.#settings = settings
    this.#log = log
    this.#health = health
    this.#jobs = new Counter({
      name: 'km0_batch_jobs_total',
      help: 'Jobs ended, by outcome',
      labelNames: ['kind', 'outcome'],
      registers: [metrics],
    })
    this.#waiting = new Gauge({
      name: 'km0_batch_queue_jobs',
      help: 'Jobs of the queue of backfills, by state',
      labelNames: ['state'],
      registers: [metrics],
    })
    this.#progress = new Gauge({
      name: 'km0_backfill_progress_ratio',
      help: 'Share of the points that a running backfill has worked on, by version',
      labelNames: ['version'],
      registers: [metrics],
    })
    this.#store = openBackfills({ databaseUrl: settings.DATABASE_URL, applicationName: 'km0-batch', maxConnections: 2 })
    this.#queue = openQueue({ redisUrl: settings.REDIS_URL, queue: QUEUES.backfills, onError: (error) => this.#warn(error) })
    this.#pool = new WorkerPool({
      program: workerProgram ?? fileURLToPath(new URL('worker.js', import.meta.url)),
      processes: settings.KM0_BATCH_CONCURRENCY,
      idleMs: settings.KM0_BATCH_IDLE_MS,
      environment: process.env,
    })
  }

  async start(): Promise<void> {
    this.#health.register('redis', () =>
      this.#isConnected() ? { status: 'ok' } : { status: 'down', detail: 'no connection to the queue' },
    )
    const settings = this.#settings
    const worker = await startQueueWorker({
      redisUrl: settings.REDIS_URL,
      queue: QUEUES.backfills,
      concurrency: settings.KM0_BATCH_CONCURRENCY,
      lockMs: settings.KM0_BATCH_LOCK_MS,
      maxLosses: MAX_LOSSES,
      work: (job) => this.#work(job),
      onError: (error) => this.#warn(error),
    })
    this.#stopWorker = () => worker.close()
    this.#isConnected = () => worker.connected()
    this.#every(CANCEL_POLL_MS, () => this.#stopEnded())
    this.#every(settings.KM0_BATCH_CHECK_MS, () => this.#enqueueMissing())
    this.#every(settings.KM0_BATCH_CHECK_MS, async () => this.#observe(await worker.counts()))
  }

  #warn(error: Error): void {
    if (!this.#closing) this.#log.warn({ err: error }, 'queue connection')
  }

  /** Runs `work` again and again, never twice at once. A store that is away is waited for. */
  #every(ms: number, work: () => Promise<void>): void {
    let isRunning = false
    const timer = setInterval(() => {
      if (isRunning || this.#closing) return
      isRunning = true
      work()
        .catch((error) => this.#log.debug({ err: error }, 'later again'))
        .finally(() => {
          isRunning = false
        })
    }, ms)
    this.#timers.push(timer)
  }

  /** Gauges of what waits and of what runs: asked for at the queue's pace, so that a store that is away holds no scrape up. */
  async #observe(counts: Readonly<Record<string, number>>): Promise<void> {
    for (const [state, count] of Object.entries(counts)) this.#waiting.set({ state }, count)
    const running = (await this.#store.list(OBSERVED_VERSIONS)).filter(({ state }) => state === 'running')
    const shares: [number, number][] = []
    for (const { id } of running) {
      const progress = await this.#store.progress(id, Date.now())
      if (progress !== null && progress.points > 0) shares.push([id, progress.pointsDone / progress.points])
    }
    this.#progress.reset()
    for (const [version, share] of shares) this.#progress.set({ version }, share)
  }

  async #work(job: QueuedJob): Promise<unknown> {
    const kind = Object.hasOwn(HANDLERS, job.kind) ? job.kind : 'unknown'
    try {
      const result = await this.#run(job)
      this.#jobs.inc({ kind, outcome: 'done' })
      if (job.kind === JOB_KINDS.plan) await this.#enqueueMissing(planResult.parse(result).version)
      return result
    } catch (error) {
      this.#jobs.inc({ kind, outcome: 'failed' })
      if (!this.#closing) this.#log.error({ err: error, job: job.id, kind }, 'job failed')
      const isRefused = error instanceof RefusedError
      if (!this.#closing && (isRefused || job.isLastAttempt)) await this.#failVersion(job, error)
      if (isRefused) throw new JobRefusedError(error.message)
      throw error
    }
  }

  async #run(job: QueuedJob): Promise<unknown> {
    if (!Object.hasOwn(HANDLERS, job.kind))
      throw new RefusedError(
        `there is no job of kind "${job.kind}"; this version knows ${Object.keys(HANDLERS).join(', ')}. Was it queued by a newer version?`,
      )
    const version = versionOf(job)
    for (let deaths = 0; ; ) {
      try {
        return await this.#pool.run(version === null ? '' : groupOf(version), job.kind, job.payload, (share) => {
          job.progress(share).catch(() => undefined)
        })
      } catch (error) {
        if (!(error instanceof WorkerDiedError) || this.#closing) throw error
        if (version !== null && (await this.#store.stopped([version])).length > 0) return 'stopped'
        deaths += 1
        if (deaths > MAX_DEATHS) throw error
        this.#log.warn({ job: job.id, deaths }, 'a worker process died: its piece is run again')
      }
    }
  }

  async #failVersion(job: QueuedJob, error: unknown): Promise<void> {
    const version = versionOf(job)
    if (version === null) return
    const message = explainedFault(error)
    try {
      await this.#store.fail(version, message, Date.now())
      await this.#store.writeLog(version, `failed: ${message}`, Date.now())
    } catch (fault) {
      // It still runs, as the store has it: its pieces are queued again when the store is back.
      this.#log.warn({ err: fault, version }, 'the failure could not be noted')
    }
  }

  /** Kills the work on versions that were cancelled or have failed. */
  async #stopEnded(): Promise<void> {
    const versions = [...this.#pool.groups()].flatMap((group) => (group === '' ? [] : [Number(group)]))
    if (versions.length === 0) return
    for (const version of await this.#store.stopped(versions)) this.#pool.kill(groupOf(version))
  }

  /** Queues what running versions lack. A job that waits or runs already is not added again, so this mends a queue that has lost some. */
  async #enqueueMissing(version?: number): Promise<void> {
    for (const { version: id, piece, attempt } of await this.#store.openPieces(version))
      await this.#queue.add(
        JOB_KINDS.piece,
        { version: id, piece },
        { id: `v${id}-t${attempt}-p${piece}`, attempts: this.#settings.KM0_BATCH_ATTEMPTS, priority: PIECE_PRIORITY },
      )
    for (const { id, attempt } of await this.#store.unfinishedVersions())
      await this.#queue.add(
        JOB_KINDS.finish,
        { version: id },
        { id: `v${id}-t${attempt}-end`, attempts: this.#settings.KM0_BATCH_ATTEMPTS, priority: PIECE_PRIORITY },
      )
  }

  async close(): Promise<void> {
    this.#closing = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#pool.close()
    await this.#stopWorker()
    await this.#queue.close()
    await this.#store.close()
  }
}

const groupOf = (version: number) => String(version)

function versionOf(job: QueuedJob): number | null {
  if (job.kind === JOB_KINDS.piece) return piecePayload.safeParse(job.payload).data?.version ?? null
  if (job.kind === JOB_KINDS.finish) return finishPayload.safeParse(job.payload).data?.version ?? null
  return null
}
