// The whole platform as `npm start` runs it, in this process's hands: proxies between its parts, process ids, a disk that can be filled.
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Guard, startGuard } from '@km0/infra/embedded/guard'
import { freePort } from '@km0/infra/embedded/ports'
import type { Addresses, Part } from '@km0/infra/launcher/parts'
import { Platform } from '@km0/infra/launcher/platform'
import { takeLock } from '../../../infra/start/lock.mjs'
import { Disk } from './disk.ts'
import { authorizationFor } from './panel-key.ts'
import { signalFamily } from './processes.ts'
import type { Schedule, VanFault, WireName } from './schedule.ts'
import { Wire } from './wire.ts'

const STOP_WITHIN_MS = 20_000
const CATCH_UP = { minutes: 12, speed: 120 }
/** A part that was killed is back before it can be killed again. */
const PID_WITHIN_MS = 60_000
const JOURNAL_MIB = 4_096

export interface ChaosPlatformOptions {
  readonly root: string
  readonly seed: number
  readonly vans: number
  readonly schedule: Schedule
  /** Aborted when the start is to end. */
  readonly signal: AbortSignal
}

export class ChaosPlatform {
  readonly folder: string
  readonly disk: Disk
  readonly wires: Readonly<Record<WireName, Wire>>
  /** Where the fleet notes what the broker has acknowledged. */
  readonly journal: string
  readonly #options: ChaosPlatformOptions
  readonly #guard: Guard
  readonly #platform: Platform
  readonly #healthUrls = new Map<string, string>()
  #hopeless: string | null = null
  #url = ''
  #addresses: Addresses | null = null
  #authorization: { readonly authorization: string } | null = null

  private constructor(
    options: ChaosPlatformOptions,
    wires: Record<WireName, Wire>,
    ports: Record<'kafka' | 'postgres' | 'redis' | 'mqtt' | 'aside' | 'parts' | 'panel', number>,
  ) {
    this.#options = options
    this.wires = wires
    this.folder = mkdtempSync(join(tmpdir(), `km0-chaos-${options.seed}-`))
    this.journal = join(this.folder, 'journal.jsonl')
    // So that the commands for people find it.
    takeLock(this.folder)
    this.disk = new Disk(join(this.folder, 'checkpoints'))
    this.#guard = startGuard(STOP_WITHIN_MS)
    wires['bridge-kafka'].leadTo(ports.aside)
    this.#platform = new Platform({
      root: options.root,
      folder: this.folder,
      start: { help: false, demo: true, reset: false, yes: true, play: null, speed: '60', port: ports.panel, dataDir: this.folder },
      guard: this.#guard,
      say: (line) => this.#note(line),
      signal: options.signal,
      onHopeless: (reason) => {
        this.#hopeless = reason
      },
      services: { ports, kafka: { aside: { port: ports.aside, advertisedPort: wires['bridge-kafka'].port } } },
      firstPartPort: ports.parts,
      adjust: (parts) => this.#adjust(parts),
    })
  }

  /** Starts it. Resolves when the panel has shown a first position; rejects, with everything stopped, when it does not get there. */
  static async start(options: ChaosPlatformOptions): Promise<ChaosPlatform> {
    const taken = new Set<number>()
    // Ten apart: Kafka takes one more for its controller.
    const port = async () => {
      const free = await freePort(undefined, taken)
      for (let next = free - 10; next <= free + 10; next += 1) taken.add(next)
      return free
    }
    const wires = {
      'fleet-mqtt': await Wire.open(await port()),
      'bridge-mqtt': await Wire.open(await port()),
      'bridge-kafka': await Wire.open(await port()),
    }
    const ports = {
      ...{ kafka: await port(), postgres: await port(), redis: await port(), mqtt: await port() },
      ...{ aside: await port(), parts: await port(), panel: await port() },
    }
    const platform = new ChaosPlatform(options, wires, ports)
    try {
      platform.#url = await platform.#platform.start()
      return platform
    } catch (error) {
      await platform.close(true)
      throw error
    }
  }

  get addresses(): Addresses {
    if (this.#addresses === null) throw new Error('the platform has not been started')
    return this.#addresses
  }

  /** Of the panel, with a slash at its end. */
  get url(): string {
    return this.#url
  }

  /** Asks the panel, with a token of its own from the first time on. */
  async askPanel(path: string, withinMs: number): Promise<Response> {
    this.#authorization ??= await authorizationFor(this.addresses.databaseUrl)
    return fetch(`${this.#url}${path}`, { headers: this.#authorization, signal: AbortSignal.timeout(withinMs) })
  }

  healthUrlOf(part: string): string {
    const url = this.#healthUrls.get(part)
    if (url === undefined) throw new Error(`there is no part ${part}`)
    return url
  }

  /** Process of a part or service; waits for one that is being started again. */
  async pidOf(name: string): Promise<number> {
    const deadlineMs = performance.now() + PID_WITHIN_MS
    for (;;) {
      const pid = await this.#platform.pidOf(name)
      if (pid !== undefined) return pid
      if (this.#hopeless !== null) throw new Error(this.#hopeless)
      if (performance.now() > deadlineMs) throw new Error(`${name} does not run, and was not started again within ${PID_WITHIN_MS} ms`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  /** Sends a signal to a part or service and all below it. */
  async signal(name: string, signal: NodeJS.Signals): Promise<void> {
    signalFamily(await this.pidOf(name), signal)
  }

  /** Ends a part in order, for good. */
  stopPart(name: string): Promise<void> {
    return this.#platform.stopPart(name)
  }

  /** What the launcher says is for whoever looks for a cause. */
  #note(line: string): void {
    appendFileSync(join(this.folder, 'launcher.log'), `${new Date().toISOString()} ${line}\n`)
  }

  /** Stops everything; removes data and logs unless they are to be kept. */
  async close(keep: boolean): Promise<void> {
    this.disk.free()
    await this.#platform.stop(STOP_WITHIN_MS).catch((error: Error) => this.#note(error.message))
    await Promise.all(Object.values(this.wires).map((wire) => wire.close()))
    await this.#guard.close()
    this.disk.close()
    if (!keep) rmSync(this.folder, { recursive: true, force: true })
  }

  /** Parts with the proxies between them, the fleet of this run and the disk that can be filled. */
  #adjust(parts: readonly Part[]): Part[] {
    const { wires } = this
    return parts.map((part) => {
      const { KAFKA_BROKERS = '', MQTT_URL = '', DATABASE_URL = '', REDIS_URL = '' } = part.environment
      this.#addresses = { kafkaBrokers: KAFKA_BROKERS, mqttUrl: MQTT_URL, databaseUrl: DATABASE_URL, redisUrl: REDIS_URL }
      this.#healthUrls.set(part.name, part.healthUrl)
      const mqttPort = Number(new URL(MQTT_URL).port)
      wires['fleet-mqtt'].leadTo(mqttPort)
      wires['bridge-mqtt'].leadTo(mqttPort)
      const through = (wire: WireName) => `127.0.0.1:${wires[wire].port}`
      const environment = {
        ...part.environment,
        KM0_CHECKPOINT_DIR: this.disk.folder,
        ...(part.name === 'bridge' ? { MQTT_URL: `mqtt://${through('bridge-mqtt')}`, KAFKA_BROKERS: through('bridge-kafka') } : {}),
        ...(part.name === 'fleet' ? { MQTT_URL: `mqtt://${through('fleet-mqtt')}` } : {}),
        ...CHECKPOINTS,
      }
      const [maps = '', bundle = ''] = part.args
      if (part.name === 'fleet') return { ...part, environment, args: [maps, bundle, ...this.#fleetWords()] }
      // First of all, while no source has been found silent yet: its past would be late in a log whose clock stands at the present.
      if (part.name === 'stock') return { ...part, environment, args: [maps, bundle, ...this.#stockWords()], dependsOn: [] }
      return { ...part, environment }
    })
  }

  #stockWords(): string[] {
    const { seed } = this.#options
    return [
      ...['--products', '30', '--per-second', '20', '--seed', String(seed), '--state', join(this.folder, 'stock.json')],
      ...['--catch-up-minutes', String(CATCH_UP.minutes), '--recall', '20@60', '--recall', '20@420', '--campaign', '1200@300'],
    ]
  }

  #fleetWords(): string[] {
    const { seed, vans, schedule } = this.#options
    const at = ({ atS }: VanFault) => CATCH_UP.minutes * 60 + atS
    const { wrongClock, tunnels } = schedule
    return [
      ...['--vans', String(vans), '--seed', String(seed)],
      ...['--catch-up-minutes', String(CATCH_UP.minutes), '--speed', String(CATCH_UP.speed)],
      ...['--state', join(this.folder, 'clock.json'), '--journal', this.journal, '--journal-max-mib', String(JOURNAL_MIB)],
      ...['--fault', `clock:furgoneta-${wrongClock.van}:+86400/${wrongClock.lastsS}@${at(wrongClock)}`],
      ...tunnels.flatMap((tunnel) => ['--fault', `tunnel:furgoneta-${tunnel.van}:${tunnel.lastsS}@${tunnel.atS}`]),
    ]
  }
}

/** So short that a run sees many of them. */
const CHECKPOINTS = { KM0_CHECKPOINT_INTERVAL_MS: '3000' }
