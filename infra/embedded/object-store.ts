import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheRoot } from './cache.mjs'
import type { Guard } from './guard.ts'
import { freePort } from './ports.ts'
import { probe } from './probe.ts'
import { type Service, startService } from './process.ts'

const execute = promisify(execFile)
/** Apache-2.0, from the Go module proxy; heeds conditional writes. */
const MODULE = 'github.com/versity/versitygw/cmd/versitygw'
const VERSION = 'v1.8.0'
const BUILD_TIMEOUT_MS = 900_000
const SHOWN_CHARACTERS = 2_000

export interface ObjectStoreOptions {
  readonly dataDir: string
  readonly port?: number | undefined
  readonly logFile?: string | undefined
  readonly guard?: Guard | undefined
}

export interface ObjectStoreServer extends Service {
  readonly port: number
  readonly bucket: string
  readonly keyId: string
  readonly secret: string
  restart(): Promise<ObjectStoreServer>
}

/**
 * Path of the server's binary; builds it once a user with `go install`, which takes minutes. Rejects with Go's last words, or with what to
 * do where there is no Go.
 */
async function objectStoreBinary(): Promise<string> {
  const folder = join(cacheRoot(), `versitygw-${VERSION}`)
  const binary = join(folder, 'versitygw')
  if (existsSync(binary)) return binary
  mkdirSync(cacheRoot(), { recursive: true })
  const part = mkdtempSync(`${folder}.part-`)
  try {
    await execute('go', ['install', `${MODULE}@${VERSION}`], { env: { ...process.env, GOBIN: part }, timeout: BUILD_TIMEOUT_MS })
    if (!existsSync(folder)) renameSync(part, folder)
    return binary
  } catch (error) {
    const { code, stderr, message } = error as Error & { code?: unknown; stderr?: string }
    if (code === 'ENOENT') throw new Error(`no S3-compatible server: install Go, or put the binary of ${MODULE}@${VERSION} at ${binary}`)
    throw new Error(`Go could not build ${MODULE}@${VERSION}:\n${(stderr || message).slice(-SHOWN_CHARACTERS)}`)
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
}

/** Starts an S3-compatible server on 127.0.0.1 with one bucket, for tests. */
export async function startObjectStore(options: ObjectStoreOptions): Promise<ObjectStoreServer> {
  const binary = await objectStoreBinary()
  const port = await freePort(options.port)
  const [keyId, secret, bucket] = ['test-key', 'test-secret', 'km0-test']
  const [objects, attributes] = [join(options.dataDir, 'objects'), join(options.dataDir, 'attributes')]
  for (const folder of [join(objects, bucket), attributes]) mkdirSync(folder, { recursive: true })
  const service = await startService({
    name: 'versitygw',
    command: binary,
    args: ['--quiet', '--port', `127.0.0.1:${port}`, 'posix', '--sidecar', attributes, objects],
    // Not as arguments, which everybody on the machine sees.
    environment: { ...process.env, ROOT_ACCESS_KEY_ID: keyId, ROOT_SECRET_ACCESS_KEY: secret },
    logFile: options.logFile ?? join(options.dataDir, 'versitygw.log'),
    ready: () => probe(port, Buffer.from('GET / HTTP/1.0\r\n\r\n'), (answer) => answer.toString().startsWith('HTTP/')),
    readyTimeoutMs: 30_000,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 5_000,
    guard: options.guard,
  })
  return { ...service, port, bucket, keyId, secret, restart: () => startObjectStore({ ...options, port }) }
}
