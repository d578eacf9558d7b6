import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { byMonth } from './backfill-months.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const iso = (ms: number) => new Date(ms).toISOString().slice(0, 13)

describe('a long backfill', () => {
  it('of a year is one of each month of Madrid', () => {
    const months = byMonth({ fromMs: Date.UTC(2025, 9, 31, 23), toMs: Date.UTC(2026, 9, 31, 23), owners: null })
    expect(months).toHaveLength(12)
    expect(months.map(({ fromMs, toMs }) => [iso(fromMs), iso(toMs)])).toEqual(
      expect.arrayContaining([
        ['2025-10-31T23', '2025-11-30T23'],
        ['2026-02-28T23', '2026-03-31T22'],
        ['2026-09-30T22', '2026-10-31T23'],
      ]),
    )
  })

  it('is covered, each hour once, by parts that are short enough; two months stay one', () => {
    const hours = fc.record({ start: fc.nat({ max: 50_000 }), length: fc.integer({ min: 1, max: 800 * 24 }) })
    fc.assert(
      fc.property(hours, ({ start, length }) => {
        const fromMs = Date.UTC(2024, 0, 1) + start * HOUR_MS
        const parts = byMonth({ fromMs, toMs: fromMs + length * HOUR_MS })
        expect(parts.map((part) => part.fromMs)).toEqual([fromMs, ...parts.slice(0, -1).map(({ toMs }) => toMs)])
        expect(parts.at(-1)?.toMs).toBe(fromMs + length * HOUR_MS)
        expect(parts.every((part) => part.toMs > part.fromMs && part.toMs - part.fromMs <= 62 * DAY_MS)).toBe(true)
        if (length <= 62 * 24) expect(parts).toHaveLength(1)
      }),
    )
  })
})
