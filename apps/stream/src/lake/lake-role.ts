import { homedir } from 'node:os'
import { join } from 'node:path'
import { claimEpoch, topicEpoch } from '@km0/checkpoints'
import { DEFAULT_POSITIONS_SETTINGS, DEFAULT_STOCK_SETTINGS, TOPICS } from '@km0/contracts'
import {
  type AcceptanceSettings,
  LAKE_TABLES,
  type Lake,
  LakeNotInstalledError,
  type LakeSettings,
  type LakeTable,
  LakeUnavailableError,
  LakeWriter,
  lakeHoles,
  lakeSettingsOf,
  maintain,
  openLake,
  STOCK_EVENTS,
  userCacheDir,
} from '@km0/lake'
import { type PartHealth, parseEnvironment } from '@km0/runtime'
import type { Log, PartitionConsumer } from '@km0/transport'
import { checkpointObjects } from '../environment.ts'
import { groupHealth, type Role, type StreamProgram } from '../role.ts'
import { type LakeRoleSettings, lakeRoleEnvironment } from './environment.ts'
import { LakeJob } from './lake-job.ts'
import { type LakeMetrics, lakeMetrics } from './metrics.ts'

export const LAKE_GROUP = 'km0-lake'

const DAY_MS = 86_400_000
const LOOK_EVERY_MS = 250
/** Nobody waits for the lake: few large fetches. */
const FETCH = { minBytes: 65_536, maxWaitMs: 250 }
const RETRY_MS = { first: 500, most: 10_000 }

/**
 * Stores every accepted record in the lake, exactly once, and keeps the lake tidy. It is ready at once and opens the lake meanwhile: the
 * first time, DuckDB's extensions are fetched. Where they are not to be had it stays up, does nothing, and its health says what to install:
 * the live path needs no lake.
 */
export async function startLake(program: StreamProgram, log: Log): Promise<Role> {
  const settings = parseEnvironment(lakeRoleEnvironment, process.env)
  let part: () => PartHealth = () => ({ status: 'degraded', detail: 'the lake is being opened' })
  program.health.register('lake', () => part())
  const opening = new AbortController()
  const running = openPatiently(program, whereTheLakeIs(program, settings), opening.signal)
    .then(async (lake) => {
      if (lake instanceof LakeNotInstalledError) part = () => ({ status: 'degraded', detail: lake.message })
      if (lake === null || lake instanceof LakeNotInstalledError) return null
      const { job, role } = await runLake(program, log, lake, settings)
      part = () => job.lakeHealth()
      return role
    })
    .catch((error: unknown) => {
      program.shutdown.fail(error)
      return null
    })
  return {
    stop: async () => {
      opening.abort()
      await (await running)?.stop()
    },
  }
}

async function runLake(program: StreamProgram, log: Log, lake: Lake, settings: LakeRoleSettings): Promise<{ job: LakeJob; role: Role }> {
  const known = await claimEpoch({ objects: checkpointObjects(program.settings), clusterId: await log.clusterId() })
  const epochOf = ({ topic }: LakeTable) => topicEpoch(known, topic)
  const writer = new LakeWriter(lake, epochOf)
  await writer.prepare()
  const holes = await lakeHoles(lake)
  const metrics = lakeMetrics(program.metrics)
  const job = new LakeJob({ program, log, writer, metrics, settings, epochOf, acceptance, knownHoles: holes })
  program.health.register('log', () => job.holeHealth(Date.now()))
  const consumer = await log.consumePartitions({
    groupId: LAKE_GROUP,
    topics: LAKE_TABLES.map(({ topic }) => topic),
    ...FETCH,
    onStart: (topic, partition, firstOffset) => job.start(topic, partition, firstOffset),
    onSlice: (slice) => job.apply(slice),
    onDrop: () => job.drop(),
    onFatal: (error) => program.shutdown.fail(error),
    maxSliceRecords: program.settings.KM0_STREAM_SLICE_RECORDS,
    sessionTimeoutMs: program.settings.KM0_STREAM_SESSION_TIMEOUT_MS,
  })
  program.health.register('group', () => groupHealth(consumer))
  const look = setInterval(() => job.storeDue(), LOOK_EVERY_MS)
  const upkeep = new Upkeep(program, lake, settings, metrics, () => ownsUpkeep(consumer))
  upkeep.start()
  const stop = async () => {
    clearInterval(look)
    await upkeep.stop()
    await consumer.stop(() => job.stop())
    await writer.close()
    lake.close()
  }
  return { job, role: { stop } }
}

function whereTheLakeIs(program: StreamProgram, settings: LakeRoleSettings): LakeSettings {
  const temporary = settings.KM0_LAKE_TEMPORARY ?? join(program.settings.KM0_DATA_DIR, 'duckdb')
  return lakeSettingsOf({ ...settings, KM0_LAKE_TEMPORARY: temporary }, program.settings.DATABASE_URL, userCacheDir(process.env, homedir()))
}

/** Rules 1 and 2 of the pipeline whose input a table holds. */
function acceptance(table: LakeTable): AcceptanceSettings {
  const { refuseNullIsland } = DEFAULT_POSITIONS_SETTINGS
  const { maxFutureMs, maxAgeMs } = table === STOCK_EVENTS ? DEFAULT_STOCK_SETTINGS : DEFAULT_POSITIONS_SETTINGS
  return { maxFutureMs, maxAgeMs, refuseNullIsland }
}

/** Opens the lake as soon as its catalog answers; null when the program stops before. Resolves with the error where it cannot be installed. */
async function openPatiently(
  program: StreamProgram,
  settings: LakeSettings,
  signal: AbortSignal,
): Promise<Lake | LakeNotInstalledError | null> {
  let delayMs = RETRY_MS.first
  while (!signal.aborted) {
    try {
      const lake = await openLake(settings, { say: (line) => program.log.info(line) })
      program.log.info({ dataPath: settings.dataPath, catalogSchema: settings.catalogSchema }, 'the lake is open')
      if (!signal.aborted) return lake
      lake.close()
    } catch (error) {
      if (error instanceof LakeNotInstalledError) {
        program.log.error(error.message)
        return error
      }
      if (!(error instanceof LakeUnavailableError)) throw error
      program.log.warn({ err: error }, 'the catalog of the lake is away')
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      delayMs = Math.min(delayMs * 2, RETRY_MS.most)
    }
  }
  return null
}

/** One instance of the role does the upkeep: the one that has the first partition. */
function ownsUpkeep(consumer: PartitionConsumer): boolean {
  return consumer.assignment()?.get(TOPICS.positions.name)?.includes(0) ?? false
}

/** Rounds of maintenance, one at a time. */
class Upkeep {
  readonly #program: StreamProgram
  readonly #lake: Lake
  readonly #settings: LakeRoleSettings
  readonly #metrics: LakeMetrics
  readonly #isOurs: () => boolean
  #timer: NodeJS.Timeout | undefined
  #round: Promise<void> = Promise.resolve()
  #failure: string | null = null

  constructor(program: StreamProgram, lake: Lake, settings: LakeRoleSettings, metrics: LakeMetrics, isOurs: () => boolean) {
    this.#program = program
    this.#lake = lake
    this.#settings = settings
    this.#metrics = metrics
    this.#isOurs = isOurs
  }

  start(): void {
    this.#program.health.register('upkeep', () =>
      this.#failure === null ? { status: 'ok' } : { status: 'degraded', detail: this.#failure },
    )
    this.#schedule()
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#round = this.#run().finally(() => this.#schedule())
    }, this.#settings.KM0_LAKE_MAINTENANCE_MS)
  }

  async #run(): Promise<void> {
    if (!this.#isOurs()) return
    const { KM0_LAKE_KEEP_SNAPSHOTS_MS: keepSnapshotsMs, KM0_LAKE_KEEP_FILES_MS: keepFilesMs } = this.#settings
    const { KM0_LAKE_RETENTION_DAYS: days } = this.#settings
    const rows = days === 0 ? {} : { keepRowsMs: days * DAY_MS }
    const done = this.#metrics.maintenanceSeconds.startTimer()
    try {
      const report = await maintain(this.#lake, { keepSnapshotsMs, keepFilesMs, ...rows }, Date.now())
      this.#program.log.info(report, 'the lake was tidied up')
      this.#failure = null
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error)
      this.#program.log.warn({ err: error }, 'the lake could not be tidied up; the next round tries again')
    } finally {
      done()
    }
  }

  /** Waits for a round in work. */
  async stop(): Promise<void> {
    await this.#round
    clearTimeout(this.#timer)
  }
}
