import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { decodeSource, TOPICS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { type Log, type OutRecord, openLog } from '@km0/transport'
import { partitionChooser } from '@km0/transport/log-partitioner'
import { expect } from 'vitest'
import { StreamProcess, until } from '../chaos/stream-process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const TOPIC = TOPICS.positions.name
const OLD_PARTITIONS = TOPICS.positions.partitions
const MINUTE = 60_000
/** An hour ago, so that retention leaves it alone; everything else counts from it. */
const FIRST_MS = Math.floor(Date.now() / (10 * MINUTE)) * 10 * MINUTE - 60 * MINUTE
const VANS = Array.from({ length: 12 }, (_, n) => `furgoneta-${n}`)

/** Time of the last heartbeat of a part. */
export const lastOf = (number: number) => FIRST_MS + (number + 1) * 10 * MINUTE - 10_000

interface Sent {
  readonly van: string | null
  readonly atMs: number
  readonly value: string
}

/** Ten minutes of the fleet, in time: points every 10 s with some vans silent for minutes, and heartbeats; settings first of all. */
export function part(number: number): Sent[] {
  const sent: Sent[] = []
  const startMs = FIRST_MS + number * 10 * MINUTE
  if (number === 0) {
    sent.push({
      van: null,
      atMs: startMs,
      value: JSON.stringify({ tipus: 'parametres', data_ms: startMs, retard_ms: 45_000, marge_ms: 0 }),
    })
  }
  for (let atMs = startMs; atMs < startMs + 10 * MINUTE; atMs += 10_000) {
    for (const [n, van] of VANS.entries()) {
      const sinceMs = atMs - FIRST_MS
      if (Math.floor(sinceMs / (4 * MINUTE)) % 4 === n % 4) continue
      const [lat, lon] = [41.9 + n / 100 + (sinceMs % 977_000) / 1e9, 2.8 + (sinceMs % 613_000) / 1e9]
      sent.push({ van, atMs, value: JSON.stringify({ repartidor: van, lat, lon, data_ms: atMs - n * 3_000 }) })
    }
    sent.push(heartbeat(atMs))
  }
  return sent
}

function heartbeat(atMs: number): Sent {
  return { van: null, atMs, value: JSON.stringify({ tipus: 'batec', data_ms: atMs }) }
}

/** What closes everything. */
export const end = heartbeat(FIRST_MS + 60 * MINUTE)

/** What of it goes to which partition: points by van, the rest to all. */
function toPartitions(sent: readonly Sent[], partitions: number): OutRecord[] {
  const all = Array.from({ length: partitions }, (_, partition) => partition)
  const choose = partitionChooser(all)
  return sent.flatMap(({ van, atMs, value }) =>
    (van === null ? all : [choose(van)]).map((partition) => ({ topic: TOPIC, key: van, partition, timestampMs: atMs, value })),
  )
}

const sorted = (rows: ReadonlyMap<string, string>) => [...rows].sort(([a], [b]) => (a < b ? -1 : 1))

/** The last row of each key, as a job without a stop would leave it. */
export function expectedRows(sent: readonly Sent[]): [string, string][] {
  const rows = new Map<string, string>()
  const host = createPositionsHost()
  for (const [offset, { partition, timestampMs, value }] of toPartitions(sent, OLD_PARTITIONS).entries()) {
    const text = String(value)
    host.onRecord(partition ?? 0, offset, timestampMs ?? 0, null, text, Buffer.byteLength(text), true)
    for (const emission of host.drain()) if (emission.output === 'panell') rows.set(emission.key ?? '', emission.value)
  }
  return sorted(rows)
}

interface Ran {
  readonly code: number
  readonly out: string
  readonly said: string
}

/** The windowing job as a process, its log, and the commands of a person who makes and restores savepoints of it. */
export class SavepointRig {
  readonly log: Log
  readonly #environment: Readonly<Record<string, string>>
  #job: StreamProcess | null = null

  private constructor(log: Log, environment: Readonly<Record<string, string>>) {
    this.log = log
    this.#environment = { ...environment, KM0_CHECKPOINT_INTERVAL_MS: '100' }
  }

  /** Bundles the programs and makes the topics. */
  static async open(brokers: string, environment: Readonly<Record<string, string>>): Promise<SavepointRig> {
    execFileSync(process.execPath, ['infra/build.mjs', 'apps/stream', 'cli/src/km0'], { cwd: root, stdio: 'inherit' })
    const log = openLog({ brokers: [brokers], clientId: 'test' })
    await log.ensureTopics(Object.values(TOPICS))
    return new SavepointRig(log, environment)
  }

  /** Runs `km0 savepoint …` as a person would. */
  savepoint(words: string, environment: Readonly<Record<string, string>> = {}): Promise<Ran> {
    return this.km0(`savepoint ${words}`, environment)
  }

  km0(words: string, environment: Readonly<Record<string, string>> = {}): Promise<Ran> {
    return new Promise((resolve) => {
      const env = { ...process.env, ...this.#environment, ...environment }
      execFile(process.execPath, ['packages/cli/dist/km0.js', ...words.split(' ')], { cwd: root, env }, (error, out, said) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, said }),
      )
    })
  }

  async write(sent: readonly Sent[], partitions = OLD_PARTITIONS): Promise<void> {
    const producer = await this.log.openProducer()
    await producer.send(toPartitions(sent, partitions))
    await producer.close()
  }

  async startJob(environment: Readonly<Record<string, string>> = {}): Promise<StreamProcess> {
    this.#job = await StreamProcess.start('positions', { ...this.#environment, ...environment })
    return this.#job
  }

  /** The one that runs. */
  async startedJob(): Promise<StreamProcess> {
    return this.#job ?? this.startJob()
  }

  /** A heartbeat to every partition. */
  beat(atMs: number): Promise<void> {
    return this.write([heartbeat(atMs)])
  }

  /** Ends it in order: it stores its states once more. */
  async stopJob(): Promise<void> {
    const stopped = this.#job
    this.#job = null
    expect(await stopped?.stop()).toBe(0)
  }

  /** Until the job has applied all that was written, `lastMs` being the newest heartbeat. */
  async applied(lastMs: number, partitions = OLD_PARTITIONS): Promise<void> {
    const watermarks = (partitions * (lastMs - 45_000)) / 1000
    await until('all is applied', async () => (await this.#job?.metric('km0_stream_watermark_seconds')) === watermarks)
  }

  /** A savepoint of the job while it runs: it stores its states when records come, and a bridge writes heartbeats. */
  async createWhileItRuns(name: string, atMs: number): Promise<Ran> {
    let isMade = false
    const made = this.savepoint(`create ${name} --wait 60`).finally(() => {
      isMade = true
    })
    while (!isMade) {
      await this.beat(atMs)
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    return made
  }

  /** The row of each key that a sink has in the end, as it moves forward by epoch; and all epochs that gave one. */
  async panelRows(): Promise<{ readonly rows: [string, string][]; readonly epochs: number[] }> {
    const rows = new Map<string, string>()
    const epochs = new Map<string, number>()
    for await (const { records } of this.log.readTopic({ topic: TOPICS.panel.name })) {
      for (const { key, value, headers } of records) {
        const source = decodeSource(headers)
        if (source === null || key === null || source.epoch < (epochs.get(key) ?? 0)) continue
        rows.set(key, String(value))
        epochs.set(key, source.epoch)
      }
    }
    return { rows: sorted(rows), epochs: [...new Set(epochs.values())].sort() }
  }

  async kill(): Promise<void> {
    const killed = this.#job
    this.#job = null
    await killed?.kill9()
  }
}
