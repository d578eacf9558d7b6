import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { jarFolder } from './cache.mjs'
import { repositoryRoot } from './paths.ts'

const run = promisify(execFile)
const MAVEN_TIMEOUT_MS = 600_000
const PROGRESS_EVERY_MS = 5_000

export type Say = (line: string) => void

/** Fetches Kafka's jars and the one with Redis through Maven, once a user. Returns their folder. Throws with Maven's last words. */
export async function fetchJars(say: Say = () => {}): Promise<string> {
  const root = repositoryRoot()
  const folder = jarFolder(root)
  if (existsSync(folder)) return folder
  const part = `${folder}.part-${process.pid}`
  rmSync(part, { recursive: true, force: true })
  mkdirSync(part, { recursive: true })
  // Maven writes beside the pom, and a clone may be read-only.
  writeFileSync(join(part, 'pom.xml'), readFileSync(join(root, 'infra', 'embedded', 'pom.xml')))
  say('fetching Kafka and Redis with Maven, about 60 MB, once')
  const startedMs = performance.now()
  const progress = setInterval(() => say(`  still fetching, ${Math.round((performance.now() - startedMs) / 1000)} s`), PROGRESS_EVERY_MS)
  try {
    const args = ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${part}`, '-DincludeScope=runtime']
    await run('mvn', args, { cwd: part, timeout: MAVEN_TIMEOUT_MS })
  } catch (error) {
    rmSync(part, { recursive: true, force: true })
    const words = error as { stdout?: string; message?: string }
    throw new Error(`Maven could not fetch Kafka and Redis:\n${(words.stdout || words.message || '').slice(-2000)}`)
  } finally {
    clearInterval(progress)
  }
  try {
    renameSync(part, folder)
  } catch (error) {
    // Another process was faster.
    rmSync(part, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}
