import { readFileSync } from 'node:fs'
import type { KafkaConfig, SASLOptions } from 'kafkajs'

/** What a TLS connection is made with, as node:tls has it. */
interface TlsMaterial {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

interface Address {
  /** Without name, password and the parameters that are read here. */
  readonly url: string
  readonly host: string
  readonly username?: string
  readonly password?: string
  readonly tls: TlsMaterial
}

const FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const

/**
 * Takes an address apart: `SCHEME://NAME:PASSWORD@HOST:PORT?sslrootcert=FILE&sslcert=FILE&sslkey=FILE`. Files are read now. Throws where one
 * cannot be read.
 */
export function readAddress(text: string): Address {
  const url = new URL(text)
  const tls: { ca?: Buffer; cert?: Buffer; key?: Buffer } = {}
  for (const [parameter, name] of Object.entries(FILES)) {
    const file = url.searchParams.get(parameter)
    if (file !== null) tls[name] = readFileSync(file)
    url.searchParams.delete(parameter)
  }
  const [username, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
  url.username = ''
  url.password = ''
  return {
    url: url.href,
    host: url.host,
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    tls,
  }
}

/** Options of mqtt.js for an address; the URL is what `mqtt.connect` gets first. */
export function mqttAddress(text: string): readonly [string, { username?: string; password?: string } & TlsMaterial] {
  const { url, username, password, tls } = readAddress(text)
  return [url, { ...(username === undefined ? {} : { username }), ...(password === undefined ? {} : { password }), ...tls }]
}

/** Options of ioredis for an address. */
export function redisAddress(text: string): readonly [string, { username?: string; password?: string; tls?: TlsMaterial }] {
  const { url, username, password, tls } = readAddress(text)
  return [
    url,
    {
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(url.startsWith('rediss:') ? { tls } : {}),
    },
  ]
}

/** `host:port` of each broker: what may be shown. */
export const brokerHosts = (brokers: readonly string[]) => brokers.map((broker) => (broker.includes('://') ? new URL(broker).host : broker))

/**
 * Brokers, TLS and SASL of kafkajs. A broker is `host:port`, or `kafkas://NAME:PASSWORD@host:port?sasl=plain|scram-sha-256|scram-sha-512` with the
 * files of TLS (`kafka://` without TLS); the first one says how all are reached. Throws on a mechanism that is not known.
 */
export function kafkaAddress(brokers: readonly string[]): Pick<KafkaConfig, 'brokers' | 'ssl' | 'sasl'> {
  const hosts = brokerHosts(brokers)
  const [first] = brokers
  if (first === undefined || !first.includes('://')) return { brokers: hosts }
  const { username, password, tls } = readAddress(first)
  const url = new URL(first)
  const sasl: SASLOptions | null =
    username === undefined
      ? null
      : { mechanism: mechanismOf(url.searchParams.get('sasl') ?? 'scram-sha-512'), username, password: password ?? '' }
  return { brokers: hosts, ...(url.protocol === 'kafkas:' ? { ssl: tls } : {}), ...(sasl === null ? {} : { sasl }) }
}

function mechanismOf(name: string): 'plain' {
  // kafkajs' type has one shape for each; all take a name and a password.
  if (name === 'plain' || name === 'scram-sha-256' || name === 'scram-sha-512') return name as 'plain'
  throw new Error(`Kafka's mechanism ${name} is none of plain, scram-sha-256, scram-sha-512`)
}
