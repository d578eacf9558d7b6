// From the lake to published rows in PostgreSQL, for one day and for more: seconds, CPU seconds, peak memory.
// `pnpm bench batch --day day.parquet [--days 1,7,30] [--runs 3] [--peers] [--json]`; `--peers`: from the lake to rows in memory beside DuckDB, Polars,
// Spark and Flink first (`pnpm bench:setup` fetches them), in turns. The file has the columns repartidor, lat, lon, data_ms, partition, offset,
// timestamp (test/bench/README.md). More days are copies of it, one day later each. Loading the lake is not timed. Ends with 1 when rows differ.
import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { buildBatch } from '../adapters/batch-process.ts'
import { besidePeers } from './batch-peers.ts'
import { publishedDays } from './batch-published.ts'
import { giveUp, machine, report, type SubjectLine } from './report.ts'

const { values } = parseArgs({
  options: {
    day: { type: 'string' },
    days: { type: 'string', default: '1,7,30' },
    runs: { type: 'string', default: '3' },
    peers: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const HOW =
  'make one with: ~/.cache/km0/peers/venv/bin/python test/bench/peers/make_day.py --out DIR (the Python of `pnpm bench:setup`), then give --day DIR/day.parquet'
if (values.day === undefined) giveUp(`a day of positions is needed; ${HOW}`)
const dayFile = values.day
if (!existsSync(dayFile)) giveUp(`${dayFile} is not there; ${HOW}`)
const runs = Number(values.runs)
if (!(runs >= 1)) giveUp(`--runs is a number from 1, not ${values.runs}`)

process.stderr.write(`${machine()}\n`)
let exit = 0
if (values.peers) tell('in memory', await besidePeers(dayFile, runs))
const counts = values.days
  .split(',')
  .map(Number)
  .filter((count) => count > 0)
if (counts.length > 0) buildBatch()
for (const days of counts) tell(days === 1 ? '1 day' : `${days} days`, [await publishedDays(dayFile, days, runs)])
process.exit(exit)

function tell(what: string, lines: readonly Omit<SubjectLine, 'bench'>[]): void {
  if (!values.json) console.log(`\n### ${what}\n`)
  const named = lines.map((line) => ({ bench: `batch ${what}`, ...line }))
  exit = Math.max(exit, report(named, values.json))
}
