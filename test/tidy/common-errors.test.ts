import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const NAMED = /`([\w./-]+\.test\.ts)`: "([^"]+)"/g

describe('the nine common errors', () => {
  const rows = readFileSync('docs/common-errors.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| error'))

  it('are nine', () => {
    expect(rows).toHaveLength(9)
  })

  it.each(rows.map((row) => [row.split('|')[1]?.trim() ?? '', row] as const))('%s: each test that is named is there', (_error, row) => {
    const tests = [...row.matchAll(NAMED)].map(([, file = '', title = '']) => ({ file, title }))
    expect(tests.length).toBeGreaterThan(0)
    for (const { file, title } of tests) expect(readFileSync(file, 'utf8'), file).toContain(title)
  })
})
