import { existsSync, readFileSync } from 'node:fs'

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
