// The live job, Kafka to Kafka: a day that is in the log already -> windows, sessions and signal states, checkpoints on.
// `pnpm bench live --day DIR [--runs 3] [--host-runs 1] [--workers 1,2] [--peers] [--json] [--floor] [--profile DIR]`; DIR is a folder of peers/make_day.py with
// log.ndjson. Ours is a new process each time, so it pays for its warm-up in every run; peers run twice in one process, and the second counts.
import { existsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { TOPICS } from '@km0/contracts'
import { startServices } from '@km0/testkit/services'
import { buildStream } from '../chaos/stream-process.ts'
import { measureFloor } from './live-floor.ts'
import { FLINK_GROUP, liveHosts, runLiveHost } from './live-hosts.ts'
import { digestOf, fillLog, forgetResults, type LiveLog, newTopic, PARTITIONS } from './live-log.ts'
import { runOurs } from './live-ours.ts'
import { livePeers, type Peer, runPeer } from './live-peers.ts'
import { giveUp, machine, report, type SubjectLine } from './report.ts'

const { values } = parseArgs({
  options: {
    day: { type: 'string' },
    runs: { type: 'string', default: '3' },
    'host-runs': { type: 'string', default: '1' },
    workers: { type: 'string', default: '1,2' },
    peers: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    floor: { type: 'boolean', default: false },
    profile: { type: 'string' },
  },
})

/** Turns of another engine that hosts our bundle: minutes each, so they are fewer. */
const HOST_RUNS = Number(values['host-runs'])
/** A peer's first run in a process is that of a cold engine. */
const PEER_RUNS = 2

const file = logFile(values.day)
const peers = values.peers ? livePeers() : []
const hosts = values.peers && HOST_RUNS > 0 ? await liveHosts() : []
if (values.peers && peers.length === 0 && hosts.length === 0)
  giveUp('the peers are not there: `pnpm bench:setup` fetches them, `pnpm engine build` makes the hosts of our own core')

function logFile(day: string | undefined): string {
  const how =
    'make one with: ~/.cache/km0/peers/venv/bin/python test/bench/peers/make_day.py --out DIR (the Python of `pnpm bench:setup`), then give --day DIR'
  if (day === undefined) giveUp(`a day of positions is needed; ${how}`)
  const folder = existsSync(day) && statSync(day).isFile() ? dirname(day) : day
  const log = join(folder, 'log.ndjson')
  if (!existsSync(log)) giveUp(`${log} is not there; ${how}`)
  return log
}

class Subject {
  readonly name: string
  /** How many turns it takes at most. */
  readonly runs: number
  readonly #turn: () => Promise<Omit<SubjectLine, 'bench' | 'subject' | 'seconds' | 'cpu_seconds'> & { seconds: number; cpu: number }>
  readonly #turns: Awaited<ReturnType<Subject['turn']>>[] = []

  constructor(name: string, turn: () => ReturnType<Subject['turn']>, runs = Number(values.runs)) {
    this.name = name
    this.runs = runs
    this.#turn = turn
  }

  async turn(): Promise<Omit<SubjectLine, 'bench' | 'subject' | 'seconds' | 'cpu_seconds'> & { seconds: number; cpu: number }> {
    const turn = await this.#turn()
    this.#turns.push(turn)
    process.stderr.write(`${this.name}: ${turn.seconds} s, ${turn.cpu} CPU s, ${turn.peak_rss_mb} MB\n`)
    return turn
  }

  line(): SubjectLine {
    const last = this.#turns.at(-1)
    if (last === undefined) throw new Error(`${this.name} did not run`)
    const { seconds: _seconds, cpu: _cpu, ...rest } = last
    return {
      bench: 'live',
      subject: this.name,
      ...rest,
      seconds: this.#turns.map(({ seconds }) => seconds),
      cpu_seconds: this.#turns.map(({ cpu }) => cpu),
      peak_rss_mb: Math.max(...this.#turns.map(({ peak_rss_mb }) => peak_rss_mb)),
      exact: this.#turns.every(({ exact }) => exact),
    }
  }
}

async function main(): Promise<number> {
  buildStream()
  const services = await startServices({ kafka: { heapMib: 1_024 } })
  try {
    const live = await fillLog(services.kafka.brokers, file)
    process.stderr.write(`${live.records} records in the log; ${machine()}\n`)
    if (values.floor) return await measureFloor(live.log, live.records)
    const ours = values.workers.split(',').map((count) => oursWith(live, services.environment, Number(count)))
    const subjects = [
      ...ours,
      ...hosts.map((host) => hosted(live, services.kafka.brokers, host)),
      ...peers.map((peer) => theirs(live, services.kafka.brokers, peer)),
    ]
    for (let run = 0; run < Number(values.runs); run += 1) for (const subject of subjects) if (run < subject.runs) await subject.turn()
    return report(
      subjects.map((subject) => subject.line()),
      values.json,
    )
  } finally {
    await services.stop()
  }
}

function oursWith(live: LiveLog, environment: Readonly<Record<string, string>>, workers: number): Subject {
  const nodeOptions = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  return new Subject(workers === 1 ? 'ours' : `ours-${workers}-workers`, async () => {
    await forgetResults(live.log, ['km0-positions'])
    const run = await runOurs({ ...environment, KM0_CHECKPOINT_INTERVAL_MS: '10000' }, { workers, partitions: PARTITIONS, nodeOptions })
    const results = await digestOf(live.log, TOPICS.panel.name)
    const digest = results.digest()
    // Each key and byte, signal states too.
    const exact = digest === live.expected.digest && results.hash() === live.expected.hash
    return { seconds: run.seconds, cpu: run.cpuSeconds, peak_rss_mb: run.peakRssMb, records: live.records, digest, exact }
  })
}

/** The same bundle in another engine: each key and byte is to be ours. */
function hosted({ log, records, expected }: LiveLog, brokers: string, host: (typeof hosts)[number]): Subject {
  return new Subject(
    `ours-in-${host}`,
    async () => {
      await forgetResults(log, [FLINK_GROUP])
      const run = await runLiveHost(host, brokers, log)
      const results = await digestOf(log, TOPICS.panel.name)
      const digest = results.digest()
      const exact = digest === expected.digest && results.hash() === expected.hash
      return { seconds: run.seconds, cpu: run.cpuSeconds, peak_rss_mb: run.peakRssMb, records, digest, exact }
    },
    HOST_RUNS,
  )
}

let turns = 0

function theirs({ log, records, expected }: LiveLog, brokers: string, peer: Peer): Subject {
  return new Subject(peer.name, async () => {
    turns += 1
    const out = `peer.${turns}`
    const topics = Array.from({ length: PEER_RUNS }, (_, run) => `${out}.${run + 1}`)
    for (const topic of topics) await newTopic(log, topic)
    const { seconds, cpuSeconds, peakRssMb } = await runPeer(peer, brokers, out, PEER_RUNS)
    const digest = (await digestOf(log, topics.at(-1) ?? '')).digest()
    await log.deleteTopics(topics)
    return {
      seconds: seconds.at(-1) ?? Number.NaN,
      cpu: cpuSeconds.at(-1) ?? Number.NaN,
      peak_rss_mb: peakRssMb,
      records,
      digest,
      exact: digest === expected.digest,
      version: peer.version,
      differs: peer.differs,
    }
  })
}

process.exit(await main())
