// `pnpm prove:chaos`: ten seeds of five minutes, one after the other, into docs/proofs/chaos.md. Seeds that stand there already are left out:
// it goes on where it was interrupted. `--fresh` begins anew, `--keep` keeps data and logs.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { recoveriesIn, recoveryTable } from './summary.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const proof = join(root, 'docs', 'proofs', 'chaos.md')
const SEEDS = Array.from({ length: 10 }, (_, index) => index + 1)
const WORDS = ['--minutes', '5', '--vans', '40']
/** `--keep`, for who wants to look at logs of runs that passed. */
const MORE = process.argv.includes('--keep') ? ['--keep'] : []
const SECTION = /^## Seed (\d+): (.*)\n\n```\n([\s\S]*?)\n```$/gm

interface Run {
  readonly seed: number
  /** Commit and load. */
  readonly circumstances: string
  readonly output: string
}

function storedRuns(): Run[] {
  if (process.argv.includes('--fresh') || !existsSync(proof)) return []
  return [...readFileSync(proof, 'utf8').matchAll(SECTION)].map(([, seed, circumstances = '', output = '']) => ({
    seed: Number(seed),
    circumstances,
    output,
  }))
}

function store(runs: readonly Run[]): void {
  const all = runs.map(({ output }) => output).join('\n')
  const passed = runs.filter(({ output }) => /^\d+ passed, 0 failed$/m.test(output)).length
  const text = [
    '# Proof: chaos',
    '',
    `\`pnpm prove:chaos\`: seeds 1 to 10, \`pnpm chaos --seed N ${WORDS.join(' ')}\`. What is done and judged: [chaos.md](../chaos.md). Each seed names its commit, and the load of the machine when it ended (${cpus().length} cores; other work ran beside it).`,
    '',
    `${passed} of ${runs.length} seeds passed${runs.length < SEEDS.length ? `; ${SEEDS.length - runs.length} are still to be run, and the command goes on there` : ''}.`,
    '',
    '## Recovery',
    '',
    'Seconds from the kill, or from the end of what lasted, to results that are newer. They grow with the load: `pnpm prove:recovery` measures kills alone on a quieter machine.',
    '',
    ...recoveryTable(recoveriesIn(all)),
    '',
    ...runs.flatMap(({ seed, circumstances, output }) => [`## Seed ${seed}: ${circumstances}`, '', '```', output, '```', '']),
  ]
  writeFileSync(proof, text.join('\n'))
}

async function run(seed: number): Promise<Run> {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim()
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', join(root, 'test', 'chaos', 'run', 'main.ts'), '--seed', String(seed), ...WORDS, ...MORE],
    {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said += chunk
      process.stdout.write(chunk)
    })
  }
  await new Promise((resolve) => child.once('close', resolve))
  // The start of services and the table are left out: the one is the same each time, the other stands above for all.
  const kept = said.split('\n').filter((line) => /^(chaos: |\d\d:\d\d {2}|\d+ of \d+ faults|Ended by|[✓✗] .+: |\d+ passed, )/.test(line))
  return { seed, circumstances: `commit ${commit}, load ${loadavg()[1]?.toFixed(1)}`, output: kept.join('\n') }
}

const runs = storedRuns()
for (const seed of SEEDS.filter((one) => !runs.some((stored) => stored.seed === one))) {
  runs.push(await run(seed))
  runs.sort((a, b) => a.seed - b.seed)
  store(runs)
}
const failed = runs.filter(({ output }) => !/^\d+ passed, 0 failed$/m.test(output)).length
console.log(`${runs.length - failed} passed, ${failed} failed`)
process.exit(failed > 0 ? 1 : 0)
