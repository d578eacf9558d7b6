// `pnpm check`: the one gate before a commit. Runs every check, also after one failed, and says which did; exit 1 when any failed.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { seconds } from './start/phases.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
/** A cruise over a handful of files says success and has seen nothing. */
const LEAST_MODULES = 50
/** Of each failed check; its own command shows all. */
const SHOWN_CHARACTERS = 6_000

/** @param {string} command @param {readonly string[]} words */
const run = (command, words) =>
  spawnSync(command, words, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, env: { ...process.env, NO_COLOR: '1' } })
/** @param {string} name */
const binary = (name) => join('node_modules', '.bin', name)
/** @param {{status: number | null, stdout: string, stderr: string}} result */
const problemOf = (result) =>
  result.status === 0 ? null : `${result.stdout}${result.stderr}`.trim().slice(-SHOWN_CHARACTERS) || `exit ${result.status}`

function cruise() {
  const result = run(binary('depcruise'), [
    '--config',
    '.dependency-cruiser.cjs',
    '--output-type',
    'err',
    'apps',
    'packages',
    'infra',
    'test',
  ])
  const problem = problemOf(result)
  if (problem !== null) return problem
  const modules = Number(/(\d+) modules/.exec(result.stdout)?.[1] ?? 0)
  return modules < LEAST_MODULES ? `only ${modules} modules were cruised: it does not see the sources\n${result.stdout}` : null
}

/** @type {readonly {name: string, needs?: string, problem: () => string | null}[]} */
const checks = [
  { name: 'biome', problem: () => problemOf(run(binary('biome'), ['ci', '--colors=off', '--reporter=summary', '.'])) },
  { name: 'typecheck', problem: () => problemOf(run(process.execPath, ['infra/typecheck.mjs'])) },
  {
    name: 'tidy',
    problem: () => problemOf(run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'unit', 'test/tidy'])),
  },
  { name: 'answers', problem: () => problemOf(run(process.execPath, ['apps/dashboard/scripts/answers.mjs', '--check'])) },
  { name: 'dependency-cruiser', needs: '.dependency-cruiser.cjs', problem: cruise },
  { name: 'licences', problem: () => problemOf(run(process.execPath, ['infra/licences.mjs'])) },
  { name: 'kubernetes', problem: () => problemOf(run(process.execPath, ['infra/kubernetes-check.mjs'])) },
  { name: 'knip', needs: 'knip.json', problem: () => problemOf(run(binary('knip'), ['--no-config-hints'])) },
]

let failed = 0
for (const { name, needs, problem } of checks) {
  if (needs !== undefined && !existsSync(join(root, needs))) {
    console.log(`- ${name}: no ${needs}`)
    continue
  }
  const startedMs = performance.now()
  const said = problem()
  if (said !== null) failed += 1
  console.log(`${said === null ? '✓' : '✗'} ${name} (${seconds(performance.now() - startedMs)})${said === null ? '' : `\n${said}`}`)
}
process.exit(failed > 0 ? 1 : 0)
