import { accessSync, constants } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { withFiles } from './secret-files.ts'

const text = z.string().min(1).optional()
const of = <Service extends string>(service: Service) =>
  ({
    [`${service}_CA_FILE`]: text,
    [`${service}_CERT_FILE`]: text,
    [`${service}_KEY_FILE`]: text,
    [`${service}_USERNAME`]: text,
    [`${service}_PASSWORD`]: text,
  }) as Record<`${Service}_${'CA_FILE' | 'CERT_FILE' | 'KEY_FILE' | 'USERNAME' | 'PASSWORD'}`, typeof text>

/** How the services are reached safely: docs/settings.md, "Connections". The same five names for each, and what only Kafka has. */
export const connectionEnvironment = z.object({
  ...of('MQTT'),
  ...of('KAFKA'),
  ...of('DATABASE'),
  ...of('REDIS'),
  KAFKA_TLS: z.enum(['true', 'false']).optional(),
  KAFKA_SASL: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).optional(),
})

/** The URL of each service, and the schemes by which it is reached with TLS and without. */
const SERVICES = [
  { service: 'MQTT', address: 'MQTT_URL', fallback: 'mqtt://127.0.0.1:1883', safe: ['mqtts:', 'wss:', 'ssl:'] },
  { service: 'DATABASE', address: 'DATABASE_URL', fallback: 'postgres://postgres@127.0.0.1:5432/km0', safe: [] },
  { service: 'REDIS', address: 'REDIS_URL', fallback: 'redis://127.0.0.1:6379', safe: ['rediss:'] },
] as const

const ADDRESSES = ['KAFKA_BROKERS', 'MQTT_URL', 'DATABASE_URL', 'REDIS_URL'] as const

type Variables = Readonly<Record<string, string | undefined>>
type Given = Readonly<Record<string, string>>

/**
 * The variables with addresses that hold all that a connection needs: name and password, and in the query, as PostgreSQL has it, `sslmode`,
 * `sslrootcert`, `sslcert`, `sslkey` (absolute paths). Brokers of Kafka with TLS or a password become `kafkas://NAME:PASSWORD@HOST:PORT?sasl=…`
 * (`kafka://` without TLS). Variables without such settings come back as they were. What is wrong is added to `wrong`, a line each.
 */
export function connectionVariables(variables: Variables, wrong: string[]): Record<string, string> {
  const names = new Set<string>([...Object.keys(connectionEnvironment.shape), ...ADDRESSES])
  const given = withFiles(variables, names, wrong)
  const parsed = connectionEnvironment.safeParse(given)
  if (!parsed.success) wrong.push(...parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`))
  for (const { service, address, fallback, safe } of SERVICES) {
    if (!isSet(given, service)) continue
    const url = urlOf(given[address] ?? fallback)
    if (url === null) {
      wrong.push(`${address}: not an address`)
      continue
    }
    addCredentials(url, given, service, wrong)
    const tls = addFiles(url, given, service, wrong)
    if (service === 'DATABASE') {
      if (tls && !url.searchParams.has('sslmode')) url.searchParams.set('sslmode', 'verify-full')
    } else if (tls && !(safe as readonly string[]).includes(url.protocol)) {
      wrong.push(`${address}: begins with ${url.protocol}//, which has no TLS; with ${service}_CA_FILE or a certificate it is ${safe[0]}//`)
    }
    given[address] = addressOf(url)
  }
  if (isSet(given, 'KAFKA') || given.KAFKA_TLS === 'true' || given.KAFKA_SASL !== undefined) given.KAFKA_BROKERS = brokers(given, wrong)
  return given
}

const urlOf = (text: string) => (URL.canParse(text) ? new URL(text) : null)

/** A space in a query is `+` in a form, and `%20` to PostgreSQL's library. */
const addressOf = (url: URL) => url.href.replace(/\?.*$/, (search) => search.replaceAll('+', '%20'))

const isSet = (given: Given, service: string) =>
  ['CA_FILE', 'CERT_FILE', 'KEY_FILE', 'USERNAME', 'PASSWORD'].some((name) => given[`${service}_${name}`] !== undefined)

function brokers(given: Given, wrong: string[]): string {
  const { KAFKA_USERNAME: name, KAFKA_PASSWORD: password, KAFKA_SASL: sasl = 'scram-sha-512', KAFKA_TLS: tls } = given
  if ((name === undefined) !== (password === undefined)) wrong.push('KAFKA_USERNAME, KAFKA_PASSWORD: one is set without the other')
  if (given.KAFKA_SASL !== undefined && name === undefined) wrong.push('KAFKA_SASL: needs KAFKA_USERNAME and KAFKA_PASSWORD')
  const hasFiles = ['CA_FILE', 'CERT_FILE', 'KEY_FILE'].some((file) => given[`KAFKA_${file}`] !== undefined)
  if (tls === 'false' && hasFiles) wrong.push('KAFKA_TLS: is false, but a certificate is named')
  const scheme = tls === 'true' || hasFiles ? 'kafkas' : 'kafka'
  const all = (given.KAFKA_BROKERS ?? '127.0.0.1:9092').split(',').map((broker) => {
    const url = urlOf(`${scheme}://${broker.trim()}`)
    if (url === null) {
      wrong.push(`KAFKA_BROKERS: ${broker.trim()} is not host:port`)
      return broker
    }
    addCredentials(url, given, 'KAFKA', [])
    if (name !== undefined) url.searchParams.set('sasl', sasl)
    return url
  })
  const [first] = all
  if (!(first instanceof URL)) return ''
  // Said once for all brokers.
  for (const [index, url] of all.entries()) if (url instanceof URL) addFiles(url, given, 'KAFKA', index === 0 ? wrong : [])
  return all.map((url) => (url instanceof URL ? addressOf(url) : url)).join(',')
}

function addCredentials(url: URL, given: Given, service: string, wrong: string[]): void {
  const name = given[`${service}_USERNAME`]
  const password = given[`${service}_PASSWORD`]
  // The setter leaves a comma as it is, and brokers are told apart by it; it would also leave a percent sign.
  if (name !== undefined) url.username = encodeURIComponent(name)
  if (password !== undefined) url.password = encodeURIComponent(password)
  // Redis knows passwords without a name.
  if (password !== undefined && url.username === '' && service !== 'REDIS') wrong.push(`${service}_PASSWORD: needs ${service}_USERNAME`)
}

/** Adds the files of TLS to an address; true when there are any. */
function addFiles(url: URL, given: Given, service: string, wrong: string[]): boolean {
  const files = { sslrootcert: 'CA_FILE', sslcert: 'CERT_FILE', sslkey: 'KEY_FILE' }
  let any = false
  for (const [parameter, name] of Object.entries(files)) {
    const file = given[`${service}_${name}`]
    if (file === undefined) continue
    any = true
    const path = resolve(file)
    try {
      accessSync(path, constants.R_OK)
    } catch (error) {
      wrong.push(`${service}_${name}: ${error instanceof Error ? error.message : String(error)}`)
    }
    url.searchParams.set(parameter, path)
  }
  if ((given[`${service}_CERT_FILE`] === undefined) !== (given[`${service}_KEY_FILE`] === undefined)) {
    wrong.push(`${service}_CERT_FILE, ${service}_KEY_FILE: one is set without the other`)
  }
  return any
}
