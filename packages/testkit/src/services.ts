import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Broker, type BrokerOptions, startBroker } from '@km0/infra/embedded/broker'
import { startGuard } from '@km0/infra/embedded/guard'
import { type Kafka, type KafkaOptions, startKafka } from '@km0/infra/embedded/kafka'
import { startMosquitto } from '@km0/infra/embedded/mosquitto'
import { type ObjectStoreOptions, type ObjectStoreServer, startObjectStore } from '@km0/infra/embedded/object-store'
import { type Postgres, type PostgresOptions, startPostgres } from '@km0/infra/embedded/postgres'
import { type Redis, type RedisOptions, startRedis } from '@km0/infra/embedded/redis'

type Wanted<Options> = boolean | Partial<Options>

/** `true`, or options of the service's starter (`infra/embedded`), for each service that the test needs. */
export interface ServicesWanted {
  readonly kafka?: Wanted<KafkaOptions>
  readonly postgres?: Wanted<PostgresOptions>
  readonly redis?: Wanted<RedisOptions>
  readonly mqtt?: Wanted<BrokerOptions>
  /** Built with Go at the first use, which takes minutes: for proofs only. */
  readonly s3?: Wanted<ObjectStoreOptions>
}

type Started<Wish extends ServicesWanted, Key extends keyof ServicesWanted, Service> = Wish[Key] extends true | object
  ? Service
  : Service | undefined

export interface TestServices<Wish extends ServicesWanted = ServicesWanted> {
  /** Replaced by `restart`; read it anew after one. */
  kafka: Started<Wish, 'kafka', Kafka>
  postgres: Started<Wish, 'postgres', Postgres>
  redis: Started<Wish, 'redis', Redis>
  mqtt: Started<Wish, 'mqtt', Broker>
  s3: Started<Wish, 's3', ObjectStoreServer>
  /** KAFKA_BROKERS, DATABASE_URL, REDIS_URL, MQTT_URL, KM0_CHECKPOINT* of what was started, for programs under test. */
  readonly environment: Readonly<Record<string, string>>
  /** Temporary folder of this set, removed by `stop`; room for checkpoints and the like. */
  readonly dataDir: string
  /** Starts a service again after its `stop()` or `kill9()`, on the same port and data. */
  restart(name: keyof ServicesWanted): Promise<void>
  stop(): Promise<void>
}

const asOptions = <Options>(wish: Wanted<Options> | undefined): Partial<Options> | null =>
  wish === true ? {} : typeof wish === 'object' ? wish : null

/** Settings of programs under test that keep their checkpoints in the object store. */
function checkpointsIn({ port, bucket, keyId, secret }: ObjectStoreServer): Record<string, string> {
  return {
    KM0_CHECKPOINTS: `s3://${bucket}/states`,
    KM0_CHECKPOINT_S3_ENDPOINT: `127.0.0.1:${port}`,
    KM0_CHECKPOINT_S3_TLS: 'false',
    KM0_CHECKPOINT_S3_KEY_ID: keyId,
    KM0_CHECKPOINT_S3_SECRET: secret,
  }
}

/**
 * Starts real services (KM0_BROKER=mosquitto: with that as MQTT broker) on random ports of 127.0.0.1 with data in a temporary folder. Call `stop()` in afterAll;
 * when the test process dies without it, a guard process stops the services and removes the folder.
 */
export async function startServices<const Wish extends ServicesWanted>(wish: Wish): Promise<TestServices<Wish>> {
  const guard = startGuard(0)
  const dataDir = await mkdtemp(join(tmpdir(), 'km0-test-'))
  guard.removeAfterwards(dataDir)
  const inside = (name: string) => ({ dataDir: join(dataDir, name), guard })
  const [kafka, postgres, redis, mqtt] = [asOptions(wish.kafka), asOptions(wish.postgres), asOptions(wish.redis), asOptions(wish.mqtt)]
  const s3 = asOptions(wish.s3)
  // The same tests on another broker.
  const startMqtt = process.env.KM0_BROKER === 'mosquitto' ? startMosquitto : startBroker
  const results = await Promise.allSettled([
    kafka && startKafka({ ...inside('kafka'), heapMib: 384, ...kafka }),
    postgres && startPostgres({ ...inside('postgres'), fsync: false, ...postgres }),
    redis && startRedis({ ...inside('redis'), ...redis }),
    mqtt && startMqtt({ ...inside('mqtt'), ...mqtt }),
    s3 && startObjectStore({ ...inside('s3'), ...s3 }),
  ])
  const failure = results.find((result) => result.status === 'rejected')
  if (failure) {
    await guard.close()
    throw failure.reason
  }
  const [startedKafka, startedPostgres, startedRedis, startedMqtt, startedS3] = results.map((result) =>
    result.status === 'fulfilled' ? (result.value ?? undefined) : undefined,
  ) as [Kafka?, Postgres?, Redis?, Broker?, ObjectStoreServer?]
  const environment = Object.entries({
    KAFKA_BROKERS: startedKafka?.brokers,
    DATABASE_URL: startedPostgres?.url,
    REDIS_URL: startedRedis?.url,
    MQTT_URL: startedMqtt?.url,
    ...(startedS3 === undefined ? {} : checkpointsIn(startedS3)),
  }).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const services = {
    kafka: startedKafka,
    postgres: startedPostgres,
    redis: startedRedis,
    mqtt: startedMqtt,
    s3: startedS3,
    dataDir,
    environment: Object.fromEntries(environment),
    async restart(name: keyof ServicesWanted) {
      const running = services[name]
      if (running === undefined) throw new Error(`${name} was not started`)
      Object.assign(services, { [name]: await running.restart() })
    },
    async stop() {
      await Promise.all([services.kafka, services.postgres, services.redis, services.mqtt, services.s3].map((service) => service?.stop()))
      await guard.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
  return services as TestServices<Wish>
}
