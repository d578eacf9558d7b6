import { join } from 'node:path'
import { type BrokerOptions, startBroker } from '../embedded/broker.ts'
import type { Guard } from '../embedded/guard.ts'
import { type KafkaOptions, startKafka } from '../embedded/kafka.ts'
import { startMosquitto } from '../embedded/mosquitto.ts'
import { startPostgres } from '../embedded/postgres.ts'
import type { Service } from '../embedded/process.ts'
import { lastLines } from '../embedded/process.ts'
import { startRedis } from '../embedded/redis.ts'
import { phase } from '../start/phases.mjs'
import { Backoff } from './backoff.ts'
import { rotateIfLarge } from './log-file.ts'
import type { Addresses } from './parts.ts'

/** Where each service listens unless something else does. */
const PORTS = { kafka: 9092, postgres: 5432, redis: 6379, mqtt: 1883 }
/** Values of KM0_BROKER. */
const BROKERS = { embedded: startBroker, mosquitto: startMosquitto }
const CRASH_LINES = 12

export type ServiceName = keyof typeof PORTS

/** What all four have in common once they run. */
interface Embedded extends Service {
  readonly port: number
  restart(): Promise<Embedded>
}

export interface ServicesOptions {
  readonly dataDir: string
  readonly logDir: string
  readonly guard: Guard
  readonly brokerQueue: { readonly messages: number; readonly bytes: number }
  readonly environment: NodeJS.ProcessEnv
  readonly say: (line: string) => void
  /** Default: the ports that everybody knows. The next free one is taken where one is busy. */
  readonly ports?: Readonly<Record<ServiceName, number>> | undefined
  readonly kafka?: Pick<KafkaOptions, 'aside' | 'heapMib'> | undefined
}

export interface Services {
  readonly addresses: Addresses
  /** Process of a service that was started here; undefined while it does not run. */
  pidOf(name: ServiceName): number | undefined
  /** Stops what was started here; what runs elsewhere is left alone. */
  stop(): Promise<void>
}

/**
 * Starts Kafka, PostgreSQL, Redis and the MQTT broker, except those that the environment names elsewhere, and keeps them alive: one that
 * ends is said with its log and started again on the same port with backoff. Rejects when one does not start; the others are stopped then.
 */
export async function startPlatformServices(options: ServicesOptions): Promise<Services> {
  const { environment, guard, dataDir, logDir, say } = options
  const ports = options.ports ?? PORTS
  const startMqtt = brokerOf(environment)
  const keepers: Keeper[] = []
  const place = (name: string) => {
    const logFile = join(logDir, `${name}.log`)
    rotateIfLarge(logFile)
    return { dataDir: join(dataDir, name), logFile, guard }
  }
  const embedded = async <One extends Embedded>(name: ServiceName, start: () => Promise<One>): Promise<One> => {
    const port = ports[name]
    const service = await phase(`start ${name}`, start)
    if (service.port !== port) say(`  port ${port} is busy, ${name} listens on ${service.port}`)
    keepers.push(new Keeper(name, service, say, (file) => join(logDir, file)))
    return service
  }
  const { KAFKA_BROKERS, DATABASE_URL, REDIS_URL, MQTT_URL } = environment
  const starts = await Promise.allSettled([
    KAFKA_BROKERS ||
      embedded('kafka', () => startKafka({ ...place('kafka'), ...options.kafka, port: ports.kafka })).then(({ brokers }) => brokers),
    DATABASE_URL || embedded('postgres', () => startPostgres({ ...place('postgres'), port: ports.postgres })).then(({ url }) => url),
    REDIS_URL || embedded('redis', () => startRedis({ ...place('redis'), port: ports.redis })).then(({ url }) => url),
    MQTT_URL ||
      embedded('mqtt', () =>
        startMqtt({
          ...place('mqtt'),
          port: ports.mqtt,
          maxQueuedMessages: options.brokerQueue.messages,
          maxQueuedBytes: options.brokerQueue.bytes,
        }),
      ).then(({ url }) => url),
  ])
  const stop = async () => {
    await Promise.all(keepers.map((keeper) => keeper.stop()))
  }
  const failure = starts.find((start) => start.status === 'rejected')
  if (failure) {
    await stop()
    throw failure.reason
  }
  const [kafkaBrokers, databaseUrl, redisUrl, mqttUrl] = starts.map((start) => (start.status === 'fulfilled' ? start.value : '')) as [
    string,
    string,
    string,
    string,
  ]
  const pidOf = (name: ServiceName) => keepers.find((keeper) => keeper.name === name)?.pid
  return { addresses: { kafkaBrokers, databaseUrl, redisUrl, mqttUrl }, pidOf, stop }
}

/** The broker that KM0_BROKER names. Throws when it names none of ours. */
function brokerOf({ KM0_BROKER }: NodeJS.ProcessEnv): (options: BrokerOptions) => ReturnType<typeof startBroker> {
  const known = Object.entries(BROKERS).find(([name]) => name === (KM0_BROKER || 'embedded'))
  if (known === undefined) throw new Error(`KM0_BROKER is one of ${Object.keys(BROKERS).join(', ')}, not ${KM0_BROKER}`)
  return known[1]
}

/** Keeps one service alive until it is told to stop. */
class Keeper {
  readonly name: ServiceName
  readonly #say: (line: string) => void
  readonly #logFile: (name: string) => string
  readonly #backoff = new Backoff()
  #service: Embedded
  #stopping = false
  #isUp = false
  #starting: Promise<void> | null = null

  constructor(name: ServiceName, service: Embedded, say: (line: string) => void, logFile: (name: string) => string) {
    this.name = name
    this.#service = service
    this.#say = say
    this.#logFile = logFile
    this.#watch()
  }

  get pid(): number | undefined {
    return this.#isUp ? this.#service.pid : undefined
  }

  #watch(): void {
    const startedMs = performance.now()
    this.#isUp = true
    void this.#service.ended.then(({ code, signal }) => {
      this.#isUp = false
      if (this.#stopping) return
      const file = this.#logFile(`${this.name}.log`)
      this.#say(`${this.name} ended (${signal ?? `exit ${code}`}); the end of ${file}:\n${lastLines(file, CRASH_LINES)}`)
      this.#startAgain(performance.now() - startedMs)
    })
  }

  #startAgain(livedMs: number): void {
    const waitMs = this.#backoff.crashed(livedMs)
    this.#say(`${this.name} is started again in ${waitMs / 1000} s`)
    const timer = setTimeout(() => {
      if (this.#stopping) return
      this.#starting = this.#service.restart().then(
        (service) => {
          this.#service = service
          this.#starting = null
          this.#watch()
        },
        (error: Error) => {
          this.#starting = null
          this.#say(error.message)
          this.#startAgain(0)
        },
      )
    }, waitMs)
    timer.unref()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    await this.#starting
    await this.#service.stop()
  }
}
