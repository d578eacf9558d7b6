import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sourceFiles } from './imports.ts'
import { ROOMS } from './rooms.ts'

/** The collection of field reports; not part of the repository. */
const REPORTS = '../shared/real/field-reports.md'
const isThere = existsSync(REPORTS)
if (!isThere) console.warn(`skipped: ${REPORTS} is not there, so nobody checks that each of its rows has a test`)

const idsIn = (text: string) => new Set(text.match(/\b[BSDT]\d\d\b/g))

describe.skipIf(!isThere)('field reports', () => {
  it('each row B, S, D and T is named in a test, or the documents say why not', () => {
    const rows = [...readFileSync(REPORTS, 'utf8').matchAll(/^\| ([BSDT]\d\d) \|/gm)].map(([, id = '']) => id)
    expect(rows.length).toBeGreaterThan(80)
    const tests = [...Object.keys(ROOMS), 'test'].flatMap(sourceFiles).filter((file) => file.endsWith('.test.ts'))
    const documents = readdirSync('docs').filter((file) => file.endsWith('.md'))
    const named = idsIn([...tests, ...documents.map((file) => join('docs', file))].map((file) => readFileSync(file, 'utf8')).join('\n'))
    expect(rows.filter((id) => !named.has(id))).toEqual([])
  })
})
