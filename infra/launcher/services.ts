import { join } from 'node:path'
import { startBroker } from '../embedded/broker.ts'
import type { Guard } from '../embedded/guard.ts'
import { startKafka } from '../embedded/kafka.ts'
import { startPostgres } from '../embedded/postgres.ts'
import type { Service } from '../embedded/process.ts'
import { lastLines } from '../embedded/process.ts'
import { startRedis } from '../embedded/redis.ts'
import { phase } from '../start/phases.mjs'
import { Backoff } from './backoff.ts'
import { rotateIfLarge } from './log-file.ts'
import type { Addresses } from './parts.ts'

const KAFKA_PORT = 9092
const POSTGRES_PORT = 5432
const REDIS_PORT = 6379
const MQTT_PORT = 1883
const CRASH_LINES = 12

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
}

export interface Services {
  readonly addresses: Addresses
  /** Stops what was started here; what runs elsewhere is left alone. */
  stop(): Promise<void>
}

/**
 * Starts Kafka, PostgreSQL, Redis and the MQTT broker, except those that the environment names elsewhere, and keeps them alive: one that
 * ends is said with its log and started again on the same port with backoff. Rejects when one does not start; the others are stopped then.
 */
export async function startPlatformServices(options: ServicesOptions): Promise<Services> {
  const { environment, guard, dataDir, logDir, say } = options
  const keepers: Keeper[] = []
  const place = (name: string) => {
    const logFile = join(logDir, `${name}.log`)
    rotateIfLarge(logFile)
    return { dataDir: join(dataDir, name), logFile, guard }
  }
  const embedded = async <One extends Embedded>(name: string, port: number, start: () => Promise<One>): Promise<One> => {
    const service = await phase(`start ${name}`, start)
    if (service.port !== port) say(`  port ${port} is busy, ${name} listens on ${service.port}`)
    keepers.push(new Keeper(name, service, say, (file) => join(logDir, file)))
    return service
  }
  const { KAFKA_BROKERS, DATABASE_URL, REDIS_URL, MQTT_URL } = environment
  const starts = await Promise.allSettled([
    KAFKA_BROKERS ||
      embedded('kafka', KAFKA_PORT, () => startKafka({ ...place('kafka'), port: KAFKA_PORT })).then((kafka) => kafka.brokers),
    DATABASE_URL ||
      embedded('postgres', POSTGRES_PORT, () => startPostgres({ ...place('postgres'), port: POSTGRES_PORT })).then(({ url }) => url),
    REDIS_URL || embedded('redis', REDIS_PORT, () => startRedis({ ...place('redis'), port: REDIS_PORT })).then(({ url }) => url),
    MQTT_URL ||
      embedded('mqtt', MQTT_PORT, () =>
        startBroker({
          ...place('mqtt'),
          port: MQTT_PORT,
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
  return { addresses: { kafkaBrokers, databaseUrl, redisUrl, mqttUrl }, stop }
}

/** Keeps one service alive until it is told to stop. */
class Keeper {
  readonly #name: string
  readonly #say: (line: string) => void
  readonly #logFile: (name: string) => string
  readonly #backoff = new Backoff()
  #service: Embedded
  #stopping = false
  #starting: Promise<void> | null = null

  constructor(name: string, service: Embedded, say: (line: string) => void, logFile: (name: string) => string) {
    this.#name = name
    this.#service = service
    this.#say = say
    this.#logFile = logFile
    this.#watch()
  }

  #watch(): void {
    const startedMs = performance.now()
    void this.#service.ended.then(({ code, signal }) => {
      if (this.#stopping) return
      const file = this.#logFile(`${this.#name}.log`)
      this.#say(`${this.#name} ended (${signal ?? `exit ${code}`}); the end of ${file}:\n${lastLines(file, CRASH_LINES)}`)
      this.#startAgain(performance.now() - startedMs)
    })
  }

  #startAgain(livedMs: number): void {
    const waitMs = this.#backoff.crashed(livedMs)
    this.#say(`${this.#name} is started again in ${waitMs / 1000} s`)
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
