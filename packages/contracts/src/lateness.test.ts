import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addCounts, coveredShare, LATENESS_STEPS_MS, latenessQuantile, latenessStep } from './lateness.ts'

const countsOf = (values: readonly number[]) => {
  const counts = new Array<number>(LATENESS_STEPS_MS.length + 1).fill(0)
  for (const value of values) counts[latenessStep(value)]! += 1
  return counts
}

describe('lateness', () => {
  it('steps ascend and hold the usual delays', () => {
    for (const [index, step] of LATENESS_STEPS_MS.entries()) expect(step).toBeGreaterThan(LATENESS_STEPS_MS[index - 1] ?? 0)
    for (const delay of [1_000, 30_000, 45_000, 60_000, 90_000, 120_000, 240_000]) expect(LATENESS_STEPS_MS).toContain(delay)
  })

  it('a quantile is that of the points, up to the end of its step; a share is exact at the end of a step', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -5_000, max: 90_000_000 }), { minLength: 1, maxLength: 60 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom(...LATENESS_STEPS_MS),
        (values, q, delay) => {
          const sorted = [...values].sort((a, b) => a - b)
          const exact = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] as number
          expect(latenessQuantile(countsOf(values), q)).toBe(LATENESS_STEPS_MS[latenessStep(exact)] ?? null)
          expect(coveredShare(countsOf(values), delay)).toBeCloseTo(values.filter((value) => value <= delay).length / values.length)
        },
      ),
    )
  })

  it('hours add up', () => {
    const [a, b] = [
      [100, 9_000],
      [100, 45_000, 99_000_000],
    ]
    expect(addCounts(countsOf(a!), countsOf(b!))).toEqual(countsOf([...a!, ...b!]))
    expect(addCounts([], [])).toHaveLength(LATENESS_STEPS_MS.length + 1)
  })

  it('without points nothing is known', () => {
    expect(latenessQuantile([], 0.5)).toBeNull()
    expect(coveredShare([], 45_000)).toBeNull()
  })
})
