import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { TOPICS } from '@km0/contracts'
import type { Guard } from '../embedded/guard.ts'
import { freePort } from '../embedded/ports.ts'
import type { StartOptions } from '../start/arguments.mjs'
import { DATA_VERSION } from '../start/folders.mjs'
import { announce } from '../start/lock.mjs'
import { phase } from '../start/phases.mjs'
import { divideData, parseMaxDataBytes } from './budget.ts'
import { Child } from './child.ts'
import { openDataFolder } from './data-version.ts'
import { parseStreamHeapMib } from './heap.ts'
import { LogFile } from './log-file.ts'
import { startWaves, stopStages } from './order.ts'
import { PART_NAMES, type Part, parseEngine, partsTable, signInLinkFile } from './parts.ts'
import { prepareLog } from './prepare-log.ts'
import { untilUp, untilWell } from './ready.ts'
import { fillRegister, registerIsEmpty } from './register.ts'
import { secretsKeyOf } from './secrets-key.ts'
import { type ServiceName, type Services, type ServicesOptions, startPlatformServices } from './services.ts'

const FIRST_PART_PORT = 9_101
/** A part that crashes so often before everything was ready once will not get well by itself. */
const CRASHES_BEFORE_READY = 5
/** Without it, how to get a link is said instead. */
const LINK_WITHIN_MS = 10_000
const LOOK_EVERY_MS = 100
const SAY_WAITING_EVERY_MS = 10_000
/** So much of the time allowed for stopping is kept for the services. */
const SERVICES_STOP_MS = 4_000

export interface PlatformOptions {
  readonly root: string
  /** Data folder as the user named it, versions below. */
  readonly folder: string
  readonly start: StartOptions
  readonly guard: Guard
  readonly say: (line: string) => void
  /** Aborted when the platform is to stop: waiting ends. */
  readonly signal: AbortSignal
  readonly onHopeless: (reason: string) => void
  /** Of the services: ports and settings other than those of `npm start`. */
  readonly services?: Pick<ServicesOptions, 'ports' | 'kafka'>
  /** First port of the programs; the next free ones are taken. */
  readonly firstPartPort?: number
  /** Changes the table of parts before they are started. */
  readonly adjust?: (parts: readonly Part[]) => readonly Part[]
}

/** Everything that runs: services and parts. Made by `start`, ended by `stop`, which may be called at any moment. */
export class Platform {
  readonly #options: PlatformOptions
  readonly #children = new Map<Part, Child>()
  #services: Promise<Services> | null = null
  #wasReady = false
  #linkFile: string | null = null
  #secrets: Readonly<Record<string, string>> = {}

  constructor(options: PlatformOptions) {
    this.#options = options
  }

  /** Starts services, topics and parts in order. Resolves to the panel's address when all have done their work once. */
  async start(): Promise<string> {
    const { folder, guard, root, say, start } = this.#options
    const dataDir = openDataFolder(folder, DATA_VERSION)
    this.#linkFile = signInLinkFile(dataDir)
    rmSync(this.#linkFile, { force: true })
    this.#secrets = secretsKeyOf(dataDir, process.env)
    const logDir = join(folder, 'logs')
    const budget = divideData(parseMaxDataBytes(process.env.KM0_MAX_DATA_BYTES), Object.values(TOPICS))
    this.#services = startPlatformServices({
      dataDir,
      logDir,
      guard,
      brokerQueue: budget.brokerQueue,
      environment: process.env,
      say,
      ...this.#options.services,
    })
    const { addresses } = await this.#services
    this.#options.signal.throwIfAborted()
    announce(folder, addresses)
    // Limits are for the log under our folder; one that runs elsewhere has its own.
    await phase('create topics', () => prepareLog(addresses.kafkaBrokers, process.env.KAFKA_BROKERS ? {} : budget.topics, process.env))
    const panelPort = await freePort(start.port)
    if (panelPort !== start.port) say(`  port ${start.port} is busy, the panel listens on ${panelPort}`)
    const fleet = start.play === null ? (start.demo ? 'demo' : 'none') : { play: start.play, speed: start.speed }
    const ports = await partPorts(panelPort, this.#options.firstPartPort ?? FIRST_PART_PORT)
    const table = partsTable({
      root,
      dataDir,
      addresses,
      fleet,
      panelPort,
      retentionDays: budget.retentionDays,
      streamHeapMib: parseStreamHeapMib(process.env.KM0_STREAM_HEAP_MIB),
      engine: parseEngine(process.env.KM0_ENGINE),
      // A broker that runs elsewhere has its own limits; whoever names it may name them too.
      ...(process.env.MQTT_URL ? {} : { brokerQueue: budget.brokerQueue }),
      portOf: (name) => ports.get(name) ?? 0,
    })
    const parts = this.#options.adjust?.(table) ?? table
    const prepareFleet = async () => {
      if (fleet === 'demo' && registerIsEmpty(dataDir))
        await phase('fill the register', () => fillRegister({ root, dataDir, databaseUrl: addresses.databaseUrl }))
    }
    await this.#startParts(parts, logDir, prepareFleet)
    const url = `http://127.0.0.1:${panelPort}/`
    await phase(fleet === 'none' ? 'first health of everything' : 'first position on the panel', () =>
      this.#untilReady(parts, fleet !== 'none'),
    )
    this.#wasReady = true
    return url
  }

  /** The one-time link of the first administrator, which the panel leaves in a file; null when they have come in before. */
  async signInLink(): Promise<string | null> {
    const deadlineMs = performance.now() + LINK_WITHIN_MS
    while (this.#linkFile !== null && performance.now() < deadlineMs && !this.#options.signal.aborted) {
      if (existsSync(this.#linkFile)) return readFileSync(this.#linkFile, 'utf8').trim() || null
      await sleep(LOOK_EVERY_MS)
    }
    return null
  }

  async #startParts(parts: readonly Part[], logDir: string, prepareFleet: () => Promise<void>): Promise<void> {
    const { signal } = this.#options
    for (const wave of startWaves(parts)) {
      if (wave.some((part) => part.name === 'fleet')) await prepareFleet()
      signal.throwIfAborted()
      for (const part of wave) this.#startPart(part, logDir)
      await phase(`start ${wave.map((part) => part.name).join(', ')}`, () =>
        Promise.all(wave.map((part) => untilUp(part.healthUrl, signal))),
      )
    }
  }

  #startPart(part: Part, logDir: string): void {
    const { guard, root, say, onHopeless } = this.#options
    mkdirSync(part.environment.KM0_DATA_DIR ?? root, { recursive: true })
    const child = new Child({
      name: part.name,
      command: process.execPath,
      args: part.args,
      cwd: root,
      environment: { ...process.env, ...this.#secrets, ...part.environment },
      log: new LogFile(join(logDir, `${part.name}.log`)),
      mayEnd: part.mayEnd,
      stopTimeoutMs: part.stopTimeoutMs,
      guard,
      say,
      onCrash: (inARow) => {
        if (!this.#wasReady && inARow >= CRASHES_BEFORE_READY) onHopeless(`${part.name} crashed ${inARow} times`)
      },
      onHopeless,
    })
    this.#children.set(part, child)
    child.start()
  }

  async #untilReady(parts: readonly Part[], needsWork: boolean): Promise<void> {
    const { signal, say } = this.#options
    const wait = (name: string, address: string, work: boolean) =>
      untilWell(address, { needsWork: work, signal, sayEveryMs: SAY_WAITING_EVERY_MS, onWaiting: (what) => say(`… ${name}: ${what}`) })
    const lasting = parts.filter((part) => !part.mayEnd)
    await Promise.all(lasting.map(({ name, healthUrl }) => wait(name, healthUrl, needsWork && name === 'dashboard')))
  }

  /** Process of a part or service that was started here; undefined while it does not run. */
  async pidOf(name: string): Promise<number | undefined> {
    for (const [part, child] of this.#children) if (part.name === name) return child.state === 'running' ? child.pid : undefined
    return (await this.#services)?.pidOf(name as ServiceName)
  }

  /** Stops one part and keeps it stopped. */
  async stopPart(name: string): Promise<void> {
    for (const [part, child] of this.#children) if (part.name === name) await child.stop()
  }

  /** Stops parts stage by stage and then the services, within `timeoutMs`. What is left after it, the guard kills. */
  async stop(timeoutMs: number): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs - SERVICES_STOP_MS
    for (const stage of stopStages([...this.#children.keys()])) {
      const leftMs = Math.max(0, deadlineMs - performance.now())
      const stopping = stage.map((part) => this.#children.get(part)?.stop(Math.min(part.stopTimeoutMs, leftMs)))
      await phase(`stop ${stage.map((part) => part.name).join(', ')}`, () => Promise.all(stopping))
    }
    const services = await this.#services?.catch(() => null)
    if (services) await phase('stop services', () => services.stop())
  }
}

/** A free port for each part but the panel, no two the same. */
async function partPorts(panelPort: number, firstPort: number): Promise<Map<string, number>> {
  const taken = new Set([panelPort])
  const ports = new Map<string, number>()
  for (const [index, name] of PART_NAMES.entries()) {
    const port = await freePort(firstPort + index, taken)
    taken.add(port)
    ports.set(name, port)
  }
  return ports
}
