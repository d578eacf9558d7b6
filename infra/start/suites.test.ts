import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { closingLine, countReport, failuresOf, SUITES, sumCounts } from './suites.mjs'

const folder = mkdtempSync(join(tmpdir(), 'km0-suites-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function report(content: object): string {
  const file = join(folder, 'report.json')
  writeFileSync(file, JSON.stringify(content))
  return file
}

describe('the closing line', () => {
  it('counts tests', () => {
    const counts = countReport(report({ numPassedTests: 3, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1, testResults: [] }))
    expect(counts).toEqual({ passed: 3, failed: 1, skipped: 3 })
  })

  it('counts a file that could not be loaded as a failure', () => {
    const testResults = [
      { status: 'failed', assertionResults: [] },
      { status: 'failed', assertionResults: [{ status: 'failed' }] },
      { status: 'passed', assertionResults: [{ status: 'passed' }] },
    ]
    expect(countReport(report({ numPassedTests: 1, numFailedTests: 1, numPendingTests: 0, numTodoTests: 0, testResults })).failed).toBe(2)
  })

  it('counts a suite without a report as a failure', () => {
    expect(countReport(join(folder, 'missing.json')).failed).toBe(1)
  })

  it('is preceded by what failed, with file, name and message', () => {
    const testResults = [
      { name: '/r/a.test.ts', status: 'passed', assertionResults: [{ status: 'passed', fullName: 'good' }] },
      {
        name: '/r/test/b.test.ts',
        status: 'failed',
        assertionResults: [
          { status: 'passed', fullName: 'good' },
          { status: 'failed', fullName: 'the room is tidy', failureMessages: ['expected 1 to be 2\n    at line 3'] },
        ],
      },
      { name: '/r/c.test.ts', status: 'failed', message: 'no such module', assertionResults: [] },
    ]
    expect(failuresOf(report({ testResults }), '/r')).toEqual([
      'test/b.test.ts > the room is tidy\n    expected 1 to be 2\n        at line 3',
      'c.test.ts\n    no such module',
    ])
    expect(failuresOf(join(folder, 'missing.json'), '/r')).toEqual(['no report: vitest itself ended early'])
  })

  it('is a sum', () => {
    expect(
      closingLine(
        sumCounts([
          { passed: 1, failed: 0, skipped: 2 },
          { passed: 3, failed: 4, skipped: 0 },
        ]),
      ),
    ).toBe('4 passed, 4 failed, 2 skipped')
  })
})

it('the budgets are those of test/README.md', () => {
  const rows = readFileSync(join('test', 'README.md'), 'utf8').matchAll(/^\| (\w+) \| (\d+) min \|/gm)
  const told = [...rows].map(([, name, minutes]) => [name, Number(minutes) * 60_000])
  expect(told).toEqual(SUITES.map(({ name, budgetMs }) => [name, budgetMs]))
})
