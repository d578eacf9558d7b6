// `pnpm prove:recovery`: kills each part of the whole platform with -9, again and again, and tells how long results stayed away.
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { repositoryRoot } from '@km0/infra/embedded/paths'
import { buildPrograms } from '../../../infra/start/build.mjs'
import { RunningPlatform } from './platform.ts'
import { PARTS, type Place, Results } from './results.ts'
import { rowsOf, type Sample, tableOf } from './samples.ts'

const HELP = `pnpm prove:recovery [-- --rounds N] [--parts bridge,kafka,…] [--samples FILE] [--no-build] [--keep]
  --rounds N      kills of each part, one part after the other; default 3
  --parts …       of ${Object.keys(PARTS).join(', ')}; default all
  --samples FILE  JSON lines; what is measured is added, and the table is of all that it holds
  --no-build      programs and pages as they were built last
  --keep          keep data and logs
`
const GOAL_MS = 10_000
/** Here waiting ends. */
const GIVE_UP_MS = 120_000
const LOOK_EVERY_MS = 50
/** The demo fleet lives its past first, at many times the speed. */
const PRESENT_WITHIN_MS = 180_000
const PLACES: readonly Place[] = ['panel', 'rows', 'stock', 'lake', 'batch']
/** Kafka recovers its log and its clients find each other anew. */
const goalOf = (part: string) => (part === 'kafka' ? null : GOAL_MS)

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== '--'),
  options: {
    rounds: { type: 'string', default: '3' },
    parts: { type: 'string', default: Object.keys(PARTS).join(',') },
    samples: { type: 'string' },
    'no-build': { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const parts = values.parts.split(',')
const rounds = Number(values.rounds)
if (values.help || !(rounds >= 1) || parts.some((part) => !Object.hasOwn(PARTS, part))) {
  process.stdout.write(HELP)
  process.exit(values.help ? 0 : 2)
}

/** Kills a process and all below it. */
function killFamily(pid: number): void {
  const table = execFileSync('ps', ['-eo', 'pid=,ppid=']).toString().trim().split('\n')
  const parents = table.map((line) => line.trim().split(/\s+/).map(Number))
  const family = [pid]
  for (const member of family) for (const [child, parent] of parents) if (parent === member && child !== undefined) family.push(child)
  for (const member of family) {
    try {
      process.kill(member, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}

async function waitFor(met: () => Promise<boolean>, fromMs: number, withinMs: number): Promise<number | null> {
  while (Date.now() - fromMs < withinMs) {
    if (await met()) return Date.now() - fromMs
    await sleep(LOOK_EVERY_MS)
  }
  return null
}

/** Results flow everywhere; says where they do not when they do not in time. */
async function untilWell(results: Results, places: readonly Place[], withinMs: number): Promise<readonly Place[]> {
  const fromMs = Date.now()
  const rows = await results.lakeRows()
  const missing = await Promise.all(
    places.map(async (place) => ((await waitFor(() => results.areNewer(place, fromMs, rows), fromMs, withinMs)) === null ? [place] : [])),
  )
  return missing.flat()
}

async function killOne(platform: RunningPlatform, results: Results, part: string): Promise<Sample> {
  const place = PARTS[part] as Place
  const pid = await platform.pidOf(part)
  if (pid === undefined) throw new Error(`${part} does not run`)
  const rows = await results.lakeRows()
  killFamily(pid)
  const killedMs = Date.now()
  const isBack = async () => {
    const now = await platform.pidOf(part)
    return now !== undefined && now !== pid
  }
  // The worker of the queue says that it is well until it notices that it is not.
  const first = place === 'batch' ? await waitFor(isBack, killedMs, GIVE_UP_MS) : null
  const [backMs, tookMs] = await Promise.all([
    first ?? waitFor(isBack, killedMs, GIVE_UP_MS),
    waitFor(() => results.areNewer(place, killedMs, rows), killedMs, GIVE_UP_MS),
  ])
  return { part, backMs, tookMs }
}

async function main(): Promise<number> {
  const root = repositoryRoot()
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root }).toString().trim()
  if (!values['no-build']) await buildPrograms(root)
  const platform = await RunningPlatform.start(root)
  const results = new Results(platform)
  const samples: Sample[] = []
  try {
    const missing = await untilWell(results, PLACES, PRESENT_WITHIN_MS)
    if (missing.length > 0) console.log(`no results to begin with: ${missing.join(', ')}; parts that make them are left out`)
    const wanted = parts.filter((part) => !missing.includes(PARTS[part] as Place))
    for (let round = 1; round <= rounds; round += 1) {
      for (const part of wanted) {
        const sample = await killOne(platform, results, part)
        const text = (ms: number | null) => (ms === null ? 'not' : `after ${(ms / 1000).toFixed(1)} s`)
        console.log(
          `${round}/${rounds} ${part}: process back ${text(sample.backMs)}, results ${text(sample.tookMs)}, load ${loadavg()[0]?.toFixed(1)}`,
        )
        samples.push(sample)
        if (values.samples !== undefined) appendFileSync(values.samples, `${JSON.stringify(sample)}\n`)
        const stuck = await untilWell(
          results,
          PLACES.filter((place) => !missing.includes(place)),
          GIVE_UP_MS,
        )
        if (stuck.length > 0) throw new Error(`after ${part} was killed there are no results any more: ${stuck.join(', ')}`)
      }
    }
  } finally {
    await results.close()
    await platform.close(values.keep)
    if (values.keep) console.log(`data and logs: ${platform.folder}`)
  }
  const held = values.samples !== undefined && existsSync(values.samples) ? readFileSync(values.samples, 'utf8').trim().split('\n') : null
  const all = held === null ? samples : held.map((line) => JSON.parse(line) as Sample)
  const rows = rowsOf(all)
  console.log(
    `\ncommit ${commit}, Node ${process.version}, load ${loadavg()
      .map((load) => load.toFixed(1))
      .join(' ')}\n`,
  )
  for (const line of tableOf(rows, goalOf)) console.log(line)
  const failed = rows.filter(({ part, notBack, longestMs }) => {
    const goal = goalOf(part)
    return notBack > 0 || (goal !== null && (longestMs ?? Number.POSITIVE_INFINITY) >= goal)
  })
  console.log(`\n${rows.length - failed.length} passed, ${failed.length} failed`)
  return failed.length > 0 ? 1 : 0
}

process.exit(await main())
