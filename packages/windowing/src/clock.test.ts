import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PartitionClock } from './clock.ts'

describe('PartitionClock', () => {
  it('knows nothing before its first record', () => {
    const clock = new PartitionClock(45, 0)
    expect([clock.progressMs, clock.watermarkMs, clock.finalMs]).toEqual([-Infinity, -Infinity, -Infinity])
    expect(clock.configure(10, 5)).toBe(false)
    expect(clock.watermarkMs).toBe(-Infinity)
  })

  it('is progress less delay, and final less allowed lateness', () => {
    const clock = new PartitionClock(45, 10)
    expect(clock.observe(1000)).toBe(true)
    expect([clock.progressMs, clock.watermarkMs, clock.finalMs]).toEqual([1000, 955, 945])
    expect(clock.observe(1000)).toBe(false)
    expect(clock.observe(999)).toBe(false)
  })

  it('moves at once when the delay falls, and waits when it rises', () => {
    const clock = new PartitionClock(45, 0)
    clock.observe(1000)
    expect(clock.configure(5, 0)).toBe(true)
    expect([clock.watermarkMs, clock.finalMs]).toEqual([995, 995])
    expect(clock.configure(100, 50)).toBe(false)
    clock.observe(1050)
    expect([clock.watermarkMs, clock.finalMs]).toEqual([995, 995])
    clock.observe(1100)
    expect([clock.watermarkMs, clock.finalMs]).toEqual([1000, 995])
  })

  it('never goes back, whatever comes, and is the same after a snapshot', () => {
    const act = fc.oneof(
      fc.record({ observe: fc.nat(1000) }),
      fc.record({ delay: fc.nat(300), lateness: fc.nat(300) }),
      fc.record({ raise: fc.nat(1000) }),
    )
    fc.assert(
      fc.property(fc.array(act), (acts) => {
        let clock = new PartitionClock(45, 10)
        for (const one of acts) {
          const { watermarkMs, finalMs } = clock
          const moved =
            'observe' in one
              ? clock.observe(one.observe)
              : 'raise' in one
                ? clock.raise(one.raise)
                : clock.configure(one.delay, one.lateness)
          expect(moved).toBe(clock.watermarkMs > watermarkMs)
          expect(clock.watermarkMs).toBeGreaterThanOrEqual(watermarkMs)
          expect(clock.finalMs).toBeGreaterThanOrEqual(finalMs)
          expect(clock.finalMs).toBeLessThanOrEqual(clock.watermarkMs)
          clock = PartitionClock.restore(JSON.parse(JSON.stringify(clock.snapshot())))
        }
      }),
    )
  })
})
