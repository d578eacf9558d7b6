// Kafka and Redis come from Maven's repository. Plain JavaScript: `npm start` and `npm test` fetch them before anything is built.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheRoot } from './cache.mjs'

const execute = promisify(execFile)
const MAVEN_TIMEOUT_MS = 600_000
const SHOWN_CHARACTERS = 2_000

/** @param {string} root */
const pomFile = (root) => join(root, 'infra', 'embedded', 'pom.xml')

/** Folder of the jars that the repository's pom.xml names; it exists only when complete. @param {string} root */
export function jarFolder(root) {
  return join(
    cacheRoot(),
    `jars-${createHash('sha256')
      .update(readFileSync(pomFile(root)))
      .digest('hex')
      .slice(0, 16)}`,
  )
}

/** @type {Promise<string> | null} */
let fetching = null

/**
 * Fetches the jars, about 60 MB, once a user. Resolves to their folder; rejects with Maven's last words.
 * @param {string} root
 * @returns {Promise<string>}
 */
export function fetchJars(root) {
  const folder = jarFolder(root)
  if (existsSync(folder)) return Promise.resolve(folder)
  // Kafka and Redis ask at the same time.
  fetching ??= fetchInto(folder, root).finally(() => {
    fetching = null
  })
  return fetching
}

/** @param {string} folder @param {string} root */
async function fetchInto(folder, root) {
  mkdirSync(cacheRoot(), { recursive: true })
  const part = mkdtempSync(`${folder}.part-`)
  // Maven writes beside the pom, and a clone may be read-only.
  writeFileSync(join(part, 'pom.xml'), readFileSync(pomFile(root)))
  try {
    const words = ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${part}`, '-DincludeScope=runtime']
    await execute('mvn', words, { cwd: part, timeout: MAVEN_TIMEOUT_MS })
    renameSync(part, folder)
  } catch (error) {
    rmSync(part, { recursive: true, force: true })
    // Another process may have been faster.
    if (existsSync(folder)) return folder
    const { stdout, message } = /** @type {{stdout?: string, message: string}} */ (error)
    throw new Error(`Maven could not fetch Kafka and Redis:\n${(stdout || message).slice(-SHOWN_CHARACTERS)}`)
  }
  return folder
}
