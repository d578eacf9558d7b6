import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { TOPICS } from '@km0/contracts'
import { readPipelineSettings } from '@km0/contracts/pipeline-settings-file'
import { startGuard } from '@km0/infra/embedded/guard'
import { findMosquitto } from '@km0/infra/embedded/mosquitto'
import { freePort } from '@km0/infra/embedded/ports'
import { type Service, startService } from '@km0/infra/embedded/process'
import { startCluster } from '@km0/infra/engines/flink/cluster/cluster'
import { type Engine, flinkJar, missingOf } from '@km0/infra/engines/host/build'
import { type RunningEngine, startEngine } from '@km0/infra/engines/host/running'
import { openLake } from '@km0/lake'
import { commonEnvironment, parseEnvironment } from '@km0/runtime'
import { openPgPool } from '@km0/serving/pool'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, openLog } from '@km0/transport'
import { openMqttInput } from '@km0/transport/mqtt-input'
import { openMqttPublisher } from '@km0/transport/mqtt-publisher'
import { openQueue } from '@km0/transport/queue'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lakeMissing, lakeSettings } from '../adapters/lake-folders.ts'

/**
 * Each service once, for real: certificates by infra/certificates.sh, settings as in docs/settings.md, our own clients. With the right
 * authority and password it works; another authority, or a wrong password, is refused.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'km0-tls-'))
const [right, other] = [join(folder, 'right'), join(folder, 'other')]
/** With what an address must escape. */
const PASSWORD = 'right:@100%/sure?'
const ports = { kafka: 0, redis: 0, mqtt: 0, mqttCertificate: 0 }
let services: TestServices<{ kafka: object; postgres: object; redis: object }>
let mosquitto: Service

type Settings = Record<string, string>
const secret = (name: string, text: string) => {
  writeFileSync(join(folder, name), `${text}\n`, { mode: 0o600 })
  return join(folder, name)
}
/** Settings of one service, as the environment has them: password in a file. */
const settingsOf = (service: string, change: Settings = {}): Settings => ({
  [`${service}_CA_FILE`]: join(right, 'ca.pem'),
  [`${service}_USERNAME`]: 'km0',
  [`${service}_PASSWORD_FILE`]: secret(service, PASSWORD),
  ...change,
})
function promised<T>() {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: Error) => void = () => undefined
  const promise = new Promise<T>((take, refuse) => {
    resolve = take
    reject = refuse
  })
  return { promise, resolve, reject }
}
/** A slow machine is no fault. */
const ENGINE_WITHIN_MS = 240_000
const parse = (variables: Settings) => parseEnvironment(commonEnvironment, variables)

async function startSafeMosquitto(): Promise<Service> {
  const program = findMosquitto(process.env)
  if (program === null) throw new Error('there is no mosquitto on this machine: install it, or name it in KM0_MOSQUITTO')
  const passwords = join(folder, 'passwords')
  execFileSync('mosquitto_passwd', ['-c', '-b', passwords, 'km0', PASSWORD])
  const tls = [`cafile ${right}/ca.pem`, `certfile ${right}/server.pem`, `keyfile ${right}/server.key`]
  const listener = (port: number, ...more: string[]) => [`listener ${port} 127.0.0.1`, ...tls, ...more].join('\n')
  const user = process.getuid?.() === 0 ? ['user root'] : []
  const lines = [
    ...['per_listener_settings true', ...user],
    listener(ports.mqtt, 'allow_anonymous false', `password_file ${passwords}`),
    listener(ports.mqttCertificate, 'require_certificate true', 'use_identity_as_username true', 'allow_anonymous false'),
  ]
  const configuration = join(folder, 'mosquitto.conf')
  writeFileSync(configuration, `${lines.join('\n')}\n`)
  return startService({
    ...{ name: 'mosquitto', command: program, args: ['-c', configuration], logFile: join(folder, 'mosquitto.log') },
    ready: () =>
      new Promise((resolve) => {
        const socket = connect(ports.mqttCertificate, '127.0.0.1')
        socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
        socket.on('connect', () => socket.destroy())
      }),
    ...{ readyTimeoutMs: 20_000, stopSignal: 'SIGTERM', stopTimeoutMs: 10_000 },
  })
}

beforeAll(async () => {
  for (const each of [right, other]) execFileSync(join(root, 'infra/certificates.sh'), [each])
  for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort()
  services = await startServices({
    kafka: { secure: { port: ports.kafka, certificates: right, users: { km0: PASSWORD } } },
    postgres: { certificates: right },
    redis: { secure: { port: ports.redis, certificates: right, users: { km0: PASSWORD } } },
  })
  mosquitto = await startSafeMosquitto()
})
afterAll(async () => {
  await mosquitto?.stop()
  await services?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const WRONG_AUTHORITY = (service: string) => ({ [`${service}_CA_FILE`]: join(other, 'ca.pem') })
const certificateOf = (service: string, from: string) => ({
  [`${service}_CERT_FILE`]: join(from, 'client.pem'),
  [`${service}_KEY_FILE`]: join(from, 'client.key'),
})
const WRONG_PASSWORD = (service: string) => ({ [`${service}_PASSWORD_FILE`]: secret(`${service}-wrong`, 'wrong') })

const openSafeLog = (change: Settings = {}) => {
  const variables = { ...settingsOf('KAFKA'), KAFKA_BROKERS: `127.0.0.1:${ports.kafka}`, ...change }
  return openLog({ brokers: parse(variables).KAFKA_BROKERS, clientId: 'test' })
}
const ensureTopics = (log: Log) =>
  log.ensureTopics(Object.values(TOPICS), Object.fromEntries(Object.values(TOPICS).map(({ name }) => [name, { partitions: 1 }])))

describe('Kafka, SASL_SSL', () => {
  it.each(['plain', 'scram-sha-256', 'scram-sha-512'])('%s: writes a record and reads it', async (mechanism) => {
    const log = openSafeLog({ KAFKA_SASL: mechanism })
    await ensureTopics(log)
    const producer = await log.openProducer()
    const topic = TOPICS.positions.name
    const before = (await log.endOffsets(topic)).get(0) ?? 0
    await producer.send([{ topic, partition: 0, key: null, value: Buffer.from('x'), timestampMs: 1, headers: {} }] as never)
    await producer.close()
    expect((await log.endOffsets(topic)).get(0)).toBe(before + 1)
  })

  it('refuses another authority and a wrong password', async () => {
    await expect(openSafeLog(WRONG_AUTHORITY('KAFKA')).clusterId()).rejects.toThrow(/certificate|self.signed|verify/i)
    for (const mechanism of ['plain', 'scram-sha-512'])
      await expect(openSafeLog({ ...WRONG_PASSWORD('KAFKA'), KAFKA_SASL: mechanism }).clusterId()).rejects.toThrow(/auth/i)
  })
})

const until = async (what: string, holds: () => Promise<boolean>) => {
  for (const endMs = Date.now() + ENGINE_WITHIN_MS; !(await holds()); await sleep(250))
    if (Date.now() > endMs) throw new Error(`not within ${ENGINE_WITHIN_MS} ms: ${what}`)
}

/** The core inside another engine, with the settings of our own programs: both jobs, in Java processes as `pnpm engine start` starts them. */
describe.each<{ engine: Engine; epoch: string; mechanism: string }>([
  { engine: 'kafka-streams', epoch: '101', mechanism: 'scram-sha-512' },
  { engine: 'flink', epoch: '102', mechanism: 'plain' },
])('$engine through Kafka, SASL_SSL', ({ engine, epoch, mechanism }) => {
  const guard = startGuard(0)
  const place = join(folder, engine)
  let running: RunningEngine | undefined
  const start = (change: Settings, jobs: readonly ('positions' | 'stock')[]) => {
    const parsed = readPipelineSettings(null, 'settings', {})
    if (!('settings' in parsed)) throw new Error(parsed.wrong)
    const own = {
      KAFKA_SASL: mechanism,
      ...certificateOf('KAFKA', right),
      KM0_ENGINE_EPOCH: epoch,
      KM0_ENGINE_ID: `tls-${engine}`,
      KM0_STOCK_IDLE_MS: '3600000',
    }
    const environment = { ...process.env, ...settingsOf('KAFKA', { ...own, ...change }) }
    const brokers = `127.0.0.1:${ports.kafka}`
    return startEngine(engine, { brokers, folder: place, instances: 1, jobs, pipelines: parsed.settings, environment, guard })
  }
  /** Values of a topic that this engine has written. */
  const written = async (log: Log, topic: string) => {
    const values: string[] = []
    for await (const { records } of log.readTopic({ topic }))
      for (const { headers, value } of records) if (headers.epoca === epoch) values.push(String(value))
    return values
  }
  afterAll(async () => {
    await running?.stop()
    await guard.close()
  }, 60_000)

  it('reads and writes as both jobs, with a client certificate; no argument, log or state holds a secret', async (test) => {
    const missing = await missingOf(engine)
    test.skip(missing !== null, missing ?? '')
    const log = openSafeLog()
    await ensureTopics(log)
    const producer = await log.openProducer()
    const van = `furgoneta-${engine}`
    const nowMs = Date.now()
    const put = (topic: string, value: string) => ({ topic, partition: 0, key: null, value, timestampMs: nowMs })
    const points = Array.from({ length: 20 }, (_, index) =>
      put(TOPICS.positions.name, JSON.stringify({ repartidor: van, lat: 41.98, lon: 2.82, data_ms: nowMs - 600_000 + index * 30_000 })),
    )
    await producer.send([...points, put(TOPICS.stockEvents.name, 'x')])
    await producer.close()
    running = await start({}, ['positions', 'stock'])
    await until('rows', async () => (await written(log, TOPICS.panel.name)).some((value) => value.includes(van)))
    await until('a dead letter of stock', async () => (await written(log, TOPICS.stockDeadLetters.name)).length > 0)
    expect(await running.trouble()).toBeNull()

    const key = readFileSync(join(right, 'client.key'), 'utf8').split('\n')[1] ?? ''
    expect(key.length).toBeGreaterThan(40)
    const words = [...running.processes.values()].map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1'))
    const files = readdirSync(place, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !entry.name.endsWith('.jar'),
    )
    expect(files.some(({ name }) => name.endsWith('.log'))).toBe(true)
    const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    for (const secret of [PASSWORD, key]) expect([...words, ...texts].filter((text) => text.includes(secret))).toEqual([])
    await running.stop()
    running = undefined
  })

  const refused: readonly [string, Settings, RegExp][] = [
    ['a wrong password', WRONG_PASSWORD('KAFKA'), /no connection to Kafka: Authentication failed.*; look at KAFKA_USERNAME/],
    ['another authority', WRONG_AUTHORITY('KAFKA'), /SSL handshake failed.*; look at KAFKA_CA_FILE/],
    ['a certificate of another authority', certificateOf('KAFKA', other), /certificate_unknown; look at KAFKA_CA_FILE, KAFKA_CERT_FILE/],
    ['a mechanism without a name', { KAFKA_USERNAME: '', KAFKA_PASSWORD_FILE: '' }, /KAFKA_SASL: needs KAFKA_USERNAME and KAFKA_PASSWORD/],
  ]
  // Both have Kafka's own clients; for Flink each of these is the start of a cluster.
  it.each(engine === 'flink' ? refused.slice(0, 1) : refused)('refuses %s', async (_name, change, said) => {
    const missing = await missingOf(engine)
    if (missing !== null) return console.warn(`skipped: ${missing}`)
    // Low stock asks the broker before it starts, so what is wrong is told at once.
    await expect(start(change, ['stock'])).rejects.toThrow(said)
  })
})

it('Flink SQL reads and writes through it too, with a client certificate', async (test) => {
  const missing = await missingOf('flink')
  test.skip(missing !== null, missing ?? '')
  const log = openSafeLog()
  await ensureTopics(log)
  await log.ensureTopics([{ ...TOPICS.stockLate, name: 'prova.sessions', partitions: 1 }])
  const nowMs = Date.now()
  const at = (van: string, data_ms: number) => ({
    ...{ topic: TOPICS.positions.name, partition: 0, key: null, timestampMs: data_ms },
    value: JSON.stringify({ repartidor: van, lat: 41.98, lon: 2.82, data_ms }),
  })
  const producer = await log.openProducer()
  // What comes later closes the session.
  await producer.send([at('furgoneta-sql', nowMs), at('furgoneta-sql-2', nowMs + 600_000)])
  await producer.close()
  const guard = startGuard(0)
  const environment = {
    ...process.env,
    ...settingsOf('KAFKA', { KAFKA_BROKERS: `127.0.0.1:${ports.kafka}`, ...certificateOf('KAFKA', right) }),
  }
  const cluster = await startCluster({ folder: join(folder, 'flink-sql'), taskManagers: 1, slots: 1, environment, guard })
  try {
    const run = { jar: flinkJar(), mainClass: 'cat.km0.flink.SqlJob', parallelism: 1 }
    await cluster.rest.run({ ...run, words: ['sql=sessions', 'results=prova.sessions'] })
    await until('a session', async () => {
      for await (const { records } of log.readTopic({ topic: 'prova.sessions' }))
        if (records.some(({ key }) => key === `sessio|furgoneta-sql|${nowMs}`)) return true
      return false
    })
  } finally {
    await cluster.stop()
    await guard.close()
  }
})

describe('PostgreSQL, verify-full', () => {
  const urlOf = (change: Settings = {}) => {
    const url = new URL(services.postgres.url)
    const password = secret('DATABASE-right', decodeURIComponent(url.password))
    url.password = ''
    return parse({ ...settingsOf('DATABASE'), DATABASE_PASSWORD_FILE: password, DATABASE_URL: url.href, ...change }).DATABASE_URL
  }
  const query = async (databaseUrl: string) => {
    const pool = openPgPool({ databaseUrl, applicationName: 'test', maxConnections: 1 })
    try {
      return (await pool.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()')).rows
    } finally {
      await pool.end()
    }
  }

  it('connects over TLS', async () => {
    expect(await query(urlOf())).toEqual([{ ssl: true }])
  })

  it('refuses another authority and a wrong password', async () => {
    await expect(query(urlOf(WRONG_AUTHORITY('DATABASE')))).rejects.toThrow(/certificate|signature/i)
    await expect(query(urlOf(WRONG_PASSWORD('DATABASE')))).rejects.toThrow(/password authentication failed/)
  })

  it('DuckLake reaches its catalog the same way', async (test) => {
    const missing = await lakeMissing(services)
    test.skip(missing !== null, missing ?? '')
    const settings = (catalogUrl: string) => ({ ...lakeSettings(services, 'tls'), catalogUrl })
    const lake = await openLake(settings(urlOf()))
    lake.close()
    await expect(openLake(settings(urlOf(WRONG_AUTHORITY('DATABASE'))))).rejects.toThrow(/certificate/i)
    await expect(openLake(settings(urlOf(WRONG_PASSWORD('DATABASE'))))).rejects.toThrow(/password|reached/i)
  })
})

describe('Redis, rediss and a user of its ACL', () => {
  const asked = async (change: Settings = {}) => {
    const { REDIS_URL: redisUrl } = parse({ ...settingsOf('REDIS'), REDIS_URL: `rediss://127.0.0.1:${ports.redis}`, ...change })
    const answer = promised<string>()
    const queue = openQueue({ redisUrl, queue: 'test', onError: (error) => answer.reject(error) })
    queue.add('test', {}).then(
      () => answer.resolve('added'),
      () => undefined,
    )
    try {
      return await answer.promise
    } finally {
      queue.close().catch(() => undefined)
    }
  }

  it('answers over TLS', async () => {
    expect(await asked()).toBe('added')
  })

  it('refuses another authority and a wrong password', async () => {
    await expect(asked(WRONG_AUTHORITY('REDIS'))).rejects.toThrow(/certificate|signature/i)
    await expect(asked(WRONG_PASSWORD('REDIS'))).rejects.toThrow(/WRONGPASS/)
  })
})

describe('MQTT over TLS', () => {
  const urlOf = (change: Settings = {}, port = ports.mqtt) =>
    parse({ ...settingsOf('MQTT'), MQTT_URL: `mqtts://127.0.0.1:${port}`, ...change }).MQTT_URL
  /** What the first answer of the broker is: connected, or the error. */
  const firstAnswer = async (url: string) => {
    const answer = promised<string>()
    const publisher = openMqttPublisher({ url, clientId: 'answer', onError: (error) => answer.resolve(error.message) })
    publisher.publish('owntracks/km0/x', 'x').then(
      () => answer.resolve('published'),
      () => undefined,
    )
    try {
      return await answer.promise
    } finally {
      await publisher.close(true)
    }
  }

  it('publishes, and the bridge’s client takes it', async () => {
    const taken = promised<string>()
    const subscribed = promised<undefined>()
    const input = openMqttInput(
      {
        url: urlOf(),
        clientId: 'input',
        filters: ['owntracks/+/+'],
        keepaliveSeconds: 10,
        connectTimeoutMs: 5_000,
        reconnectMinMs: 100,
        reconnectMaxMs: 1_000,
      },
      {
        onDelivery: (delivery) => {
          taken.resolve(delivery.topic)
          delivery.acknowledge()
          return 'more'
        },
        onConnected: () => undefined,
        onDisconnected: () => undefined,
        onSubscribed: () => subscribed.resolve(undefined),
        onError: (error) => taken.reject(error),
      },
    )
    await subscribed.promise
    expect(await firstAnswer(urlOf())).toBe('published')
    expect(await taken.promise).toBe('owntracks/km0/x')
    await input.close(1_000)
  })

  it('refuses another authority and a wrong password', async () => {
    expect(await firstAnswer(urlOf(WRONG_AUTHORITY('MQTT')))).toMatch(/certificate|signature/i)
    expect(await firstAnswer(urlOf(WRONG_PASSWORD('MQTT')))).toMatch(/not authori[sz]ed/i)
  })

  it('takes a client by its certificate, and none without one or with one of another authority', async () => {
    const only = (change: Settings) =>
      parse({ MQTT_URL: `mqtts://127.0.0.1:${ports.mqttCertificate}`, MQTT_CA_FILE: join(right, 'ca.pem'), ...change }).MQTT_URL
    expect(await firstAnswer(only(certificateOf('MQTT', right)))).toBe('published')
    expect(await firstAnswer(only({}))).not.toBe('published')
    expect(await firstAnswer(only(certificateOf('MQTT', other)))).not.toBe('published')
  })
})
