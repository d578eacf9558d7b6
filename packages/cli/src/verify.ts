// `verify`: does PostgreSQL hold what the log says? Reads the log back, replays it offline, compares every result row.
import { parseArgs } from 'node:util'
import { EVERYTHING, TOPICS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { openServing } from '@km0/serving'
import { openLog } from '@km0/transport'
import { findBrokers, findDatabaseUrl } from './addresses.ts'
import { pipelineRules } from './pipeline-rules.ts'
import { type Comparison, compareResults } from './verify-compare.ts'
import { ExpectedResults } from './verify-expected.ts'
import { waitUntilApplied } from './verify-wait.ts'

const HELP = `verify: compare every result row in PostgreSQL with an offline replay of the log

  pnpm verify [--wait SECONDS] [--show N]

  --wait SECONDS  how long to wait until the jobs have applied the log as it is now (default 60)
  --show N        how many differences to print (default 20)

Takes KAFKA_BROKERS and DATABASE_URL, or the platform that \`npm start\` runs here.
Exit code: 0 equal, 1 different, 2 it could not be told.
`

const CANNOT_TELL = 2

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

interface Options {
  readonly waitMs: number
  readonly show: number
}

function parseOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: { wait: { type: 'string', default: '60' }, show: { type: 'string', default: '20' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help === true) return null
  const number = (name: string, text: string) => {
    if (!/^\d{1,6}$/.test(text)) throw new Error(`--${name} takes a whole number, not "${text}"`)
    return Number(text)
  }
  return { waitMs: number('wait', values.wait) * 1000, show: number('show', values.show) }
}

async function verify(options: Options): Promise<number> {
  const log = openLog({ brokers: findBrokers(process.env), clientId: 'km0-verify' })
  const serving = openServing({ databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-verify' })
  try {
    const until = await log.endOffsets(TOPICS.positions.name)
    const applied = await waitUntilApplied(log, serving, until, options.waitMs)
    if ('missing' in applied) {
      say(`verify: gave up after ${options.waitMs / 1000} s: ${applied.missing}`)
      return CANNOT_TELL
    }
    const expected = new ExpectedResults(createPositionsHost({ ...pipelineRules('verify'), livePoints: false }))
    for await (const { partition, records } of log.readTopic({ topic: TOPICS.positions.name, until })) expected.apply(partition, records)
    say(`replayed ${expected.records} records of ${until.size} partitions: ${expected.byKey.size} result rows`)
    if (expected.cutPartitions().length > 0) {
      say(`retention has deleted the beginning of partitions ${expected.cutPartitions().join(', ')}: rows from before are not compared`)
    }
    const comparison = await compareResults(expected, serving.readAllResults(EVERYTHING), {
      until,
      epoch: applied.epoch,
      showFirst: options.show,
    })
    const delay = await serving.readDelayQuantiles(0)
    if (delay !== null) {
      say(`from the end of a window to its row: p50 ${delay.p50Ms / 1000} s, p99 ${delay.p99Ms / 1000} s, most ${delay.maxMs / 1000} s`)
    }
    return report(comparison)
  } finally {
    await serving.close()
  }
}

function report({ equal, passedOver, differences, first }: Comparison): number {
  const total = Object.values(equal).reduce((sum, n) => sum + n, 0)
  const kinds = Object.entries(equal).map(([kind, n]) => `${kind} ${n}`)
  say(`equal: ${total} rows${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}`)
  if (passedOver.newer > 0) say(`written after the replay's end, not compared: ${passedOver.newer}`)
  if (passedOver.beforeLog > 0) say(`from before the log's beginning, not compared: ${passedOver.beforeLog}`)
  if (passedOver.earlierEpoch > 0) say(`of an earlier log, not compared: ${passedOver.earlierEpoch}`)
  if (differences > 0) {
    say(`different: ${differences} rows`)
    for (const { key, kind, expected, stored } of first) {
      say(`  ${kind}: ${key}`)
      if (expected !== undefined) say(`    log:    ${expected}`)
      if (stored !== undefined) say(`    stored: ${stored}`)
    }
    return 1
  }
  if (total === 0) {
    say('nothing could be compared: the log holds no result yet')
    return CANNOT_TELL
  }
  say('PostgreSQL holds what the log says.')
  return 0
}

try {
  const options = parseOptions(process.argv.slice(2))
  if (options === null) say(HELP.trimEnd())
  else process.exitCode = await verify(options)
} catch (error) {
  process.stderr.write(`verify: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = CANNOT_TELL
}
