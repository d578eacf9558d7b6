import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Guard } from './guard.ts'
import { repositoryRoot } from './paths.ts'
import { freePort } from './ports.ts'
import { isBrokerReady } from './probe.ts'
import { type Service, startService } from './process.ts'

const run = promisify(execFile)

export interface BrokerOptions {
  readonly dataDir: string
  readonly port?: number | undefined
  readonly logFile?: string | undefined
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Messages kept for one session; default 1,000,000. */
  readonly maxQueuedMessages?: number | undefined
  /** Bytes kept for one session; default 256 MiB. */
  readonly maxQueuedBytes?: number | undefined
  /** Unacknowledged messages on one connection; default 2,000. */
  readonly maxInflightMessages?: number | undefined
  /** Default 8 MiB. */
  readonly maxPacketBytes?: number | undefined
  readonly guard?: Guard | undefined
}

export interface Broker extends Service {
  readonly url: string
  readonly port: number
  restart(): Promise<Broker>
}

/** The bundle, built when it is missing or older than its sources (`npm start` and `npm test` have built it before). */
async function brokerBundle(): Promise<string> {
  const root = repositoryRoot()
  const bundle = join(root, 'infra', 'dist', 'broker.js')
  const folder = join(root, 'infra', 'embedded')
  const sources = [join(folder, 'broker-main.ts'), ...readdirSync(join(folder, 'broker')).map((name) => join(folder, 'broker', name))]
  const newestMs = Math.max(...sources.map((file) => statSync(file).mtimeMs))
  if (!existsSync(bundle) || statSync(bundle).mtimeMs < newestMs) {
    await run(process.execPath, [join(root, 'infra', 'build.mjs'), 'broker-main'], { cwd: root })
  }
  return bundle
}

/** Starts the MQTT broker on 127.0.0.1 with sessions, queues and retained messages under `dataDir`. */
export async function startBroker(options: BrokerOptions): Promise<Broker> {
  const bundle = await brokerBundle()
  const port = await freePort(options.port)
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const settings = {
    KM0_BROKER_PORT: port,
    KM0_BROKER_DIR: join(options.dataDir, 'journal'),
    KM0_BROKER_USERNAME: options.username,
    KM0_BROKER_PASSWORD: options.password,
    KM0_BROKER_MAX_QUEUED_MESSAGES: options.maxQueuedMessages,
    KM0_BROKER_MAX_QUEUED_BYTES: options.maxQueuedBytes,
    KM0_BROKER_MAX_INFLIGHT_MESSAGES: options.maxInflightMessages,
    KM0_BROKER_MAX_PACKET_BYTES: options.maxPacketBytes,
  }
  const set = Object.entries(settings).filter(([, value]) => value !== undefined)
  const service = await startService({
    name: 'MQTT broker',
    command: process.execPath,
    args: ['--enable-source-maps', bundle],
    environment: { ...process.env, ...Object.fromEntries(set.map(([key, value]) => [key, String(value)])) },
    logFile: options.logFile ?? join(options.dataDir, 'broker.log'),
    ready: () => isBrokerReady(port),
    readyTimeoutMs: 30_000,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    guard: options.guard,
  })
  return { ...service, port, url: `mqtt://127.0.0.1:${port}`, restart: () => startBroker({ ...options, port }) }
}
