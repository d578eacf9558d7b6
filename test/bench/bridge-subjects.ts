import { type ChildProcess, spawn } from 'node:child_process'
import { createWriteStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TOPICS } from '@km0/contracts'
import { cacheRoot } from '../../infra/embedded/cache.mjs'

/** Where a bridge finds its two services. */
export interface Ends {
  readonly mqttPort: number
  readonly brokers: string
  /** Its folder, for a log. */
  readonly dir: string
}

export interface BridgeSubject {
  readonly name: string
  readonly version?: string
  readonly start: (ends: Ends) => ChildProcess
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const TELEGRAF = join(cacheRoot(), 'peers', 'telegraf', 'telegraf')

function run(command: string, args: readonly string[], environment: Readonly<Record<string, string>>, dir: string): ChildProcess {
  const child = spawn(command, args, { cwd: root, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'] })
  const log = createWriteStream(join(dir, 'bridge.log'), { flags: 'a' })
  child.stdout?.pipe(log, { end: false })
  child.stderr?.pipe(log, { end: false })
  return child
}

/** Our bridge as users run it, with its own defaults. */
const OURS: BridgeSubject = {
  name: 'ours',
  start: ({ mqttPort, brokers, dir }) =>
    run(
      process.execPath,
      ['apps/bridge/dist/main.js'],
      { MQTT_URL: `mqtt://127.0.0.1:${mqttPort}`, KAFKA_BROKERS: brokers, KM0_BRIDGE_SETTLE_MS: '0' },
      dir,
    ),
}

const TELEGRAF_SUBJECT: BridgeSubject = {
  name: 'telegraf',
  version: '1.37.2',
  start: ({ mqttPort, brokers, dir }) =>
    run(
      TELEGRAF,
      ['--config', fileURLToPath(new URL('peers/telegraf/telegraf.conf', import.meta.url))],
      {
        ...{ MQTT_PORT: String(mqttPort), KAFKA_PORT: brokers.split(':').at(-1) ?? '', TOPIC: TOPICS.positions.name },
        ...{ CLIENT_ID: 'telegraf', MQTT_FILTER: 'km0/repartidors/+/posicio', FLUSH: '2ms', BATCH: '1000', IDEMPOTENT: 'true' },
      },
      dir,
    ),
}

/** Ours, and the peer when it is asked for; null when `pnpm bench:setup` could not get it here. */
export function bridgeSubjects(withPeers: boolean): BridgeSubject[] | null {
  if (!withPeers) return [OURS]
  return existsSync(TELEGRAF) ? [OURS, TELEGRAF_SUBJECT] : null
}
