import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Guard } from '../../../embedded/guard.ts'
import { freePort } from '../../../embedded/ports.ts'
import { type Service, startService } from '../../../embedded/process.ts'
import { HEAP_MIB, jobManagerSettings, OPENS, type Ports, taskManagerSettings, yamlOf } from './configuration.ts'
import { fetchFlink } from './fetch.ts'
import { FlinkRest } from './rest.ts'

const READY_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 20_000

export interface ClusterOptions {
  /** Logs, configuration, checkpoints and savepoints; what is in it outlives the cluster. */
  readonly folder: string
  readonly taskManagers: number
  /** Of each TaskManager. */
  readonly slots: number
  /** Of the web page and REST; any free one when it is left out. */
  readonly port?: number
  /** Of its processes; a job's main, which the JobManager runs, takes KAFKA_* from there. This process's when it is left out. */
  readonly environment?: NodeJS.ProcessEnv
  readonly guard?: Guard
}

export interface Cluster {
  readonly rest: FlinkRest
  readonly folder: string
  readonly jobManager: Service
  /** By name: tm-1, tm-2, …; what was killed stays until it is started again. */
  readonly taskManagers: ReadonlyMap<string, Service>
  /** Starts one more, or one again. Resolves when it has registered. */
  startTaskManager(name: string): Promise<void>
  stop(): Promise<void>
  /** kill -9 of all its processes. */
  kill9(): Promise<void>
}

const LOGGING = [
  'rootLogger.level = INFO',
  'rootLogger.appenderRef.out.ref = Out',
  'appender.out.name = Out',
  'appender.out.type = CONSOLE',
  'appender.out.layout.type = PatternLayout',
  'appender.out.layout.pattern = %d{HH:mm:ss,SSS} %-5p %c{1} %m%n',
  '',
].join('\n')

/** Starts a JobManager and TaskManagers as plain Java processes on 127.0.0.1 and waits until all slots are there. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { folder, slots, environment = process.env, guard } = options
  const lib = join(await fetchFlink(), 'lib', '*')
  const rest = await freePort(options.port)
  const rpc = await freePort(undefined, new Set([rest]))
  const ports: Ports = { rest, rpc, blob: await freePort(undefined, new Set([rest, rpc])) }
  const api = new FlinkRest(`http://127.0.0.1:${ports.rest}`)

  const start = (
    name: string,
    main: string,
    java: readonly string[],
    settings: Record<string, string | number | boolean>,
    ready: () => Promise<boolean>,
  ) => {
    const configuration = join(folder, name)
    for (const inside of [configuration, join(folder, `${name}-tmp`), join(folder, 'uploads')]) mkdirSync(inside, { recursive: true })
    writeFileSync(join(configuration, 'config.yaml'), yamlOf(settings))
    writeFileSync(join(configuration, 'log4j2.properties'), LOGGING)
    const log = `-Dlog4j2.configurationFile=${join(configuration, 'log4j2.properties')}`
    return startService({
      name: `Flink ${name}`,
      command: 'java',
      args: [...OPENS, ...java, log, `-Djava.io.tmpdir=${join(folder, `${name}-tmp`)}`, '-cp', lib, main, '-c', configuration],
      cwd: folder,
      environment,
      logFile: join(folder, `${name}.log`),
      ready,
      readyTimeoutMs: READY_TIMEOUT_MS,
      stopSignal: 'SIGTERM',
      stopTimeoutMs: STOP_TIMEOUT_MS,
      guard,
    })
  }

  const jobManager = await start(
    'jobmanager',
    'org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint',
    ['-Xmx768m', '-XX:+UseSerialGC', '-XX:MaxMetaspaceSize=256m'],
    jobManagerSettings(folder, ports),
    () => api.isUp(),
  )
  const taskManagers = new Map<string, Service>()
  const startTaskManager = async (name: string) => {
    const before = taskManagers.get(name)
    const started = await start(
      name,
      'org.apache.flink.runtime.taskexecutor.TaskManagerRunner',
      [`-Xmx${HEAP_MIB}m`, `-Xms${HEAP_MIB}m`, '-XX:+UseSerialGC', '-XX:MaxDirectMemorySize=192m', '-XX:MaxMetaspaceSize=256m'],
      taskManagerSettings(folder, ports, name, slots),
      async () => (await api.taskManagers()).some(({ id, freeSlots }) => id === name && (before === undefined || freeSlots > 0)),
    )
    taskManagers.set(name, started)
  }
  const all = () => [...taskManagers.values(), jobManager]
  const cluster: Cluster = {
    rest: api,
    folder,
    jobManager,
    taskManagers,
    startTaskManager,
    async stop() {
      for (const service of all()) await service.stop()
    },
    async kill9() {
      await Promise.all(all().map((service) => service.kill9()))
    },
  }
  try {
    for (let number = 1; number <= options.taskManagers; number += 1) await startTaskManager(`tm-${number}`)
  } catch (error) {
    await cluster.kill9()
    throw error
  }
  return cluster
}
