import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Guard } from '@km0/infra/embedded/guard'
import { freePort } from '@km0/infra/embedded/ports'
import { type Service, startService } from '@km0/infra/embedded/process'
import { type Cluster, startCluster } from '@km0/infra/engines/flink/cluster/cluster'
import { buildJob } from '@km0/infra/engines/flink/cluster/fetch'
import { cacheRoot } from '../../infra/embedded/cache.mjs'
import { buildStream, StreamProcess } from '../chaos/stream-process.ts'

const STREAMS = 'infra/engines/kafka-streams/target'
const START_TIMEOUT_MS = 180_000
const CATCH_UP_MS = 3_000

export interface HostOptions {
  readonly environment: Readonly<Record<string, string>>
  readonly brokers: string
  readonly folder: string
  readonly guard: Guard
}

/** Something that hosts the core. It is started, killed in the middle, stopped in the middle, started again. */
export interface Host {
  readonly name: string
  /** Stock is computed a second time, by another engine. */
  readonly again: boolean
  /** null when it can run here, else why not and what to do. */
  missing(): string | null
  prepare(): Promise<void>
  open(options: HostOptions): Running
}

export interface Running {
  start(): Promise<void>
  kill9(): Promise<void>
  /** In order, so that it may go on. */
  stop(): Promise<void>
}

const node: Host = {
  name: 'node',
  again: false,
  missing: () => null,
  prepare: async () => buildStream(),
  open({ environment, folder }) {
    let roles: StreamProcess[] = []
    const settings = {
      ...environment,
      KM0_DATA_DIR: folder,
      KM0_CHECKPOINT_INTERVAL_MS: '1000',
      KM0_STOCK_IDLE_MS: '3600000',
      KM0_LOG_LEVEL: 'info',
    }
    return {
      async start() {
        roles = await Promise.all(['positions', 'stock-shuffle', 'stock-windows'].map((role) => StreamProcess.start(role, settings)))
      },
      async kill9() {
        await Promise.all(roles.map((role) => role.kill9()))
      },
      async stop() {
        await Promise.all(roles.map((role) => role.stop()))
      },
    }
  },
}

const streamsMissing = () =>
  existsSync(`${STREAMS}/lib`) && existsSync('infra/engines/dist/km0-engine.js') ? null : 'not built: pnpm engine build kafka-streams'

/** Instances of both jobs of Kafka Streams; `more`: settings beside those of every start. */
function streamsJobs({ environment, folder, guard }: HostOptions): Running & { start(more?: Record<string, string>): Promise<void> } {
  let jobs: Service[] = []
  let starts = 0
  const start = async (job: string, more: Record<string, string>) => {
    const port = await freePort()
    return startService({
      name: `Kafka Streams ${job}`,
      command: 'java',
      args: [
        ...['-Xmx1g', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', `${STREAMS}/classes:${STREAMS}/lib/*`],
        ...['km0.streams.Main', job],
      ],
      environment: {
        ...process.env,
        ...environment,
        KM0_ENGINE_DIR: join(folder, `${job}-${starts}`),
        KM0_ENGINE_EPOCH: '1',
        KM0_ENGINE_SNAPSHOT_MS: '1500',
        KM0_ENGINE_HTTP_PORT: String(port),
        KM0_STOCK_IDLE_MS: '3600000',
        ...more,
      },
      logFile: join(folder, `${job}.log`),
      ready: () =>
        fetch(`http://127.0.0.1:${port}/metrics`).then(
          async (response) => (await response.text()).includes('km0_engine_running 1'),
          () => false,
        ),
      readyTimeoutMs: START_TIMEOUT_MS,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: 30_000,
      guard,
    })
  }
  return {
    async start(more: Record<string, string> = {}) {
      starts += 1
      // One after the other: two that look for a free port at once may find the same.
      jobs = [await start('positions', more)]
      jobs.push(await start('stock', more))
    },
    async kill9() {
      await Promise.all(jobs.map((job) => job.kill9()))
    },
    async stop() {
      await Promise.all(jobs.map((job) => job.stop()))
    },
  }
}

const kafkaStreams: Host = {
  name: 'kafka-streams',
  again: false,
  missing: streamsMissing,
  prepare: async () => undefined,
  open: streamsJobs,
}

/** A running job that moves: what our own roles have begun goes on in Kafka Streams, positions from a savepoint of ours, stock by replay. */
const moved: Host = {
  name: 'node-to-kafka-streams',
  again: true,
  missing: streamsMissing,
  async prepare() {
    buildStream()
    execFileSync(process.execPath, ['infra/build.mjs', 'cli/src/km0'], { stdio: 'inherit' })
  },
  open(options) {
    const { environment, folder } = options
    const ours = node.open(options)
    const theirs = streamsJobs(options)
    let seed: Record<string, string> | null = null
    const km0 = (...words: string[]) =>
      execFileSync(process.execPath, ['packages/cli/dist/km0.js', 'savepoint', ...words, '--checkpoints', join(folder, 'checkpoints')], {
        encoding: 'utf8',
        env: { ...process.env, ...environment },
      })
    return {
      start: () => (seed === null ? ours.start() : theirs.start(seed)),
      kill9: () => (seed === null ? ours.kill9() : theirs.kill9()),
      async stop() {
        if (seed !== null) return theirs.stop()
        // A job that has not begun each partition has no savepoint yet: as it says itself, it is to go on first.
        for (const lastMs = performance.now() + START_TIMEOUT_MS; ; await sleep(CATCH_UP_MS)) {
          await ours.stop()
          try {
            km0('create', 'moving')
            break
          } catch (error) {
            if (performance.now() > lastMs) throw error
          }
          await ours.start()
        }
        const [, states = '', epoch = '', settings = ''] =
          /^KM0_ENGINE_SEED=(\S+) KM0_ENGINE_EPOCH=(\d+) KM0_ENGINE_POSITIONS='(.*)'$/m.exec(
            km0('states', 'moving', join(folder, 'states')),
          ) ?? []
        seed = { KM0_ENGINE_SEED: states, KM0_ENGINE_EPOCH: epoch, KM0_ENGINE_POSITIONS: settings }
      },
    }
  },
}

let flinkJar = ''
const FLINK_CLASSES = ['cat.km0.flink.PositionsJob', 'cat.km0.flink.StockJob']

const flink: Host = {
  name: 'flink',
  again: false,
  missing() {
    return existsSync(join(cacheRoot(), 'flink-2.3.0')) ? null : 'not fetched: pnpm engine build flink'
  },
  async prepare() {
    flinkJar = await buildJob()
  },
  open({ brokers, folder, guard }) {
    let cluster: Cluster | undefined
    let jobs = new Map<string, string>()
    const from = new Map<string, string>()
    const each = async (todo: (mainClass: string, job: string, rest: Cluster['rest']) => Promise<void>) => {
      if (cluster !== undefined) for (const [mainClass, job] of jobs) await todo(mainClass, job, cluster.rest)
    }
    return {
      async start() {
        cluster = await startCluster({ folder, taskManagers: 1, slots: 2 * FLINK_CLASSES.length, guard })
        jobs = new Map()
        for (const mainClass of FLINK_CLASSES) {
          const words = [`brokers=${brokers}`, 'delivery=exactly-once', 'checkpoint-ms=1000', 'epoch=1']
          if (mainClass.endsWith('StockJob')) words.push('idle-ms=3600000')
          const run = { jar: flinkJar, mainClass, parallelism: 2, words }
          const place = from.get(mainClass)
          jobs.set(mainClass, await cluster.rest.run(place === undefined ? run : { ...run, from: place }))
        }
      },
      async kill9() {
        // The whole cluster is lost; what is kept of each job is its newest checkpoint.
        await each(async (mainClass, job, rest) => {
          let path: string | null = null
          while (path === null) {
            path = (await rest.checkpoints(job)).path
            await sleep(200)
          }
          from.set(mainClass, path)
        })
        await cluster?.kill9()
      },
      async stop() {
        await each(async (mainClass, job, rest) => {
          from.set(mainClass, (await rest.suspend(job)).path)
        })
        await cluster?.stop()
      },
    }
  },
}

export const HOSTS: readonly Host[] = [node, kafkaStreams, flink, moved]
