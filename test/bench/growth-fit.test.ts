import { describe, expect, it } from 'vitest'
import { slope } from './growth-fit.ts'

describe('exponent of a growth', () => {
  it.each([0.5, 1, 2])('is found for x to the power of %d', (power) => {
    expect(slope([140, 1_000, 10_000, 100_000].map((x) => [x, 3.3 * x ** power]))).toBeCloseTo(power, 9)
  })
  it('is 0 where nothing grows', () => {
    expect(slope([1, 2, 4].map((x) => [x, 7]))).toBeCloseTo(0, 9)
  })
})
