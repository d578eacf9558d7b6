// `npm test [-- SUITE…]`. Installs and builds like `npm start`, then runs the suites in order with services of their own on random ports,
// so that it disturbs no platform that runs. The last line is `N passed, N failed, N skipped`.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPrograms } from './start/build.mjs'
import { installPackages, installServices } from './start/install.mjs'
import { seconds } from './start/phases.mjs'
import { checkRequirements } from './start/requirements.mjs'
import { closingLine, countReport, failuresOf, SUITES, sumCounts } from './start/suites.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const words = process.argv.slice(2)

/** Services that a developer has exported must not be written to by tests. */
const OUTSIDE = ['KAFKA_BROKERS', 'DATABASE_URL', 'REDIS_URL', 'MQTT_URL']

/** @param {string} name @param {string} reportFile @returns {Promise<void>} */
function runSuite(name, reportFile) {
  const environment = Object.fromEntries(Object.entries(process.env).filter(([key]) => !OUTSIDE.includes(key)))
  const vitest = join('node_modules', 'vitest', 'vitest.mjs')
  const options = [
    'run',
    '--project',
    name,
    '--passWithNoTests',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${reportFile}`,
  ]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [vitest, ...options], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], env: environment })
    child.once('error', reject)
    child.once('close', () => resolve())
  })
}

/** Longer proofs that are commands of their own. */
function proofs() {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.keys(scripts).filter((name) => name.startsWith('prove:') || name === 'engine:check')
}

/** @param {string} message @returns {never} */
function giveUp(message) {
  console.error(message)
  console.log(closingLine({ passed: 0, failed: 1, skipped: 0 }))
  process.exit(1)
}

const unknown = words.find((word) => !SUITES.some(({ name }) => name === word))
if (unknown !== undefined) giveUp(`there is no suite ${unknown}; there are ${SUITES.map(({ name }) => name).join(', ')}`)
const missing = checkRequirements(root)
if (missing !== null) giveUp(missing)
try {
  await installPackages(root)
  await installServices(root)
  await buildPrograms(root)
} catch (error) {
  giveUp(/** @type {Error} */ (error).message)
}
const reports = mkdtempSync(join(tmpdir(), 'km0-reports-'))
const wanted = SUITES.filter(({ name }) => words.length === 0 || words.includes(name))
const results = []
for (const suite of wanted) {
  console.log(`\n== ${suite.name}: ${suite.proves}`)
  const startedMs = performance.now()
  const reportFile = join(reports, `${suite.name}.json`)
  await runSuite(suite.name, reportFile)
  results.push({ ...suite, tookMs: performance.now() - startedMs, counts: countReport(reportFile), failures: failuresOf(reportFile, root) })
}
rmSync(reports, { recursive: true, force: true })
console.log()
for (const { name, tookMs, budgetMs, counts } of results) {
  const over = tookMs > budgetMs ? `  OVER ITS BUDGET of ${seconds(budgetMs)}` : ''
  console.log(`${name.padEnd(9)} ${seconds(tookMs).padStart(8)}  ${closingLine(counts)}${over}`)
}
for (const { name, failures } of results) for (const failure of failures) console.log(`FAILED in ${name}: ${failure}`)
if (proofs().length > 0) console.log(`not run here, each a command of its own: ${proofs().join(', ')}`)
const sum = sumCounts(results.map(({ counts }) => counts))
console.log(closingLine(sum))
process.exit(sum.failed > 0 ? 1 : 0)
