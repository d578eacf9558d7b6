import {
  Counter,
  commonEnvironment,
  createLogger,
  environmentOrExit,
  Gauge,
  Health,
  Registry,
  Shutdown,
  serveOperations,
} from '@km0/runtime'
import { openMqttPublisher } from '@km0/transport/mqtt-publisher'
import { z } from 'zod'
import type { Outgoing } from '../messages/outgoing.ts'
import type { Publishing } from '../options.ts'
import { Journal } from './journal.ts'
import { Narrator } from './narrator.ts'
import { PublishWindow } from './window.ts'

/** People read what the fleet says; structured log lines are left to what goes wrong. */
const environment = commonEnvironment.pick({ MQTT_URL: true, KM0_HTTP_HOST: true }).extend({
  KM0_HTTP_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  KM0_LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('warn'),
})

/** From SIGTERM to the end. */
const GRACE_MS = 3_000
/** Of these, for acknowledgements that are still to come. */
const FLUSH_MS = 1_500
const COMPLAIN_EVERY_MS = 10_000
const BEHIND_IS_DEGRADED_MS = 10_000

/** What publishing needs, from the first connection to the ordered end. */
export interface Session {
  readonly window: PublishWindow
  readonly narrator: Narrator
  /** Aborts when the program is asked to stop. */
  readonly signal: AbortSignal
  /** To be called for every message handed to the window. */
  published(message: Outgoing, behindMs: number): void
  /** Adds something to do for every acknowledged message, in order. */
  onAcknowledged(listener: (message: Outgoing) => void): void
  /** Adds something to do at the end, when no acknowledgement is awaited any more. */
  onFlushed(listener: () => void): void
  /** Stops the program in order and ends the process. */
  end(code: number): Promise<void>
}

/** Opens a session. Ends the process with code 2 when the environment is wrong. */
export async function openSession(publishing: Publishing): Promise<Session> {
  const settings = environmentOrExit('fleet', environment)
  const log = createLogger('fleet', settings.KM0_LOG_LEVEL)
  const narrator = new Narrator((line) => process.stdout.write(`${line}\n`))
  const shutdown = new Shutdown(log, GRACE_MS)
  shutdown.listen()
  const stopping = new AbortController()
  const listeners: ((message: Outgoing) => void)[] = []
  const flushed: (() => void)[] = []
  const complain = complainer(narrator, settings.MQTT_URL)
  const publisher = openMqttPublisher({ url: settings.MQTT_URL, clientId: publishing.clientId, onError: complain })
  const window = new PublishWindow(publisher, publishing.windowMessages, (message) => {
    for (const listener of listeners) listener(message)
  })
  const instruments = new Instruments(window, () => publisher.connected())
  if (settings.KM0_HTTP_PORT !== undefined) {
    const { health, metrics } = instruments
    const server = await serveOperations({ host: settings.KM0_HTTP_HOST, port: settings.KM0_HTTP_PORT, health, metrics })
    shutdown.add('http', () => server.close())
  }
  const journal = publishing.journalPath === null ? null : new Journal(publishing.journalPath, publishing.journalMaxBytes)
  if (journal !== null) listeners.push((message) => journal.write(message))
  shutdown.add('publishing', async () => {
    stopping.abort()
    const left = await window.flush(AbortSignal.timeout(FLUSH_MS))
    if (left > 0) narrator.say(`${left} messages were not acknowledged and are given up`)
    for (const listener of flushed) listener()
    journal?.close()
    await publisher.close(left > 0)
  })
  return {
    window,
    narrator,
    signal: stopping.signal,
    published: (message, behindMs) => instruments.published(message, behindMs),
    onAcknowledged: (listener) => listeners.push(listener),
    onFlushed: (listener) => flushed.push(listener),
    end: (code) => shutdown.end(code),
  }
}

/** The client retries twice a second; people are told every ten seconds. */
function complainer(narrator: Narrator, url: string): (error: Error) => void {
  const place = new URL(url).host
  let toldMs = Number.NEGATIVE_INFINITY
  return (error) => {
    if (Date.now() - toldMs < COMPLAIN_EVERY_MS) return
    toldMs = Date.now()
    narrator.say(`the broker at ${place} cannot be reached (${error.message || error.name}); trying on`)
  }
}

class Instruments {
  readonly metrics = new Registry()
  readonly health = new Health()
  readonly #published: Counter<'kind'>
  readonly #faults: Counter<'kind'>
  #behindMs = 0

  constructor(window: PublishWindow, connected: () => boolean) {
    const registers = [this.metrics]
    this.#published = new Counter({
      name: 'km0_fleet_published_total',
      help: 'Messages handed to the broker.',
      labelNames: ['kind'],
      registers,
    })
    this.#faults = new Counter({ name: 'km0_fleet_faults_total', help: 'Messages with a fault.', labelNames: ['kind'], registers })
    this.#gauge('km0_fleet_in_flight_messages', 'Messages without acknowledgement.', () => window.inFlight)
    new Counter({
      name: 'km0_fleet_acknowledged_total',
      help: 'Messages that the broker has acknowledged.',
      registers,
      collect() {
        this.reset()
        this.inc(window.acknowledged)
      },
    })
    this.#gauge('km0_fleet_behind_seconds', 'Lag behind the own timetable.', () => this.#behindMs / 1000)
    this.health.register('mqtt', () => (connected() ? { status: 'ok' } : { status: 'down', detail: 'not connected' }))
    this.health.register('pace', () =>
      this.#behindMs < BEHIND_IS_DEGRADED_MS
        ? { status: 'ok' }
        : { status: 'degraded', detail: `${Math.round(this.#behindMs / 1000)} s behind its timetable` },
    )
  }

  published(message: Outgoing, behindMs: number): void {
    this.#behindMs = behindMs
    this.#published.inc({ kind: message.van === null ? 'clock' : 'position' })
    if (message.fault !== null) this.#faults.inc({ kind: message.fault })
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.metrics],
      collect() {
        this.set(read())
      },
    })
  }
}
