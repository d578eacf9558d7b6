import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const MINUTE_MS = 60_000

/**
 * The suites of `npm test`, in order. The budget is what a suite may take on two cores before somebody should look at it; going over it is said, not a failure.
 * @type {readonly {name: string, budgetMs: number, proves: string}[]}
 */
export const SUITES = [
  { name: 'unit', budgetMs: 3 * MINUTE_MS, proves: 'pure code, laws, parity with the oracle, import table' },
  { name: 'adapters', budgetMs: 4 * MINUTE_MS, proves: 'one room at a time against real services' },
  { name: 'e2e', budgetMs: 5 * MINUTE_MS, proves: 'a real day from MQTT to Postgres' },
  { name: 'browser', budgetMs: 5 * MINUTE_MS, proves: 'the panel in a real Chromium' },
  { name: 'chaos', budgetMs: 3 * MINUTE_MS, proves: 'kill -9 in mid-run' },
]

/** @typedef {{passed: number, failed: number, skipped: number}} Counts */

/**
 * Counts of one suite from vitest's JSON report. A file that could not be loaded has no tests and counts as one failure;
 * so does a report that is not there, since then vitest itself died.
 * @param {string} file
 * @returns {Counts}
 */
export function countReport(file) {
  if (!existsSync(file)) return { passed: 0, failed: 1, skipped: 0 }
  const report = JSON.parse(readFileSync(file, 'utf8'))
  /** @type {{status: string, assertionResults: {status: string}[]}[]} */
  const results = report.testResults ?? []
  const broken = results.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  return {
    passed: report.numPassedTests ?? 0,
    failed: (report.numFailedTests ?? 0) + broken.length,
    skipped: (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0),
  }
}

/** A message of a failure is told up to here: the whole of it stands above, in the suite's own output. */
const MESSAGE_LINES = 12

/**
 * What failed in one suite, for the end of the output, where a cut log still shows it: file, name and the beginning of the message of each.
 * @param {string} file vitest's JSON report
 * @param {string} root folder that file names are told from
 * @returns {string[]}
 */
export function failuresOf(file, root) {
  if (!existsSync(file)) return ['no report: vitest itself ended early']
  /** @type {{name: string, status: string, message?: string, assertionResults: {status: string, fullName: string, failureMessages?: string[]}[]}[]} */
  const results = JSON.parse(readFileSync(file, 'utf8')).testResults ?? []
  return results.flatMap(({ name, status, message = '', assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed')
    if (failed.length === 0) return status === 'failed' ? [told(relative(root, name), [message])] : []
    return failed.map((test) => told(`${relative(root, name)} > ${test.fullName}`, test.failureMessages ?? []))
  })
}

/** @param {string} where @param {readonly string[]} messages */
function told(where, messages) {
  const lines = messages.flatMap((message) => message.split('\n')).slice(0, MESSAGE_LINES)
  return [where, ...lines.map((line) => `    ${line}`)].join('\n')
}

/** @param {readonly Counts[]} all @returns {Counts} */
export function sumCounts(all) {
  return all.reduce(
    (sum, counts) => ({ passed: sum.passed + counts.passed, failed: sum.failed + counts.failed, skipped: sum.skipped + counts.skipped }),
    { passed: 0, failed: 0, skipped: 0 },
  )
}

/** @param {Counts} counts */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}
