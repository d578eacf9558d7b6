import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { metricNames } from './metric-names.ts'

const ROW = /^\| `(km0_\w+)` \| (counter|gauge|histogram) \|/gm
const table = new Map([...readFileSync('docs/metrics.md', 'utf8').matchAll(ROW)].map(([, name = '', type = '']) => [name, type]))

describe('docs/metrics.md', () => {
  it('has a row for each metric in the source, and no other', () => {
    expect([...table.keys()].sort()).toEqual([...metricNames()].sort())
  })

  it('names follow the conventions: _total for counters only, base units', () => {
    for (const [name, type] of table) expect(`${name} ${name.endsWith('_total')}`).toBe(`${name} ${type === 'counter'}`)
    expect(
      [...table.keys()].filter((name) => /_(ms|millis|milliseconds|minutes|kb|mb|percent|count|sum|bucket)(_total)?$/.test(name)),
    ).toEqual([])
    expect([...table].filter(([name, type]) => type === 'histogram' && !/_(seconds|bytes)$/.test(name))).toEqual([])
  })
})
