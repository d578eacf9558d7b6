import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { DuckDBConnection } from '@duckdb/node-api'
import { type Engine, loadEngine } from './engine.ts'
import { LakeNotInstalledError } from './errors.ts'

const run = promisify(execFile)

/** Extensions of the engine that the lake needs, with the name of the file that DuckDB looks for. */
const EXTENSIONS = { ducklake: 'ducklake', postgres: 'postgres_scanner', httpfs: 'httpfs' } as const
const HUB_TIMEOUT_MS = 120_000
const PIP_TIMEOUT_MS = 300_000
const PIPS: readonly (readonly string[])[] = [['python3', '-m', 'pip'], ['pip3'], ['pip'], ['python', '-m', 'pip']]

export type Say = (line: string) => void

/**
 * Sees to it that the extensions for exactly this engine are in `directory`: there already, by DuckDB's own INSTALL, or from the Python
 * package index. Rejects with LakeNotInstalledError, whose message says what to install.
 */
export async function ensureExtensions(engine: Engine, directory: string, say: Say = () => {}): Promise<void> {
  const { version, platform } = await identify(engine)
  const folder = join(directory, version, platform)
  if (isComplete(folder)) return
  say(`fetching DuckDB's extensions ${Object.keys(EXTENSIONS).join(', ')} ${version}, about 40 MB, once`)
  const fromHub = await installFromHub(engine, directory)
  if (fromHub === null && isComplete(folder)) return
  const fromPip = await installFromPip(folder, version)
  if (fromPip === null && isComplete(folder)) return
  throw new LakeNotInstalledError(
    `The lake needs DuckDB's extensions ${Object.keys(EXTENSIONS).join(', ')} for ${version} (${platform}), and neither way to them worked. ` +
      `DuckDB's hub: ${fromHub ?? 'files are missing'}. pip: ${fromPip ?? 'files are missing'}. ` +
      `Install Python 3 with pip, or put the files into ${folder}, and start again. Everything else runs without the lake.`,
  )
}

/** The same for whoever prepares a machine or an image before a lake is opened. */
export const fetchExtensions = async (directory: string, say?: Say): Promise<void> => ensureExtensions(await loadEngine(), directory, say)

async function identify({ DuckDBInstance, version }: Engine): Promise<{ version: string; platform: string }> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    const reader = await connection.runAndReadAll('PRAGMA platform')
    return { version: version(), platform: String(reader.getRows()[0]?.[0]) }
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

function isComplete(folder: string): boolean {
  return Object.values(EXTENSIONS).every((name) => existsSync(join(folder, `${name}.duckdb_extension`)))
}

/** null when it worked, else why not. */
async function installFromHub({ DuckDBInstance }: Engine, directory: string): Promise<string | null> {
  mkdirSync(directory, { recursive: true })
  const instance = await DuckDBInstance.create(':memory:', { extension_directory: directory })
  const connection = await instance.connect()
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${HUB_TIMEOUT_MS / 1000} s`), HUB_TIMEOUT_MS)
  })
  try {
    return await Promise.race([timeout, installAll(connection)])
  } finally {
    clearTimeout(timer)
  }
}

async function installAll(connection: DuckDBConnection): Promise<string | null> {
  try {
    for (const name of Object.keys(EXTENSIONS)) await connection.run(`INSTALL ${name}`)
    return null
  } catch (error) {
    return firstLine(error)
  }
}

/** null when it worked, else why not. Files appear whole or not at all, so several programs may do this at once. */
async function installFromPip(folder: string, version: string): Promise<string | null> {
  mkdirSync(dirname(folder), { recursive: true })
  const part = mkdtempSync(join(dirname(folder), 'pip-'))
  try {
    const failure = await pipInstall(part, version)
    if (failure !== null) return failure
    mkdirSync(folder, { recursive: true })
    for (const [name, file] of Object.entries(EXTENSIONS)) {
      const source = findFile(part, `${name}.duckdb_extension`)
      if (source === null) return `the package of ${name} holds no extension for this engine`
      const goal = join(folder, `${file}.duckdb_extension`)
      copyFileSync(source, `${goal}.${process.pid}`)
      renameSync(`${goal}.${process.pid}`, goal)
    }
    return null
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
}

async function pipInstall(target: string, version: string): Promise<string | null> {
  const packages = Object.keys(EXTENSIONS).map((name) => `duckdb-extension-${name}==${version.replace(/^v/, '')}`)
  let failure = 'there is no pip'
  for (const [command, ...words] of PIPS) {
    try {
      await run(command ?? 'pip', [...words, 'install', '--quiet', '--no-deps', '--target', target, ...packages], {
        timeout: PIP_TIMEOUT_MS,
      })
      return null
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') continue
      failure = firstLine(error)
    }
  }
  return failure
}

function findFile(folder: string, name: string): string | null {
  for (const entry of readdirSync(folder)) {
    const path = join(folder, entry)
    if (entry === name) return path
    const found = statSync(path).isDirectory() ? findFile(path, name) : null
    if (found !== null) return found
  }
  return null
}

function firstLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error && String(error.stderr) !== '' ? String(error.stderr) : String(error)
  const line = text.split('\n').find((part) => /error/i.test(part)) ?? text.split('\n')[0] ?? text
  return line.trim().slice(0, 300)
}
