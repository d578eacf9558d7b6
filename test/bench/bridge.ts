// QoS 1 from MQTT to acknowledged by Kafka, through real mosquitto and Kafka, in turns with the bridge a user would pick instead.
// `pnpm bench bridge [--peers] [--runs 3] [--json] [--messages 100000] [--rates 200,2000] [--faults] [--down-seconds 40]`
// Each run has services of its own. `speed` pays for the start of the JIT; `latency` is from the publisher to the broker's append time.
import { parseArgs } from 'node:util'
import { buildBridge } from '../adapters/bridge-process.ts'
import { quantile } from './bridge-count.ts'
import { FAULTS, runScenario, type ScenarioOptions, type ScenarioResult } from './bridge-scenario.ts'
import { type BridgeSubject, bridgeSubjects } from './bridge-subjects.ts'
import { giveUp, machine, median, report, type SubjectLine } from './report.ts'

const { values } = parseArgs({
  options: {
    peers: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    runs: { type: 'string', default: '3' },
    messages: { type: 'string', default: '100000' },
    rates: { type: 'string', default: '200,2000' },
    faults: { type: 'boolean', default: false },
    'down-seconds': { type: 'string', default: '40' },
  },
})
const SECONDS_AT_A_RATE = 15
const FAULT_LOAD = { messages: 60_000, perSecond: 10_000 }
/** Longer than the outage, whatever the outage. */
const KAFKA_DOWN_LOAD = { messages: 70_000, perSecond: 1_500 }

const found = bridgeSubjects(values.peers)
if (found === null) giveUp('Telegraf is not there: `pnpm bench:setup` builds it (it needs Go)')
const subjects: readonly BridgeSubject[] = found
const downMs = Number(values['down-seconds']) * 1_000

const scenarios: { readonly name: string; readonly options: ScenarioOptions }[] = [
  { name: 'speed', options: { messages: Number(values.messages), perSecond: 0, downMs } },
  ...values.rates
    .split(',')
    .filter((rate) => rate !== '')
    .map(Number)
    .map((rate) => ({ name: `${rate} msg/s`, options: { messages: rate * SECONDS_AT_A_RATE, perSecond: rate, downMs } })),
  ...(values.faults ? FAULTS : []).map((fault) => ({
    name: fault,
    options: { ...(fault === 'kafka-down' ? KAFKA_DOWN_LOAD : FAULT_LOAD), fault, downMs },
  })),
]

// mosquitto is the broker of the comparison: both bridges meet the same.
process.env.KM0_BROKER = 'mosquitto'
buildBridge()
process.stderr.write(`${machine()}\n`)
const rows: string[] = []
let exit = 0
for (const { name, options } of scenarios) {
  const runs = new Map<BridgeSubject, ScenarioResult[]>(subjects.map((subject) => [subject, []]))
  for (let run = 0; run < Number(values.runs); run += 1) {
    for (const subject of subjects) {
      const result = await runScenario(subject, options)
      runs.get(subject)?.push(result)
      process.stderr.write(
        `${name}, ${subject.name}: ${result.seconds.toFixed(2)} s, p99 ${quantile(result.counted.latenciesMs, 0.99)} ms\n`,
      )
    }
  }
  const lines = [...runs].map(([subject, results]) => lineOf(name, subject, results, options.messages))
  if (!values.json) console.log(`\n### ${name}\n`)
  // A bridge that loses what it acknowledged is a fault of ours only where it is ours.
  exit = Math.max(exit, report(lines, values.json))
  for (const [subject, results] of runs) rows.push(faultRow(name, subject, results))
}
if (!values.json) {
  console.log('\n| load | bridge | messages/s | p50 ms | p99 ms | lost | absent until restarted | doubled | out of order | wrong key |')
  console.log(`|---|---|---|---|---|---|---|---|---|---|\n${rows.join('\n')}`)
}
process.exit(exit)

function lineOf(name: string, subject: BridgeSubject, results: readonly ScenarioResult[], records: number): SubjectLine {
  const lost = results.reduce((sum, { load, counted }) => sum + load.acked - counted.distinct, 0)
  return {
    bench: `bridge ${name}`,
    subject: subject.name,
    version: subject.version,
    seconds: results.map(({ seconds }) => seconds),
    cpu_seconds: results.map(({ cpuSeconds }) => cpuSeconds),
    records,
    peak_rss_mb: Math.max(...results.map(({ peakRssMb }) => peakRssMb)),
    digest: `${lost} lost`,
    exact: lost === 0,
    ...(subject.name === 'ours' ? {} : { differs: `${lost} lost` }),
  }
}

/** Medians of the runs; what is lost, doubled or out of order is told for each. */
function faultRow(name: string, { name: bridge }: BridgeSubject, results: readonly ScenarioResult[]): string {
  const each = (pick: (result: ScenarioResult) => number) => results.map(pick).join(', ')
  const of = (share: number) => median(results.map(({ counted }) => quantile(counted.latenciesMs, share)))
  const rate = Math.round(median(results.map(({ counted, seconds }) => counted.distinct / seconds))).toLocaleString('en')
  const figures = [
    rate,
    of(0.5),
    of(0.99),
    each(({ load, counted }) => load.acked - counted.distinct),
    each(({ stalled }) => stalled),
    each(({ counted }) => counted.duplicates),
    each(({ counted }) => counted.disorder),
    each(({ counted }) => counted.wrongKey),
  ]
  return `| ${name} | ${bridge} | ${figures.join(' | ')} |`
}
