import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Broker, BrokerOptions } from './broker.ts'
import { freePort } from './ports.ts'
import { isBrokerReady } from './probe.ts'
import { startService } from './process.ts'

export type MosquittoOptions = Omit<BrokerOptions, 'username' | 'password'> & {
  /** Program file. Absent: as `findMosquitto` finds it. */
  readonly program?: string | undefined
  /** Seconds between two saves of sessions and queues; what was acknowledged since the last one is lost by kill -9, nothing by SIGTERM. Default 5. */
  readonly autosaveSeconds?: number | undefined
}

export const DEFAULT_AUTOSAVE_SECONDS = 5
const MIB = 1024 * 1024
/** Debian puts it where a user's PATH may not look. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/sbin']

/** The program file of mosquitto: KM0_MOSQUITTO, else the first on PATH; null when there is none. */
export function findMosquitto(environment: NodeJS.ProcessEnv): string | null {
  if (environment.KM0_MOSQUITTO) return environment.KM0_MOSQUITTO
  const folders = [...(environment.PATH ?? '').split(delimiter), ...MORE_FOLDERS].filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, 'mosquitto')).find(isProgram) ?? null
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Text of mosquitto.conf. Both limits matter: by default a session keeps 1,000 messages, which are 36 s of the fleet. */
export function mosquittoConfiguration(options: MosquittoOptions, port: number): string {
  const lines = {
    listener: `${port} 127.0.0.1`,
    allow_anonymous: true,
    persistence: true,
    persistence_location: `${join(options.dataDir, 'sessions')}/`,
    autosave_interval: options.autosaveSeconds ?? DEFAULT_AUTOSAVE_SECONDS,
    max_queued_messages: options.maxQueuedMessages ?? 1_000_000,
    max_queued_bytes: options.maxQueuedBytes ?? 256 * MIB,
    max_inflight_messages: options.maxInflightMessages ?? 1_000,
    max_packet_size: options.maxPacketBytes ?? 8 * MIB,
    log_dest: 'stderr',
    log_timestamp_format: '%Y-%m-%dT%H:%M:%S',
  }
  const types = ['error', 'warning', 'notice'].map((type) => `log_type ${type}\n`)
  // As root it would become another user, who may not write below the data folder.
  const user = process.getuid?.() === 0 ? ['user root\n'] : []
  return [...user, ...Object.entries(lines).map(([key, value]) => `${key} ${value}\n`), ...types].join('')
}

/** Starts mosquitto on 127.0.0.1 with sessions, queues and retained messages under `dataDir`. Rejects when there is none on this machine. */
export async function startMosquitto(options: MosquittoOptions): Promise<Broker> {
  const program = options.program ?? findMosquitto(process.env)
  if (program === null) throw new Error('there is no mosquitto on PATH: install it, name it in KM0_MOSQUITTO, or use the embedded broker')
  const port = await freePort(options.port)
  mkdirSync(join(options.dataDir, 'sessions'), { recursive: true, mode: 0o700 })
  const configuration = join(options.dataDir, 'mosquitto.conf')
  writeFileSync(configuration, mosquittoConfiguration(options, port))
  const service = await startService({
    name: 'mosquitto',
    command: program,
    args: ['-c', configuration],
    logFile: options.logFile ?? join(options.dataDir, 'mosquitto.log'),
    ready: () => isBrokerReady(port),
    readyTimeoutMs: 30_000,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 10_000,
    guard: options.guard,
  })
  return { ...service, port, url: `mqtt://127.0.0.1:${port}`, restart: () => startMosquitto({ ...options, port }) }
}
