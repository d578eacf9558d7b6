// One day from the lake to result rows in memory: windows, sessions, hours and days of each van. Attaching is told apart, as boot.
// `pnpm bench lake-batch --day day.parquet [--runs N]`; `--lake URL DIR`: a lake that is there already (for `pnpm bench batch --peers`).
// Prints one line: seconds and CPU seconds of each run, and the digest of test/bench/peers over the last one's rows.
import { parseArgs } from 'node:util'
import { ALL_TIME, DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { openLake, readPositions } from '@km0/lake'
import { positionsBatchInto } from '@km0/pipelines/positions/positions-columns'
import { startServices } from '@km0/testkit/services'
import { benchLake, EVERYTHING, loadDays } from './lake-day.ts'
import { RowColumns } from './row-columns.ts'

const { values, positionals } = parseArgs({
  options: { day: { type: 'string' }, runs: { type: 'string', default: '3' }, lake: { type: 'boolean', default: false } },
  allowPositionals: true,
})

const seconds = (ms: number) => Number((ms / 1000).toFixed(3))
const cpuMs = () => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function measure(url: string, dir: string): Promise<void> {
  const startMs = performance.now()
  const lake = await openLake(benchLake(url, dir), { readOnly: true })
  const bootSeconds = seconds(performance.now() - startMs)
  const runs: { seconds: number; cpu: number; read: number }[] = []
  let rows = new RowColumns()
  let records = 0
  for (let run = 0; run < Number(values.runs); run += 1) {
    const [beginMs, beginCpuMs] = [performance.now(), cpuMs()]
    const columns = await readPositions(lake, EVERYTHING)
    const readMs = performance.now() - beginMs
    rows = new RowColumns()
    positionsBatchInto(columns, rows, DEFAULT_POSITIONS_SETTINGS, ALL_TIME)
    runs.push({ seconds: seconds(performance.now() - beginMs), cpu: seconds(cpuMs() - beginCpuMs), read: seconds(readMs) })
    records = columns.rowCount
  }
  const report = {
    peer: 'ours',
    rows: records,
    results: rows.count,
    digest: rows.digest(),
    seconds: runs.map((run) => run.seconds),
    read_seconds: runs.map(({ read }) => read),
    cpu_seconds: runs.map(({ cpu }) => cpu),
    boot_seconds: bootSeconds,
    peak_rss_mb: Math.round(process.resourceUsage().maxRSS / 1024),
  }
  console.log(JSON.stringify(report))
  lake.close()
}

if (values.lake) await measure(positionals[0] ?? '', positionals[1] ?? '')
else {
  if (values.day === undefined) throw new Error('--day FILE.parquet is needed: see test/bench/README.md')
  const services = await startServices({ postgres: true })
  try {
    const { lake } = await loadDays(benchLake(services.postgres.url, services.dataDir), values.day, 1)
    lake.close()
    await measure(services.postgres.url, services.dataDir)
  } finally {
    await services.stop()
  }
}
process.exit(0)
