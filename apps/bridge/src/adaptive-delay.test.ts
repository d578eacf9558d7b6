import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AdaptiveDelay } from './adaptive-delay.ts'

const MINUTE = 60_000
const rules = { targetShare: 0.01, minMs: 15_000, maxMs: 180_000, everyMs: 10 * MINUTE }

/** Delays after each of `rounds` ten minutes with these latenesses, a thousand of each. */
function run(latenessesMs: readonly number[], rounds: number, startMs: number, delay = new AdaptiveDelay(rules), fromMs = 0): number[] {
  let currentMs = startMs
  delay.decide(fromMs, currentMs)
  return Array.from({ length: rounds }, (_, round) => {
    for (const latenessMs of latenessesMs) for (let n = 0; n < 1_000; n += 1) delay.observe(latenessMs)
    currentMs = delay.decide(fromMs + (round + 1) * rules.everyMs, currentMs) ?? currentMs
    return currentMs
  })
}

describe('the adaptive delay', () => {
  it('goes up in two steps of time to what covers the target share, and there it stays', () => {
    expect(run([1_000, 2_000, 90_000], 8, 45_000)).toEqual([45_000, ...new Array<number>(7).fill(90_000)])
  })

  it('goes down slowly, a fifth at a time, and not below what is needed', () => {
    expect(run([1_000, 2_000, 25_000], 24, 45_000)).toEqual([
      ...new Array<number>(5).fill(45_000),
      ...new Array<number>(6).fill(36_000),
      ...new Array<number>(13).fill(29_000),
    ])
  })

  it('does not swing where the need swings, and not for seconds', () => {
    const delay = new AdaptiveDelay(rules)
    let currentMs = 45_000
    delay.decide(0, currentMs)
    for (let round = 1; round < 60; round += 1) {
      // Two in a hundred come after 43 s, in every third round after 60 s: in mind are all three.
      for (let n = 0; n < 3_000; n += 1) delay.observe(n >= 60 ? 2_000 : round % 3 === 0 ? 60_000 : 43_000)
      currentMs = delay.decide(round * rules.everyMs, currentMs) ?? currentMs
      expect(currentMs).toBe(45_000)
    }
  })

  it('says nothing from few points, and looks no sooner than it is told', () => {
    const delay = new AdaptiveDelay(rules)
    expect(delay.decide(0, 45_000)).toBeNull()
    for (let n = 0; n < 1_999; n += 1) delay.observe(170_000)
    for (let round = 1; round < 9; round += 1) expect(delay.decide(round * rules.everyMs, 45_000)).toBeNull()
    for (let n = 0; n < 9_000; n += 1) delay.observe(170_000)
    expect(delay.decide(9 * rules.everyMs - 1, 45_000)).toBeNull()
  })

  it('never leaves its bounds', () => {
    const late = fc.array(fc.integer({ min: -60_000, max: 90_000_000 }), { minLength: 3, maxLength: 6 })
    fc.assert(
      fc.property(late, fc.integer({ min: 15_000, max: 180_000 }), (latenessesMs, startMs) => {
        for (const delayMs of run(latenessesMs, 20, startMs)) {
          expect(delayMs).toBeGreaterThanOrEqual(15_000)
          expect(delayMs).toBeLessThanOrEqual(180_000)
        }
      }),
      { numRuns: 30 },
    )
  })
})
