import { type BackfillPreview, EVERYTHING, type NightRun, type PositionsSettings } from '@km0/contracts'
import { JOB_KINDS, planResult } from '@km0/contracts/backfill-payload'
import { QUEUES } from '@km0/contracts/queues'
import { Gauge, type Health, type Logger, type Registry } from '@km0/runtime'
import { BackfillRefusedError, type Backfills, type NightRuns, openBackfills, openNightRuns, openServing, type Serving } from '@km0/serving'
import { openQueue, type QueueClient, startQueueWorker } from '@km0/transport/queue'
import { keepSchedules } from '@km0/transport/schedule'
import type { BatchSettings } from '../environment.ts'
import { dueDays, newsOf } from './night-rules.ts'
import { NIGHT_ACTOR, type NightPlatform, stepNight } from './night-step.ts'
import { notify } from './notify.ts'

/** A worker may have a backfill before the question. */
const ANSWER_MS = 600_000
const SHOWN = 40
const DAY_MS = 86_400_000

export interface NightlyProgram {
  readonly settings: BatchSettings
  readonly log: Logger
  readonly metrics: Registry
  readonly health: Health
  /** Rules of the positions pipeline. */
  readonly rules: PositionsSettings
}

/** Runs the nights by the clock of Madrid, those that were missed too. Resolves to what stops it. */
export async function startNightly(program: NightlyProgram): Promise<{ close(): Promise<void> }> {
  if (program.settings.KM0_NIGHTLY_AT === 'off') return { close: async () => undefined }
  const service = new NightlyService(program)
  await service.start()
  return service
}

class NightlyService {
  readonly #program: NightlyProgram
  readonly #minutes: number
  readonly #runs: NightRuns
  readonly #store: Backfills
  readonly #serving: Serving
  readonly #queue: QueueClient
  #stopWorker: () => Promise<void> = async () => undefined
  #schedules: { close(): void } | undefined
  #trouble: string | null = null
  #closing = false

  constructor(program: NightlyProgram) {
    this.#program = program
    const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, KM0_NIGHTLY_AT: at } = program.settings
    this.#minutes = Number(at.slice(0, 2)) * 60 + Number(at.slice(3))
    const database = { databaseUrl, applicationName: 'km0-batch-nightly', maxConnections: 2 }
    this.#runs = openNightRuns(database)
    this.#store = openBackfills(database)
    this.#serving = openServing(database)
    this.#queue = openQueue({ redisUrl, queue: QUEUES.backfills, onError: (error) => this.#later(error) })
    program.health.register('nightly', () => (this.#trouble === null ? { status: 'ok' } : { status: 'degraded', detail: this.#trouble }))
    new Gauge({
      name: 'km0_nightly_trouble',
      help: '1 while a night is late, held or has failed.',
      registers: [program.metrics],
      collect: gaugeOf(() => (this.#trouble === null ? 0 : 1)),
    })
  }

  async start(): Promise<void> {
    const { settings } = this.#program
    const worker = await startQueueWorker({
      redisUrl: settings.REDIS_URL,
      queue: QUEUES.nightly,
      concurrency: 1,
      work: () => this.#look(),
      onError: (error) => this.#later(error),
    })
    this.#stopWorker = () => worker.close()
    const [hour, minute] = [Math.floor(this.#minutes / 60), this.#minutes % 60]
    // The clock: once a day at the time that is set, and every so often while a night is open.
    this.#schedules = await keepSchedules(
      { redisUrl: settings.REDIS_URL, queue: QUEUES.nightly, onError: (error) => this.#later(error) },
      {
        night: { kind: 'night', schedule: { cron: `${minute} ${hour} * * *`, timeZone: 'Europe/Madrid' } },
        look: { kind: 'look', schedule: { everyMs: settings.KM0_NIGHTLY_CHECK_MS } },
      },
    )
  }

  #later(error: unknown): void {
    if (!this.#closing) this.#program.log.warn({ err: error }, 'nightly runs: later again')
  }

  /** Opens what is due and takes what is open as far as it goes. One process at a time. */
  async #look(): Promise<void> {
    try {
      await this.#runs.alone(() => this.#lookAlone())
    } catch (error) {
      this.#later(error)
    }
  }

  async #lookAlone(): Promise<void> {
    const { settings } = this.#program
    const nowMs = Date.now()
    const firstMs = (await this.#runs.firstResultMs()) ?? Number.POSITIVE_INFINITY
    for (const day of dueDays(nowMs, this.#minutes, settings.KM0_NIGHTLY_DAYS)) {
      if (day.dayEndMs > firstMs) await this.#runs.open(day, nowMs)
    }
    const runs = await this.#runs.list(SHOWN)
    const news: string[] = []
    for (const run of runs.toReversed()) {
      const after = await this.#advance(run)
      const what = newsOf(after, nowMs, settings.KM0_NIGHTLY_ALARM_MS)
      const isRecent = nowMs - after.dayEndMs < settings.KM0_NIGHTLY_DAYS * DAY_MS
      if (what !== '' && isRecent) news.push(`night of ${nameOf(after)} is ${what}: ${after.detail}`)
    }
    this.#trouble = news.length === 0 ? null : news.join('; ')
  }

  async #advance(run: NightRun): Promise<NightRun> {
    const { settings, log } = this.#program
    const limits = {
      settleMs: settings.KM0_NIGHTLY_SETTLE_MS,
      maxChange: settings.KM0_NIGHTLY_MAX_CHANGE,
      maxMissing: settings.KM0_NIGHTLY_MAX_MISSING,
    }
    let after = await stepNight(run, this.#platform(), limits)
    if (after.state !== run.state) log.info({ day: nameOf(run), state: after.state, detail: after.detail }, 'night run')
    after = { ...after, notifiedOf: await this.#tell(after) }
    if (JSON.stringify(after) !== JSON.stringify(run)) await this.#runs.write({ ...after, updatedAtMs: Date.now() })
    return after
  }

  /** Tells a person what they were not told yet. Returns what they have been told of. */
  async #tell(run: NightRun): Promise<string> {
    const { settings, log } = this.#program
    const news = newsOf(run, Date.now(), settings.KM0_NIGHTLY_ALARM_MS)
    if (news === '' || news === run.notifiedOf) return run.notifiedOf
    log.error({ day: nameOf(run), news, detail: run.detail }, 'a night run needs a person')
    if (settings.KM0_WEBHOOK_URL === undefined) return news
    try {
      await notify(settings.KM0_WEBHOOK_URL, news, run)
      return news
    } catch (error) {
      this.#later(error)
      return run.notifiedOf
    }
  }

  #platform(): NightPlatform {
    const { rules, settings } = this.#program
    const command = (reason: string) => ({ actor: NIGHT_ACTOR, reason, atMs: Date.now() })
    return {
      preview: async (request) => (await this.#queue.call(JOB_KINDS.preview, { request }, ANSWER_MS)) as BackfillPreview,
      plan: async (request, reason) =>
        planResult.parse(await this.#queue.call(JOB_KINDS.plan, { request, actor: NIGHT_ACTOR, reason }, ANSWER_MS)).version,
      read: (version) => this.#store.read(version),
      figures: (version) => this.#runs.figures(version),
      publish: async (version, reason) => {
        await this.#store.publish(version, command(reason))
      },
      dirty: async (run) => {
        const { pieces } = await this.#serving.readDirtyPlan(EVERYTHING, {
          fromMs: run.dayMs - settings.KM0_NIGHTLY_DAYS * DAY_MS,
          toMs: run.dayMs,
          rules: { ...rules, maxGapMs: rules.maxAgeMs },
          allowedLatenessMs: rules.allowedLatenessMs,
        })
        return pieces.map(({ fromMs, toMs, vans }) => ({ pipeline: 'positions', fromMs, toMs, owners: vans }))
      },
      refusal: (error) => (error instanceof BackfillRefusedError ? error.message : null),
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    this.#schedules?.close()
    await this.#stopWorker()
    await this.#queue.close()
    await Promise.all([this.#runs.close(), this.#store.close(), this.#serving.close()])
  }
}

/** prom-client asks a gauge for its value through `this`. */
const gaugeOf = (value: () => number) =>
  function (this: { set(value: number): void }): void {
    this.set(value())
  }

const nameOf = ({ dayMs }: NightRun) => new Date(dayMs + DAY_MS / 2).toISOString().slice(0, 10)
