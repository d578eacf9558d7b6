import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Guard } from './guard.ts'
import { fetchJars } from './jars.mjs'
import { repositoryRoot } from './paths.ts'
import { freePort } from './ports.ts'
import { probe } from './probe.ts'
import { type Service, startService } from './process.ts'

const run = promisify(execFile)
const MIB = 1024 * 1024

export interface KafkaOptions {
  readonly dataDir: string
  /** The next free one is taken when it is busy; any when it is left out. */
  readonly port?: number | undefined
  readonly logFile?: string | undefined
  /** Largest size of one partition of a topic that says nothing else, in bytes; -1 = no limit. */
  readonly retentionBytes?: number | undefined
  readonly segmentBytes?: number | undefined
  readonly heapMib?: number | undefined
  /** One more way in: whoever comes by `port` is told to use `advertisedPort` from then on, where something stands in between. */
  readonly aside?: { readonly port: number; readonly advertisedPort: number } | undefined
  /** One more way in, with TLS and a name: certificates as `infra/certificates.sh` makes them, users of SASL with their passwords. */
  readonly secure?: { readonly port: number; readonly certificates: string; readonly users: Readonly<Record<string, string>> } | undefined
  readonly guard?: Guard | undefined
}

export interface Kafka extends Service {
  readonly brokers: string
  readonly port: number
  /** Same port and data again, after stop() or kill9(). */
  restart(): Promise<Kafka>
}

/** Short start on a small machine: seen 2 s and 162 MB, against 7 s with G1 and the second compiler. */
const javaFlags = (heapMib: number) => [
  `-Xmx${heapMib}m`,
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  '-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss',
]

/** The listener with TLS and SASL: names and passwords of PLAIN stand here, those of SCRAM in the log of the cluster. */
function secureProperties({ certificates, users }: NonNullable<KafkaOptions['secure']>): Record<string, string> {
  const names = Object.entries(users).map(([name, password]) => ` user_${name}="${password}"`)
  const here = 'listener.name.secure'
  return {
    [`${here}.ssl.keystore.type`]: 'PEM',
    [`${here}.ssl.keystore.location`]: join(certificates, 'server-all.pem'),
    [`${here}.ssl.truststore.type`]: 'PEM',
    [`${here}.ssl.truststore.location`]: join(certificates, 'ca.pem'),
    // A client may come without a certificate, but not with one of another authority.
    [`${here}.ssl.client.auth`]: 'requested',
    [`${here}.sasl.enabled.mechanisms`]: 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    [`${here}.plain.sasl.jaas.config`]: `org.apache.kafka.common.security.plain.PlainLoginModule required${names.join('')};`,
    [`${here}.scram-sha-256.sasl.jaas.config`]: 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
    [`${here}.scram-sha-512.sasl.jaas.config`]: 'org.apache.kafka.common.security.scram.ScramLoginModule required;',
  }
}

function serverProperties(options: KafkaOptions, port: number, controllerPort: number): string {
  const { aside, secure } = options
  const more = (address: (listener: { port: number; advertisedPort?: number }) => number) =>
    `${aside ? `,ASIDE://127.0.0.1:${address(aside)}` : ''}${secure ? `,SECURE://127.0.0.1:${secure.port}` : ''}`
  const properties = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}${more(({ port }) => port)}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}${more((listener) => listener.advertisedPort ?? listener.port)}`,
    'listener.security.protocol.map': `PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT${aside ? ',ASIDE:PLAINTEXT' : ''}${secure ? ',SECURE:SASL_SSL' : ''}`,
    'log.dirs': join(options.dataDir, 'log'),
    'auto.create.topics.enable': false,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'offsets.topic.segment.bytes': 16 * MIB,
    // A job that was off for two weeks still finds where it stopped.
    'offsets.retention.minutes': 60 * 24 * 30,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'share.coordinator.state.topic.num.partitions': 1,
    'default.replication.factor': 1,
    'min.insync.replicas': 1,
    'group.initial.rebalance.delay.ms': 0,
    'log.retention.bytes': options.retentionBytes ?? -1,
    'log.segment.bytes': options.segmentBytes ?? 64 * MIB,
    'log.retention.check.interval.ms': 30_000,
    'log.cleaner.dedupe.buffer.size': 16 * MIB,
    'log.index.size.max.bytes': MIB,
    // After kill -9 the node may register again only when its old session is over; the default of 9 s made that start 12 s long.
    'broker.session.timeout.ms': 4_000,
    'broker.heartbeat.interval.ms': 1_000,
    'metadata.log.segment.bytes': 8 * MIB,
    'metadata.max.retention.bytes': 32 * MIB,
    'num.network.threads': 2,
    'num.io.threads': 4,
    'background.threads': 2,
    ...(secure ? secureProperties(secure) : {}),
  }
  return Object.entries(properties)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')
}

/** ApiVersions version 0, correlation 7, no client id: any broker that is up answers it before anything else. */
const API_VERSIONS = Buffer.from([0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 7, 255, 255])
const isReady = (port: number) => probe(port, API_VERSIONS, (answer) => answer.length >= 8 && answer.readInt32BE(4) === 7)

/** Starts Kafka 4.4 (KRaft, one node) on 127.0.0.1. Fetches it first when the machine does not have it. */
export async function startKafka(options: KafkaOptions): Promise<Kafka> {
  const jars = await fetchJars(repositoryRoot())
  const port = await freePort(options.port)
  const controllerPort = await freePort(port + 1)
  mkdirSync(options.dataDir, { recursive: true })
  const propertiesFile = join(options.dataDir, 'server.properties')
  writeFileSync(propertiesFile, serverProperties(options, port, controllerPort))
  const java = [...javaFlags(options.heapMib ?? 512), '-cp', join(jars, '*')]
  if (!existsSync(join(options.dataDir, 'log', 'meta.properties'))) {
    // 'A' in front: an id that begins with '-' would be taken for an option.
    const id = `A${randomBytes(16).toString('base64url').slice(0, 21)}`
    const users = Object.entries(options.secure?.users ?? {}).flatMap(([name, password]) =>
      ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => ['--add-scram', `${mechanism}=[name=${name},password=${password}]`]),
    )
    await run('java', [...java, 'kafka.tools.StorageTool', 'format', '-t', id, '-c', propertiesFile, ...users], { cwd: options.dataDir })
  }
  const service = await startService({
    name: 'Kafka',
    command: 'java',
    args: [...java, 'kafka.Kafka', propertiesFile],
    cwd: options.dataDir,
    logFile: options.logFile ?? join(options.dataDir, 'kafka.log'),
    ready: () => isReady(port),
    readyTimeoutMs: 60_000,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 20_000,
    guard: options.guard,
  })
  return { ...service, port, brokers: `127.0.0.1:${port}`, restart: () => startKafka({ ...options, port }) }
}
