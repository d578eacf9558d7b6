import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

describe('docs/security.md', () => {
  const rows =
    // The table of threats stands before the first section.
    readFileSync('docs/security.md', 'utf8')
      .split('\n## ')[0]
      ?.match(/^\|.*\|$/gm)
      ?.slice(2) ?? []

  it('names for each threat tests that are there', () => {
    expect(rows.length).toBeGreaterThan(8)
    for (const row of rows) {
      const tests = [...(row.split('|').at(-2) ?? '').matchAll(/`([^`]+)`/g)].map(([, file]) => file ?? '')
      expect(tests, row).not.toEqual([])
      for (const file of tests) {
        expect(file).toMatch(/\.test\.ts$/)
        expect(existsSync(file), `${file} of ${row}`).toBe(true)
      }
    }
  })
})
