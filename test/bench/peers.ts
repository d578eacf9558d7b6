import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServices } from '@km0/testkit/services'
import { cacheRoot } from '../../infra/embedded/cache.mjs'
import { benchLake, loadDays } from './lake-day.ts'

const HOME = join(cacheRoot(), 'peers')
/** The first run of a process is that of a cold engine, the second counts. */
const RUNS_EACH = 2

interface Program {
  readonly name: string
  readonly command: readonly string[]
}

/** One line of a program: its runs, the first one cold. */
interface Line {
  readonly version?: string
  readonly digest: string
  readonly seconds: readonly number[]
  readonly cpu_seconds: readonly number[]
  readonly boot_seconds: number
  readonly peak_rss_mb: number
}

/** The same day to result rows by us and by the peers that are there, in turns, so that the machine's moods meet all. Prints each turn, and a table. */
export async function besidePeers(dayFile: string, rounds: number): Promise<void> {
  const services = await startServices({ postgres: true })
  try {
    const { lake } = await loadDays(benchLake(services.postgres.url, services.dataDir), dayFile, 1)
    lake.close()
    const programs = [ours(services.postgres.url, services.dataDir), ...peers(dayFile)]
    const lines = new Map<string, Line[]>(programs.map(({ name }) => [name, []]))
    for (let round = 0; round < rounds; round += 1) for (const program of programs) lines.get(program.name)?.push(run(program))
    print(lines)
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
  if (!existsSync(python)) throw new Error('the other programs are not there: `pnpm bench:setup` fetches them')
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
  console.log(text)
  return JSON.parse(text) as Line
}

function print(lines: ReadonlyMap<string, readonly Line[]>): void {
  const right = lines.get('ours')?.[0]?.digest
  console.log('| program | seconds | CPU s | first run, CPU s | boot s | peak MB | same rows |\n|---|---|---|---|---|---|---|')
  for (const [name, all] of lines) {
    const of = (pick: (line: Line) => number | undefined) => median(all.map((line) => pick(line) ?? Number.NaN)).toFixed(2)
    const figures = [
      of(({ seconds }) => seconds.at(-1)),
      of((line) => line.cpu_seconds.at(-1)),
      of((line) => line.cpu_seconds[0]),
      of((line) => line.boot_seconds),
    ]
    const memory = Math.max(...all.map((line) => line.peak_rss_mb))
    const version = all[0]?.version === undefined ? '' : ` ${all[0].version}`
    console.log(
      `| ${name}${version} | ${figures.join(' | ')} | ${memory} | ${all.every(({ digest }) => digest === right) ? 'yes' : 'NO'} |`,
    )
  }
  console.log(`medians of ${lines.get('ours')?.length} turns; load ${loadavg()[0]?.toFixed(1)}, ${cpus().length} cores; ${right}`)
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}
