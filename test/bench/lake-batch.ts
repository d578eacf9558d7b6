// One day from the lake to result rows in memory: seconds, CPU seconds and memory, attaching apart.
// `npx tsx test/bench/lake-batch.ts --day day.parquet [--runs N] [--out rows.ndjson]`; the file has the columns repartidor, lat, lon, data_ms,
// partition, offset, timestamp. It is loaded into a lake of the bench's own first, untimed. `--out` writes the last run's rows for a digest.
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DEFAULT_LAKE_SETTINGS, LakeWriter, lakeStatus, literal, openLake, readPositions } from '@km0/lake'
import { positionsBatchOver } from '@km0/pipelines/positions/positions-columns'
import { startServices } from '@km0/testkit/services'
import { cacheRoot } from '../../infra/embedded/cache.mjs'

const { values } = parseArgs({ options: { day: { type: 'string' }, runs: { type: 'string', default: '3' }, out: { type: 'string' } } })
if (values.day === undefined) throw new Error('--day FILE.parquet is needed')

const services = await startServices({ postgres: true })
const settings = {
  ...DEFAULT_LAKE_SETTINGS,
  catalogUrl: services.postgres.url,
  dataPath: join(services.dataDir, 'lake'),
  extensionsDir: join(cacheRoot(), 'duckdb'),
  temporaryDir: join(services.dataDir, 'tmp'),
}

/** Fills the lake as its writer would: the same columns, days and order of rows. */
async function load(file: string): Promise<void> {
  const lake = await openLake(settings)
  await new LakeWriter(lake, 1).prepare()
  await lake.use((connection) =>
    connection.run(
      `INSERT INTO lake.positions (epoch, kafka_partition, kafka_offset, arrival_ms, key, event_day, kind, van, event_ms, lat, lon)
        SELECT 1, partition, "offset", "timestamp", repartidor, DATE '1970-01-01' + (data_ms // 86400000)::INTEGER, 'position', repartidor,
        data_ms, lat, lon FROM read_parquet(${literal(file)})`,
    ),
  )
  console.log(JSON.stringify((await lakeStatus(lake)).tables[0]))
  lake.close()
}

const seconds = (ms: number) => Number((ms / 1000).toFixed(3))

async function run(): Promise<void> {
  const startMs = performance.now()
  const lake = await openLake(settings, { readOnly: true })
  const attachedMs = performance.now()
  const before = process.cpuUsage()
  const columns = await readPositions(lake, { fromMs: 0, toMs: 4_102_444_800_000 })
  const readMs = performance.now()
  const keys: string[] = []
  const rows: string[] = []
  positionsBatchOver(columns, (key, value) => {
    keys.push(key)
    rows.push(value)
  })
  const endMs = performance.now()
  const { user, system } = process.cpuUsage(before)
  const report = {
    rows: columns.rowCount,
    results: rows.length,
    seconds: seconds(endMs - attachedMs),
    read_seconds: seconds(readMs - attachedMs),
    compute_seconds: seconds(endMs - readMs),
    cpu_seconds: seconds((user + system) / 1000),
    attach_seconds: seconds(attachedMs - startMs),
    rss_mb: Math.round(process.memoryUsage.rss() / 1_048_576),
  }
  console.log(JSON.stringify(report))
  if (values.out !== undefined) {
    const out = createWriteStream(values.out)
    keys.forEach((key, index) => {
      out.write(`${JSON.stringify({ key, value: rows[index] })}\n`)
    })
    await new Promise((resolve) => out.end(resolve))
  }
  lake.close()
}

try {
  await load(values.day)
  for (let number = 0; number < Number(values.runs); number += 1) await run()
} finally {
  await services.stop()
}
process.exit(0)
