import { expect, it } from 'vitest'
import { Backoff } from './backoff.ts'

const settings = { quickMs: 100, firstMs: 1_000, capMs: 30_000, wellAfterMs: 60_000 }

it('doubles the wait up to the cap', () => {
  const backoff = new Backoff(settings)
  expect([1, 2, 3, 4, 5, 6, 7].map(() => backoff.crashed(10))).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  expect(backoff.inARow).toBe(7)
})

it('starts a part that was well again at once, and waits when it crashes over that', () => {
  const backoff = new Backoff(settings)
  backoff.crashed(10)
  backoff.crashed(59_999)
  expect(backoff.crashed(60_000)).toBe(100)
  expect(backoff.inARow).toBe(1)
  expect(backoff.crashed(10)).toBe(2_000)
})
