import { expect, it } from 'vitest'
import { nameOf, scheduleOf } from './schedule.ts'

it('is a function of the seed, the length and the fleet', () => {
  expect(scheduleOf(7, 300, 40)).toEqual(scheduleOf(7, 300, 40))
  expect(scheduleOf(7, 300, 40)).not.toEqual(scheduleOf(8, 300, 40))
})

it('fits into its run, in order, and a short run has no long fault', () => {
  for (let seed = 0; seed < 200; seed += 1) {
    for (const seconds of [24, 60, 300]) {
      const { cards } = scheduleOf(seed, seconds, 40)
      expect(cards.length).toBeGreaterThan(0)
      for (const { atS, lastsS } of cards) {
        expect(atS + lastsS).toBeLessThanOrEqual(seconds)
        expect(lastsS).toBeLessThanOrEqual(seconds / 5)
      }
      expect(cards.map(({ atS }) => atS)).toEqual(cards.map(({ atS }) => atS).sort((a, b) => a - b))
    }
  }
})

it('brings every kind of fault within the ten seeds of the proof', () => {
  const all = new Set(
    Array.from({ length: 10 }, (_, index) => scheduleOf(index + 1, 300, 40).cards.map(({ fault }) => nameOf(fault))).flat(),
  )
  expect(all.size).toBe(29)
})
