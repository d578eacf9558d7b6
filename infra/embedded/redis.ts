import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unzipSync } from 'fflate'
import type { Guard } from './guard.ts'
import { fetchJars } from './jars.mjs'
import { repositoryRoot } from './paths.ts'
import { freePort } from './ports.ts'
import { probe } from './probe.ts'
import { type Service, startService } from './process.ts'

const JAR = 'embedded-redis-1.4.3.jar'

/** Entry of the jar by platform and processor as Node names them. */
const BINARIES: Readonly<Record<string, string>> = {
  'linux-x64': 'redis-server-6.2.6-v5-linux-amd64',
  'linux-arm64': 'redis-server-6.2.7-linux-arm64',
  'darwin-x64': 'redis-server-6.2.6-v5-darwin-amd64',
  'darwin-arm64': 'redis-server-6.2.6-v5-darwin-arm64',
}

export interface RedisOptions {
  readonly dataDir: string
  readonly port?: number | undefined
  readonly logFile?: string | undefined
  /** One more way in, with TLS: certificates as `infra/certificates.sh` makes them; and users, with their passwords. */
  readonly secure?: { readonly port: number; readonly certificates: string; readonly users: Readonly<Record<string, string>> } | undefined
  readonly guard?: Guard | undefined
}

export interface Redis extends Service {
  readonly url: string
  readonly port: number
  restart(): Promise<Redis>
}

/** Path of the Redis binary, taken out of its jar once. Throws on a platform for which the jar holds none. */
async function redisBinary(): Promise<string> {
  const entry = BINARIES[`${process.platform}-${process.arch}`]
  if (entry === undefined) throw new Error(`no Redis binary for ${process.platform}-${process.arch}: set REDIS_URL to one that runs`)
  const jars = await fetchJars(repositoryRoot())
  const binary = join(jars, entry)
  if (existsSync(binary)) return binary
  const content = unzipSync(readFileSync(join(jars, JAR)), { filter: (file) => file.name === entry })[entry]
  if (content === undefined) throw new Error(`${JAR} holds no ${entry}`)
  const part = `${binary}.part-${process.pid}`
  writeFileSync(part, content)
  chmodSync(part, 0o755)
  renameSync(part, binary)
  return binary
}

function secureSettings(secure: RedisOptions['secure']): Record<string, string | number> {
  if (secure === undefined) return {}
  const file = (name: string) => join(secure.certificates, name)
  return {
    'tls-port': secure.port,
    'tls-cert-file': file('server.pem'),
    'tls-key-file': file('server.key'),
    'tls-ca-cert-file': file('ca.pem'),
    'tls-auth-clients': 'optional',
  }
}

/** Starts Redis on 127.0.0.1 with its append-only file under `dataDir`. */
export async function startRedis(options: RedisOptions): Promise<Redis> {
  const binary = await redisBinary()
  const port = await freePort(options.port)
  mkdirSync(options.dataDir, { recursive: true })
  const settings = {
    port,
    bind: '127.0.0.1',
    dir: options.dataDir,
    appendonly: 'yes',
    appendfsync: 'everysec',
    save: '',
    'maxmemory-policy': 'noeviction',
    'auto-aof-rewrite-min-size': '16mb',
    ...secureSettings(options.secure),
  }
  const service = await startService({
    name: 'Redis',
    command: binary,
    args: [
      ...Object.entries(settings).flatMap(([key, value]) => [`--${key}`, String(value)]),
      ...Object.entries(options.secure?.users ?? {}).flatMap(([name, password]) => [
        '--user',
        name,
        'on',
        `>${password}`,
        '~*',
        '&*',
        '+@all',
      ]),
    ],
    cwd: options.dataDir,
    logFile: options.logFile ?? join(options.dataDir, 'redis.log'),
    // While the append-only file is read it answers -LOADING.
    ready: () => probe(port, Buffer.from('PING\r\n'), (answer) => answer.toString().startsWith('+PONG')),
    readyTimeoutMs: 30_000,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    guard: options.guard,
  })
  return { ...service, port, url: `redis://127.0.0.1:${port}`, restart: () => startRedis({ ...options, port }) }
}
