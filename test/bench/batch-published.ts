import { JOB_KINDS, planResult } from '@km0/contracts/backfill-payload'
import { QUEUES } from '@km0/contracts/queues'
import { type Lake, literal, ROW_KINDS } from '@km0/lake'
import { type Backfills, openBackfills, openServing } from '@km0/serving'
import { startServices } from '@km0/testkit/services'
import { openQueue, type QueueClient } from '@km0/transport/queue'
import { BatchProcess } from '../adapters/batch-process.ts'
import { digestInMemory, digestServed, type Range } from './batch-digests.ts'
import { benchLake, CATALOG_SCHEMA, DAY_MS, loadDays } from './lake-day.ts'
import { Meter } from './meter.ts'
import type { SubjectLine } from './report.ts'

const LONGEST_MS = 1_800_000
const actor = { id: 'bench', name: 'bench', roles: [] }

interface Computed {
  readonly version: number
  readonly planSeconds: number
  readonly computeSeconds: number
}

interface Run extends Computed {
  readonly seconds: number
  readonly publishSeconds: number
  readonly cpuSeconds: number
  readonly peakMb: number
  readonly points: number
  readonly rows: number
  readonly digest: string
}

/**
 * So many days from the lake to published rows, `runs` times. First the first day once, without publishing, in which the program starts its workers.
 * The rows are those that the store serves afterwards, and must be those of a batch run in this process over the same lake.
 */
export async function publishedDays(dayFile: string, days: number, runs: number): Promise<Omit<SubjectLine, 'bench'>> {
  const services = await startServices({ postgres: true, redis: true })
  const database = { databaseUrl: services.postgres.url, applicationName: 'bench' }
  const serving = openServing(database)
  await serving.migrate()
  const store = openBackfills(database)
  const queue = openQueue({ redisUrl: services.redis.url, queue: QUEUES.backfills, onError: () => undefined })
  const { lake, ...range } = await loadDays(benchLake(services.postgres.url, services.dataDir), dayFile, days)
  const batch = await BatchProcess.start(services, CATALOG_SCHEMA, { KM0_NIGHTLY_AT: 'off' })
  try {
    const meter = new Meter(() => [batch.pid, ...batch.workers()])
    const { planSeconds, computeSeconds } = await compute(store, queue, { ...range, toMs: Math.min(range.toMs, range.fromMs + DAY_MS) })
    const coldSeconds = seconds(1_000 * (planSeconds + computeSeconds))
    const cold = meter.stop()
    process.stderr.write(`a day with workers that start: ${coldSeconds} s, ${cold.cpuSeconds} CPU s\n`)
    const all: Run[] = []
    for (let run = 0; run < runs; run += 1) {
      await addRedelivery(lake)
      const measured = await measure(store, queue, batch, range)
      all.push({ ...measured, digest: await digestServed(serving, range, measured.version) })
      process.stderr.write(`${days} d: ${measured.seconds} s, ${measured.cpuSeconds} CPU s, ${measured.peakMb} MB\n`)
    }
    return lineOf(all, await digestInMemory(lake, range, days), { coldSeconds, coldCpuSeconds: cold.cpuSeconds })
  } finally {
    await batch.stop()
    lake.close()
    await queue.close()
    await store.close()
    await serving.close()
    await services.stop()
  }
}

function lineOf(
  runs: readonly Run[],
  right: string,
  { coldSeconds, coldCpuSeconds }: { readonly coldSeconds: number; readonly coldCpuSeconds: number },
): Omit<SubjectLine, 'bench'> {
  const each = (pick: (run: Run) => number) => runs.map(pick)
  const last = runs.at(-1)
  if (last === undefined) throw new Error('nothing was measured')
  return {
    subject: 'ours',
    seconds: each((run) => run.seconds),
    cpu_seconds: each(({ cpuSeconds }) => cpuSeconds),
    records: last.points,
    peak_rss_mb: Math.max(...each(({ peakMb }) => peakMb)),
    digest: runs.find(({ digest }) => digest !== right)?.digest ?? last.digest,
    exact: runs.every(({ digest }) => digest === right),
    more: {
      plan_seconds: each(({ planSeconds }) => planSeconds),
      compute_and_store_seconds: each(({ computeSeconds }) => computeSeconds),
      publish_seconds: each(({ publishSeconds }) => publishSeconds),
      rows: last.rows,
      cold_day_seconds: coldSeconds,
      cold_day_cpu_seconds: coldCpuSeconds,
    },
  }
}

/**
 * A point that is there already comes once more, which changes no row. Without news the same backfill would be the version that is there, and
 * nothing would be computed.
 */
async function addRedelivery(lake: Lake): Promise<void> {
  await lake.use((connection) =>
    connection.run(
      `INSERT INTO lake.positions (epoch, kafka_partition, kafka_offset, arrival_ms, key, event_day, kind, van, event_ms, lat, lon)
        SELECT epoch, kafka_partition, (SELECT max(kafka_offset) + 1 FROM lake.positions WHERE kafka_partition = p.kafka_partition),
          (SELECT max(arrival_ms) FROM lake.positions), key, event_day, kind, van, event_ms, lat, lon
        FROM lake.positions p WHERE kind = ${literal(ROW_KINDS.position)} ORDER BY kafka_partition, kafka_offset LIMIT 1`,
    ),
  )
}

/** Until all rows are stored beside what is served. */
async function compute(store: Backfills, queue: QueueClient, range: Range): Promise<Computed> {
  const startMs = performance.now()
  const request = { pipeline: 'positions' as const, ...range, owners: null }
  const { version } = planResult.parse(await queue.call(JOB_KINDS.plan, { request, actor, reason: 'bench' }, LONGEST_MS))
  const plannedMs = performance.now()
  for (;;) {
    const view = await store.read(version)
    if (view?.state === 'ready') break
    if (view?.state !== 'running') throw new Error(view?.error ?? 'the version is gone')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return { version, planSeconds: seconds(plannedMs - startMs), computeSeconds: seconds(performance.now() - plannedMs) }
}

async function measure(store: Backfills, queue: QueueClient, batch: BatchProcess, range: Range): Promise<Omit<Run, 'digest'>> {
  const meter = new Meter(() => [batch.pid, ...batch.workers()])
  const startMs = performance.now()
  const computed = await compute(store, queue, range)
  const readyMs = performance.now()
  await store.publish(computed.version, { actor, reason: 'bench', atMs: Date.now() })
  const endMs = performance.now()
  const { cpuSeconds, peakMb } = meter.stop()
  const view = await store.read(computed.version)
  if (view === null) throw new Error('the version is gone')
  const { points, rows } = view
  return { ...computed, seconds: seconds(endMs - startMs), publishSeconds: seconds(endMs - readyMs), cpuSeconds, peakMb, points, rows }
}

function seconds(ms: number): number {
  return Number((ms / 1000).toFixed(2))
}
