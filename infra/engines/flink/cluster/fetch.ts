import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { cacheRoot } from '../../../embedded/cache.mjs'
import { repositoryRoot } from '../../../embedded/paths.ts'

const run = promisify(execFile)
const FLINK = '2.3.0'
const FETCH_TIMEOUT_MS = 900_000
const GRAAL_GROUPS = ['polyglot', 'js', 'truffle', 'sdk', 'regex', 'shadowed'].map((name) => `org.graalvm.${name}`)

const projectFolder = () => join(repositoryRoot(), 'infra', 'engines', 'flink')

/** Runs a program; rejects with its last words. */
async function must(what: string, command: string, words: readonly string[], cwd?: string): Promise<void> {
  try {
    await run(command, [...words], { timeout: FETCH_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024, ...(cwd === undefined ? {} : { cwd }) })
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string }
    throw new Error(`${what}:\n${`${stdout ?? ''}${stderr ?? ''}`.slice(-2_000) || message}`)
  }
}

/**
 * Folder of Flink's jars and, in the same lib, GraalJS; fetched once a user, 380 MB. Flink itself comes from PyPI's apache-flink-libraries, since
 * Maven's repository has no flink-dist; a jar of the job must not hold GraalJS (README.md).
 */
export async function fetchFlink(): Promise<string> {
  const folder = join(cacheRoot(), `flink-${FLINK}`)
  if (existsSync(folder)) return folder
  mkdirSync(cacheRoot(), { recursive: true })
  const part = mkdtempSync(`${folder}.part-`)
  try {
    const words = ['-m', 'pip', 'download', '-q', '--no-deps', '--disable-pip-version-check', '-d', join(part, 'wheels')]
    await must('Flink cannot be fetched from PyPI', 'python3', [...words, `apache-flink-libraries==${FLINK}`])
    const [wheel] = readdirSync(join(part, 'wheels'))
    await must('Flink cannot be unpacked', 'unzip', [
      '-q',
      '-o',
      '-j',
      join(part, 'wheels', wheel ?? ''),
      'pyflink/lib/*.jar',
      '-d',
      join(part, 'lib'),
    ])
    rmSync(join(part, 'wheels'), { recursive: true })
    await must(
      'GraalJS cannot be fetched',
      'mvn',
      [
        '-q',
        '-B',
        'dependency:copy-dependencies',
        '-DincludeScope=provided',
        `-DincludeGroupIds=${GRAAL_GROUPS.join(',')}`,
        `-DoutputDirectory=${join(part, 'lib')}`,
      ],
      projectFolder(),
    )
    renameSync(part, folder)
  } catch (error) {
    rmSync(part, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

/** Whether a file in the folder is newer than the time. */
function hasNewer(folder: string, thanMs: number): boolean {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).some(
    (entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).mtimeMs > thanMs,
  )
}

/** Builds bundle and job where one of them is missing, a source is newer or the jar holds another bundle. Resolves to the jar. */
export async function buildJob(): Promise<string> {
  const root = repositoryRoot()
  await must('the bundle cannot be built', process.execPath, [join(root, 'infra', 'build.mjs'), '--engine'], root)
  const script = readFileSync(join(root, 'infra', 'engines', 'dist', 'km0-engine.js'), 'utf8')
  const project = projectFolder()
  const jar = join(project, 'target', 'km0-flink.jar')
  const inside = join(project, 'target', 'classes', 'km0-engine.js')
  const isThere = existsSync(jar) && existsSync(inside) && readFileSync(inside, 'utf8') === script
  if (isThere && !hasNewer(join(project, 'src', 'main'), statSync(jar).mtimeMs)) return jar
  await must('the job cannot be built', 'mvn', ['-q', '-B', '-DskipTests', 'package'], project)
  return jar
}
