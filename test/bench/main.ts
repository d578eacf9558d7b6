// `pnpm bench NAME [options]`: figures, never part of `npm test`. README.md beside this file says what each is and how to repeat it.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const BENCHES: Readonly<Record<string, string>> = {
  batch: 'from the lake to published rows in PostgreSQL, one day and more; --peers: rows in memory beside other engines',
  'lake-batch': 'one day from the lake to result rows in memory',
  bridge: 'QoS 1 from MQTT to acknowledged by Kafka; --peers: beside Telegraf; --faults: kill, outages, cuts',
  'bridge-alone': 'the bridge with a source of a few bytes in place of the broker',
  growth: 'how time, state and checkpoints grow with vans, partitions and lateness; --svg FILE',
  start: 'from the command to the first position',
  live: 'Kafka to Kafka: windows, sessions, signal states; --peers: beside Kafka Streams and Flink SQL; --floor: the client library alone',
  core: 'the windowing core, a record at a time',
  delivery: 'idempotent and transactional delivery of the positions job',
  panel: 'from MQTT to the screen: latency, CPU, memory of the page',
  'many-vans': 'state, memory and checkpoints of 100,000 vans',
}

const [name = '', ...options] = process.argv.slice(2)
if (!Object.hasOwn(BENCHES, name)) {
  const list = Object.entries(BENCHES).map(([bench, what]) => `  pnpm bench ${bench.padEnd(12)} ${what}`)
  process.stderr.write(`${list.join('\n')}\n`)
  process.exit(2)
}
const file = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
// Some look at their own memory, for which the collector is called.
const { status } = spawnSync(process.execPath, ['--expose-gc', '--import', 'tsx', file, ...options], { stdio: 'inherit' })
process.exit(status ?? 1)
