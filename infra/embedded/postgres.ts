import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Guard } from './guard.ts'
import { freePort } from './ports.ts'
import { type PostgresUser, postgresUser } from './postgres-user.ts'
import { probe } from './probe.ts'
import { type Service, startService } from './process.ts'

const ROLE = 'km0'
const DATABASE = 'km0'

export interface PostgresOptions {
  readonly dataDir: string
  readonly port?: number | undefined
  readonly logFile?: string | undefined
  /** Off only for data that may be lost with the machine: tests. Default true. */
  readonly fsync?: boolean | undefined
  readonly maxConnections?: number | undefined
  /** Certificates as `infra/certificates.sh` makes them. Absent: no TLS. */
  readonly certificates?: string | undefined
  readonly guard?: Guard | undefined
}

export interface Postgres extends Service {
  /** Of database km0, password included. */
  readonly url: string
  readonly port: number
  restart(): Promise<Postgres>
}

/** Starts PostgreSQL 18 on 127.0.0.1, creating cluster, role and database `km0` at the first start. */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const user = await postgresUser(join(options.dataDir, 'cluster'))
  const passwordFile = join(options.dataDir, 'password')
  const logFile = options.logFile ?? join(options.dataDir, 'postgres.log')
  // Where the rows lie outside of the data folder they outlive its deletion, and the password does not.
  const isOrphan = user.uid !== undefined && !existsSync(passwordFile)
  if (isOrphan || !existsSync(join(user.dataDir, 'PG_VERSION'))) await createCluster(user, passwordFile)
  const password = readFileSync(passwordFile, 'utf8').trim()
  const port = await freePort(options.port)
  const fsync = options.fsync ?? true
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    fsync: fsync ? 'on' : 'off',
    synchronous_commit: fsync ? 'on' : 'off',
    full_page_writes: fsync ? 'on' : 'off',
    max_connections: options.maxConnections ?? 100,
    shared_buffers: '64MB',
    max_wal_size: '256MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(options.certificates === undefined ? {} : certificateSettings(options.certificates, user)),
  }
  const [command, ...args] = commandLine(user, 'postgres', [
    '-D',
    user.dataDir,
    ...Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]),
  ])
  const service = await startService({
    name: 'PostgreSQL',
    command,
    args,
    cwd: '/',
    ...(user.uid === undefined ? {} : { uid: user.uid, gid: user.gid ?? user.uid }),
    logFile,
    ready: () => isReady(port),
    readyTimeoutMs: 60_000,
    // Fast shutdown: ends sessions, writes a checkpoint.
    stopSignal: 'SIGINT',
    stopTimeoutMs: 10_000,
    guard: options.guard,
  })
  const url = `postgres://${ROLE}:${password}@127.0.0.1:${port}/${DATABASE}`
  return { ...service, port, url, restart: () => startPostgres({ ...options, port }) }
}

/** The server refuses a key that is not its own user's. */
function certificateSettings(certificates: string, user: PostgresUser): Record<string, string> {
  const owned = (name: string) => {
    const path = `${user.dataDir}.${name}`
    writeFileSync(path, readFileSync(join(certificates, name)), { mode: 0o600 })
    if (user.uid !== undefined) chownSync(path, user.uid, user.gid ?? user.uid)
    return path
  }
  return { ssl: 'on', ssl_cert_file: owned('server.pem'), ssl_key_file: owned('server.key'), ssl_ca_file: owned('ca.pem') }
}

function commandLine(user: PostgresUser, program: string, args: readonly string[]): [string, ...string[]] {
  return [...user.prefix, join(user.nativeDir, 'bin', program), ...args] as [string, ...string[]]
}

async function createCluster(user: PostgresUser, passwordFile: string): Promise<void> {
  // What a start that was interrupted left behind cannot hold data yet: PG_VERSION is missing.
  rmSync(user.dataDir, { recursive: true, force: true })
  mkdirSync(user.dataDir, { recursive: true, mode: 0o700 })
  writeFileSync(passwordFile, `${randomBytes(18).toString('hex')}\n`, { mode: 0o600 })
  // initdb runs as another user where root may not; it gets a copy inside a folder of its own.
  const visiblePassword = user.uid === undefined ? passwordFile : `${user.dataDir}.password`
  if (user.uid !== undefined) {
    chownSync(user.dataDir, user.uid, user.gid ?? user.uid)
    writeFileSync(visiblePassword, readFileSync(passwordFile), { mode: 0o600 })
    chownSync(visiblePassword, user.uid, user.gid ?? user.uid)
  }
  try {
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    const access = [`--username=${ROLE}`, '--auth=scram-sha-256', `--pwfile=${visiblePassword}`]
    await runToEnd(user, 'initdb', ['-D', user.dataDir, ...locale, ...access, '--no-instructions'], '')
    await runToEnd(user, 'postgres', ['--single', '-D', user.dataDir, 'postgres'], `CREATE DATABASE ${DATABASE};\n`)
  } catch (error) {
    rmSync(user.dataDir, { recursive: true, force: true })
    throw error
  } finally {
    if (visiblePassword !== passwordFile) rmSync(visiblePassword, { force: true })
  }
}

function runToEnd(user: PostgresUser, program: string, args: readonly string[], input: string): Promise<void> {
  const [command, ...rest] = commandLine(user, program, args)
  return new Promise((resolve, reject) => {
    const child = spawn(command, rest, { cwd: '/', uid: user.uid, gid: user.gid, stdio: ['pipe', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
    child.stdin.on('error', () => {})
    child.stdin.end(input)
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`PostgreSQL's ${program} failed (exit ${code}):\n${said.slice(-2000)}`)),
    )
  })
}

/** Version 3.0 start-up message for role and database km0; the server asks for a password ('R') as soon as it takes connections. */
function startupMessage(): Buffer {
  const body = Buffer.from(`\0\x03\0\0user\0${ROLE}\0database\0${DATABASE}\0\0`, 'latin1')
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([length, body])
}

const isReady = (port: number) => probe(port, startupMessage(), (answer) => answer[0] === 'R'.charCodeAt(0))
