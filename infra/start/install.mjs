import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fetchJars, jarFolder } from '../embedded/jars.mjs'
import { hashInputs, isStamped, stamp } from './inputs.mjs'
import { phase } from './phases.mjs'
import { run } from './run.mjs'

/** @param {string} root @returns {string} The version of pnpm that package.json names. */
function pnpmVersion(root) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const version = /^pnpm@(\d+\.\d+\.\d+)/.exec(packageManager ?? '')?.[1]
  if (version === undefined) throw new Error(`package.json names no pnpm version in packageManager (${packageManager})`)
  return version
}

/** @param {string} version @returns {string[]} Command and first words: the pnpm of the machine when it is that version, else through npx. */
function pnpmCommand(version) {
  try {
    const found = execFileSync('pnpm', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    if (found === version) return ['pnpm']
  } catch {
    // None, or one that is broken.
  }
  return ['npx', '-y', `pnpm@${version}`]
}

/** @param {string} root @param {string} folder */
const manifestsIn = (root, folder) => readdirSync(join(root, folder)).map((name) => join(folder, name, 'package.json'))

/**
 * Installs npm packages exactly as the lock file says, when it, a package.json or Node's major version changed since the last time.
 * @param {string} root
 */
export async function installPackages(root) {
  const manifests = [
    'package.json',
    'infra/package.json',
    'test/package.json',
    ...manifestsIn(root, 'apps'),
    ...manifestsIn(root, 'packages'),
  ]
  const major = process.version.split('.')[0]
  const hash = hashInputs(root, ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests], `${major} ${process.platform} ${process.arch}`)
  const stampFile = join(root, 'node_modules', '.km0-installed')
  if (isStamped(stampFile, hash)) return
  const [command, ...words] = /** @type {[string, ...string[]]} */ (pnpmCommand(pnpmVersion(root)))
  await phase('install npm packages', () =>
    run(command, [...words, 'install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only'], {
      cwd: root,
      environment: { ...process.env, CI: '1' },
    }),
  )
  stamp(stampFile, hash)
}

/**
 * Fetches Kafka and Redis through Maven when the machine does not have them yet and they are wanted here.
 * @param {string} root
 */
export async function installServices(root) {
  const outside = process.env.KAFKA_BROKERS && process.env.REDIS_URL
  if (outside || existsSync(jarFolder(root))) return
  await phase('fetch Kafka and Redis with Maven, 60 MB, once', () => fetchJars(root))
}
