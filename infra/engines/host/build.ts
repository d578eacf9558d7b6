import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheRoot } from '../../embedded/cache.mjs'
import { repositoryRoot } from '../../embedded/paths.ts'
import { buildJob, fetchFlink } from '../flink/cluster/fetch.ts'

const run = promisify(execFile)
const BUILD_TIMEOUT_MS = 900_000

export const ENGINES = ['kafka-streams', 'flink'] as const
export type Engine = (typeof ENGINES)[number]

export const bundleFile = () => join(repositoryRoot(), 'infra', 'engines', 'dist', 'km0-engine.js')
export const streamsTarget = () => join(repositoryRoot(), 'infra', 'engines', 'kafka-streams', 'target')
export const flinkJar = () => join(repositoryRoot(), 'infra', 'engines', 'flink', 'target', 'km0-flink.jar')

/** What keeps an engine from being started here, with what to do; null when nothing does. */
export async function missingOf(engine: Engine): Promise<string | null> {
  if (!(await works('java', ['-version'])))
    return 'there is no Java: install version 17 (Debian, Ubuntu: apt-get install openjdk-17-jre-headless)'
  const isBuilt =
    engine === 'kafka-streams'
      ? existsSync(join(streamsTarget(), 'lib')) && existsSync(bundleFile())
      : existsSync(flinkJar()) && existsSync(join(cacheRoot(), 'flink-2.3.0'))
  return isBuilt ? null : `${engine} is not built: pnpm engine build ${engine}`
}

/** Builds bundle and host; fetches what they need, once. Throws with the last words of what failed. */
export async function buildEngine(engine: Engine): Promise<void> {
  const tools = engine === 'flink' ? ['mvn', 'python3', 'unzip'] : ['mvn']
  for (const tool of tools)
    if (!(await works(tool, [tool === 'unzip' ? '-v' : '--version'])))
      throw new Error(
        `${tool} is needed to build ${engine}: install it (Debian, Ubuntu: apt-get install ${tool === 'mvn' ? 'maven' : tool})`,
      )
  if (engine === 'flink') {
    await fetchFlink()
    await buildJob()
    return
  }
  const root = repositoryRoot()
  await run(process.execPath, [join(root, 'infra', 'build.mjs'), '--engine'], { timeout: BUILD_TIMEOUT_MS })
  const pom = join(root, 'infra', 'engines', 'kafka-streams', 'pom.xml')
  await run('mvn', ['-q', '-B', '-DskipTests', '-f', pom, 'package'], { timeout: BUILD_TIMEOUT_MS, maxBuffer: 1 << 26 })
}

const works = (command: string, words: readonly string[]) =>
  run(command, [...words], { timeout: 60_000 }).then(
    () => true,
    () => false,
  )
