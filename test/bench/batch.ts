// From the lake to published rows in PostgreSQL, for one day and for more: seconds, CPU seconds, peak memory.
// `pnpm bench batch --day day.parquet [--days 1,7,30] [--runs 3] [--peers]`; `--peers`: from the lake to rows in memory beside DuckDB, Polars, Spark
// and Flink first (`pnpm bench:setup` fetches them), in turns. The file has the columns repartidor, lat, lon, data_ms, partition, offset,
// timestamp (test/bench/README.md). More days are copies of it, one day later each. Loading the lake is not timed.
import { existsSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { JOB_KINDS, planResult } from '@km0/contracts/backfill-payload'
import { QUEUES } from '@km0/contracts/queues'
import { type Lake, literal, ROW_KINDS } from '@km0/lake'
import { type Backfills, openBackfills, openServing } from '@km0/serving'
import { startServices } from '@km0/testkit/services'
import { openQueue, type QueueClient } from '@km0/transport/queue'
import { BatchProcess, buildBatch } from '../adapters/batch-process.ts'
import { benchLake, CATALOG_SCHEMA, DAY_MS, HOUR_MS, loadDays } from './lake-day.ts'
import { Meter } from './meter.ts'
import { besidePeers } from './peers.ts'
import { giveUp } from './report.ts'

const LONGEST_MS = 1_800_000

const { values } = parseArgs({
  options: {
    day: { type: 'string' },
    days: { type: 'string', default: '1,7,30' },
    runs: { type: 'string', default: '3' },
    peers: { type: 'boolean', default: false },
  },
})
const HOW =
  'make one with: ~/.cache/km0/peers/venv/bin/python test/bench/peers/make_day.py --out DIR (the Python of `pnpm bench:setup`), then give --day DIR/day.parquet'
if (values.day === undefined) giveUp(`a day of positions is needed; ${HOW}`)
const dayFile = values.day
if (!existsSync(dayFile)) giveUp(`${dayFile} is not there; ${HOW}`)
const actor = { id: 'bench', name: 'bench', roles: [] }

if (values.peers) await besidePeers(dayFile, Number(values.runs))
buildBatch()
for (const days of values.days
  .split(',')
  .map(Number)
  .filter((count) => count > 0))
  await bench(days)
process.exit(0)

async function bench(days: number): Promise<void> {
  const services = await startServices({ postgres: true, redis: true })
  const database = { databaseUrl: services.postgres.url, applicationName: 'bench' }
  const serving = openServing(database)
  await serving.migrate()
  const store = openBackfills(database)
  const queue = openQueue({ redisUrl: services.redis.url, queue: QUEUES.backfills, onError: () => undefined })
  const { lake, ...range } = await loadDays(benchLake(services.postgres.url, services.dataDir), dayFile, days)
  const batch = await BatchProcess.start(services, CATALOG_SCHEMA, { KM0_NIGHTLY_AT: 'off' })
  try {
    for (let run = 0; run < Number(values.runs); run += 1) {
      // Without news the same backfill would be the one that is there already.
      if (run > 0) await addLatePoint(lake, range, run)
      const measured = await measure(store, queue, batch, range)
      const [load1 = 0] = loadavg()
      console.log(
        JSON.stringify({ bench: 'batch', subject: 'ours', days, ...measured, load: Number(load1.toFixed(1)), cores: cpus().length }),
      )
    }
  } finally {
    await batch.stop()
    lake.close()
    await queue.close()
    await store.close()
    await serving.close()
    await services.stop()
  }
}

async function addLatePoint(lake: Lake, { fromMs }: { readonly fromMs: number }, number: number): Promise<void> {
  const eventMs = fromMs + HOUR_MS + number
  await lake.use((connection) =>
    connection.run(
      `INSERT INTO lake.positions (epoch, kafka_partition, kafka_offset, arrival_ms, key, event_day, kind, van, event_ms, lat, lon)
        SELECT 1, min(kafka_partition), max(kafka_offset) + 1, max(arrival_ms), 'furgoneta-1', DATE '1970-01-01' + (${eventMs} // ${DAY_MS})::INTEGER,
          ${literal(ROW_KINDS.position)}, 'furgoneta-1', ${eventMs}, 41.98, 2.82 FROM lake.positions
        WHERE kafka_partition = (SELECT min(kafka_partition) FROM lake.positions)`,
    ),
  )
}

async function measure(store: Backfills, queue: QueueClient, batch: BatchProcess, range: { fromMs: number; toMs: number }) {
  const meter = new Meter(() => [batch.pid, ...batch.workers()])
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
  const readyMs = performance.now()
  await store.publish(version, { actor, reason: 'bench', atMs: Date.now() })
  const endMs = performance.now()
  const { cpuSeconds, peakMb } = meter.stop()
  const view = await store.read(version)
  return {
    seconds: seconds(endMs - startMs),
    plan_seconds: seconds(plannedMs - startMs),
    compute_and_store_seconds: seconds(readyMs - plannedMs),
    publish_seconds: seconds(endMs - readyMs),
    cpu_seconds: cpuSeconds,
    peak_mb: peakMb,
    records: view?.points,
    rows: view?.rows,
  }
}

function seconds(ms: number): number {
  return Number((ms / 1000).toFixed(2))
}
