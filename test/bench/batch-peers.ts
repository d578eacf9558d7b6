import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServices } from '@km0/testkit/services'
import { cacheRoot } from '../../infra/embedded/cache.mjs'
import { compared, type Line } from './batch-compare.ts'
import { benchLake, loadDays } from './lake-day.ts'
import { giveUp, type SubjectLine } from './report.ts'

const HOME = join(cacheRoot(), 'peers')
/** The first run of a process is that of a cold engine, the second counts. */
const RUNS_EACH = 2

interface Program {
  readonly name: string
  readonly command: readonly string[]
}

/** The same day to result rows in memory by us and by the peers that are there, in turns, so that the machine's moods meet all. */
export async function besidePeers(dayFile: string, turns: number): Promise<Omit<SubjectLine, 'bench'>[]> {
  const others = peers(dayFile)
  const services = await startServices({ postgres: true })
  try {
    const { lake } = await loadDays(benchLake(services.postgres.url, services.dataDir), dayFile, 1)
    lake.close()
    const programs = [ours(services.postgres.url, services.dataDir), ...others]
    const lines = new Map<string, Line[]>(programs.map(({ name }) => [name, []]))
    for (let turn = 0; turn < turns; turn += 1) for (const program of programs) lines.get(program.name)?.push(run(program))
    return compared(lines)
  } finally {
    await services.stop()
  }
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

function ours(url: string, dir: string): Program {
  const script = [process.execPath, '--import', 'tsx', here('lake-batch.ts')]
  return { name: 'ours', command: [...script, '--runs', String(RUNS_EACH), '--lake', url, dir] }
}

function peers(dayFile: string): Program[] {
  const python = join(HOME, 'venv', 'bin', 'python')
  if (!existsSync(python)) giveUp('the other programs are not there: `pnpm bench:setup` fetches them')
  const names = ['duckdb', 'polars', 'spark', ...(existsSync(join(HOME, 'classes', 'FlinkSql.class')) ? ['flink'] : [])]
  return names.map((name) => ({ name, command: [python, here(`peers/${name}_peer.py`), dayFile, '--runs', String(RUNS_EACH)] }))
}

function run({ name, command: [program = '', ...options] }: Program): Line {
  const { status, stdout, stderr } = spawnSync(program, options, {
    encoding: 'utf8',
    env: { ...process.env, PEERS_HOME: HOME, PYTHONDONTWRITEBYTECODE: '1' },
  })
  const text = stdout.split('\n').findLast((line) => line.startsWith('{'))
  if (status !== 0 || text === undefined) throw new Error(`${name} ended with ${status}: ${stderr.slice(-2_000)}`)
  const line = JSON.parse(text) as Line
  process.stderr.write(`${name}: ${line.seconds.at(-1)} s, ${line.cpu_seconds.at(-1)} CPU s, ${line.peak_rss_mb} MB\n`)
  return line
}
