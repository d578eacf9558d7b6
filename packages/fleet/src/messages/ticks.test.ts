import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Outgoing } from './outgoing.ts'
import { withTicks } from './ticks.ts'

const message = (arrivalMs: number): Outgoing => ({ topic: 'x', payload: '', arrivalMs, van: 'a', eventMs: arrivalMs, fault: null })

it('ticks are in order, close enough, never ahead of a later message, and exact with a grain of 1', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 2_000 }),
      fc.integer({ min: 1, max: 2_000 }),
      fc.integer({ min: 0, max: 9_000 }),
      (gaps, everyMs, grainMs, drainMs) => {
        let atMs = 1_000
        const messages = gaps.map((gap) => {
          atMs += gap
          return message(atMs)
        })
        const untilMs = atMs + drainMs
        const all = [...withTicks(messages, { fromMs: 1_000, everyMs, grainMs, untilMs })]
        expect(all.filter((item) => item.van !== null)).toEqual(messages)
        let tickMs = 1_000
        for (const item of all) {
          if (item.van === null) {
            expect(item.arrivalMs).toBeGreaterThanOrEqual(tickMs)
            expect(item.arrivalMs - tickMs).toBeLessThanOrEqual(Math.max(everyMs, grainMs))
            tickMs = item.arrivalMs
          } else {
            expect(tickMs).toBeLessThanOrEqual(item.arrivalMs)
            expect(item.arrivalMs - tickMs).toBeLessThan(Math.min(everyMs, grainMs))
          }
        }
        expect(tickMs).toBe(Math.max(1_000, untilMs))
        expect(all[0]?.payload).toBe('{"ara_ms":1000}')
      },
    ),
  )
})

it('messages out of order are a broken invariant', () => {
  expect(() => [...withTicks([message(5), message(4)], { fromMs: 0, everyMs: 10, grainMs: 1, untilMs: 9 })]).toThrow(RangeError)
})
