import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PipelineSettings } from '@km0/contracts/pipeline-settings'
import type { Guard } from '../../embedded/guard.ts'
import { freePort } from '../../embedded/ports.ts'
import { type Service, startService } from '../../embedded/process.ts'
import { startCluster } from '../flink/cluster/cluster.ts'
import { bundleFile, type Engine, flinkJar, streamsTarget } from './build.ts'

const START_TIMEOUT_MS = 180_000
/** Kafka Streams gives its tasks back in 20 s at most. */
const STOP_TIMEOUT_MS = 25_000

export interface EngineOptions {
  readonly brokers: string
  /** Logs and states of this machine. */
  readonly folder: string
  /** Instances of each job, or TaskManagers. */
  readonly instances: number
  /** Those that are there when it is left out. */
  readonly jobs?: readonly Job[]
  /** What KM0_SETTINGS_FILE and its variables say, as our own roles read it. */
  readonly pipelines: PipelineSettings
  /** KM0_ENGINE_*: docs/engines.md; KAFKA_*: docs/settings.md. */
  readonly environment: NodeJS.ProcessEnv
  readonly guard: Guard
}

/** An engine that runs: its processes by name, and how they are. */
export interface RunningEngine {
  /** Name and process id of each process. */
  readonly processes: ReadonlyMap<string, number>
  /** null when all is well, else what is not. */
  trouble(): Promise<string | null>
  stop(): Promise<void>
}

type Job = 'positions' | 'stock'
const JOBS: readonly Job[] = ['positions', 'stock']

/** Settings of a pipeline as the bundle takes them, and the epoch of its results: the first one of the log, one more for each version. */
function pipelineOf(job: Job, { pipelines, environment }: EngineOptions): { settings: string; epoch: string } {
  const { version, ...settings } = pipelines[job]
  const given = job === 'positions' ? environment.KM0_ENGINE_POSITIONS : environment.KM0_ENGINE_STOCK
  return { settings: given || JSON.stringify(settings), epoch: environment.KM0_ENGINE_EPOCH || String(version) }
}

/** Kafka's settings are read by Java from the environment, so no secret stands in an argument; it is `brokers` that is used. */
const javaEnvironment = ({ brokers, environment }: EngineOptions): NodeJS.ProcessEnv => ({
  ...environment,
  KAFKA_BROKERS: brokers,
  KAFKA_BROKERS_FILE: undefined,
})

async function startStreams(options: EngineOptions): Promise<RunningEngine> {
  const { folder, instances, guard, jobs = JOBS } = options
  const services = new Map<string, { service: Service; port: number }>()
  const taken = new Set<number>()
  const ask = (port: number) =>
    fetch(`http://127.0.0.1:${port}/metrics`).then(
      async (response) => (await response.text()).includes('km0_engine_running 1'),
      () => false,
    )
  const start = async (job: Job, number: number, port: number) => {
    const name = `${job}-${number}`
    const { settings, epoch } = pipelineOf(job, options)
    const service = await startService({
      name: `Kafka Streams ${name}`,
      command: 'java',
      args: [
        ...['-Xmx1g', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp'],
        ...[`${streamsTarget()}/classes:${streamsTarget()}/lib/*`, 'km0.streams.Main', job],
      ],
      environment: {
        ...javaEnvironment(options),
        KM0_ENGINE_BUNDLE: bundleFile(),
        KM0_ENGINE_EPOCH: epoch,
        [job === 'positions' ? 'KM0_ENGINE_POSITIONS' : 'KM0_ENGINE_STOCK']: settings,
        KM0_ENGINE_DIR: join(folder, 'state', name),
        KM0_ENGINE_HTTP_PORT: String(port),
      },
      logFile: join(folder, `${name}.log`),
      ready: () => ask(port),
      readyTimeoutMs: START_TIMEOUT_MS,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: STOP_TIMEOUT_MS,
      guard,
    })
    services.set(name, { service, port })
  }
  const stop = async () => {
    await Promise.all([...services.values()].map(({ service }) => service.stop()))
  }
  try {
    for (let number = 1; number <= instances; number += 1) {
      const ports = []
      for (const job of jobs) {
        const port = await freePort(undefined, taken)
        taken.add(port)
        ports.push(start(job, number, port))
      }
      await Promise.all(ports)
    }
  } catch (error) {
    await stop()
    throw error
  }
  return {
    processes: new Map([...services].map(([name, { service }]) => [name, service.pid])),
    async trouble() {
      for (const [name, { port }] of services)
        if (!(await ask(port))) return `${name} does not run its tasks: ${join(folder, `${name}.log`)}`
      return null
    },
    stop,
  }
}

const FLINK_CLASSES: Readonly<Record<Job, string>> = { positions: 'cat.km0.flink.PositionsJob', stock: 'cat.km0.flink.StockJob' }

async function startFlink(options: EngineOptions): Promise<RunningEngine> {
  const { folder, instances, environment, guard, jobs = JOBS } = options
  // A slot for each job in each TaskManager.
  const cluster = await startCluster({ folder, taskManagers: instances, slots: jobs.length, environment: javaEnvironment(options), guard })
  const { rest } = cluster
  const ids = new Map<Job, string>()
  // Where the last one was stopped; after a kill, the place before that: results that are there already are equal and change nothing.
  const placeFile = (job: Job) => join(folder, `${job}-stopped-at`)
  try {
    for (const job of jobs) {
      const { settings, epoch } = pipelineOf(job, options)
      const words = [`epoch=${epoch}`, `settings=${settings}`]
      if (job === 'positions' && environment.KM0_OUTAGE_AFTER_MS) words.push(`outage-after-ms=${environment.KM0_OUTAGE_AFTER_MS}`)
      if (job === 'stock' && environment.KM0_STOCK_IDLE_MS) words.push(`idle-ms=${environment.KM0_STOCK_IDLE_MS}`)
      const run = { jar: flinkJar(), mainClass: FLINK_CLASSES[job], parallelism: instances, words }
      const place = placeFile(job)
      ids.set(job, await rest.run(existsSync(place) ? { ...run, from: readFileSync(place, 'utf8') } : run))
    }
  } catch (error) {
    await cluster.stop()
    throw error
  }
  return {
    processes: new Map([
      ['jobmanager', cluster.jobManager.pid],
      ...[...cluster.taskManagers].map(([name, service]): [string, number] => [name, service.pid]),
    ]),
    async trouble() {
      for (const [job, id] of ids) {
        const state = await rest.jobState(id).catch((error: Error) => error.message)
        if (state !== 'RUNNING') return `the job ${job} is ${state}: ${rest.url}`
      }
      return null
    },
    async stop() {
      for (const [job, id] of ids) {
        // Without a place to go on from it begins again at the log's start.
        await rest.suspend(id).then(
          ({ path }) => writeFileSync(placeFile(job), path),
          (error: Error) => console.error(error.message.slice(0, 1_000)),
        )
      }
      await cluster.stop()
    },
  }
}

/** Starts a cluster of plain Java processes on 127.0.0.1 and waits until it works. Throws with its last log lines when it does not. */
export function startEngine(engine: Engine, options: EngineOptions): Promise<RunningEngine> {
  mkdirSync(options.folder, { recursive: true })
  return engine === 'flink' ? startFlink(options) : startStreams(options)
}
