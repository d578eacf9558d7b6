import { describe, expect, it } from 'vitest'
import { Backpressure } from './backpressure.ts'

/** A write that ends when it is told to, on a clock of the test. */
function setUp() {
  let nowMs = 1_000_000
  const backpressure = new Backpressure('PostgreSQL', () => nowMs)
  let end: () => void = () => undefined
  return {
    backpressure,
    begin: () => {
      const write = new Promise<void>((resolve) => {
        end = resolve
      })
      return backpressure.during(write)
    },
    end: () => end(),
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

describe('backpressure', () => {
  it('is the share of the last 30 s that writes took', async () => {
    const { backpressure, begin, end, pass } = setUp()
    expect(backpressure.ratio()).toBe(0)
    for (let n = 0; n < 6; n += 1) {
      const written = begin()
      pass(300)
      end()
      await written
      pass(700)
    }
    expect(backpressure.ratio()).toBeCloseTo((6 * 300) / 30_000)
    pass(40_000)
    expect(backpressure.ratio()).toBe(0)
  })

  it('grows while a write is under way, and health tells of it', async () => {
    const { backpressure, begin, end, pass } = setUp()
    expect(backpressure.health()).toEqual({ status: 'ok' })
    const written = begin()
    pass(4_000)
    expect(backpressure.health()).toEqual({ status: 'ok' })
    pass(8_000)
    expect(backpressure.ratio()).toBeCloseTo(12 / 30)
    expect(backpressure.health()).toEqual({
      status: 'degraded',
      detail: expect.stringMatching(/waited for PostgreSQL for 12 s; the lag grows in Kafka/),
    })
    pass(60_000)
    expect(backpressure.ratio()).toBe(1)
    end()
    await written
    expect(backpressure.health()).toEqual({ status: 'ok', detail: '100 % of the last 30 s went to waiting for PostgreSQL' })
  })

  it('ends with a write that fails, and passes the error on', async () => {
    const { backpressure } = setUp()
    await expect(backpressure.during(Promise.reject(new Error('away')))).rejects.toThrow('away')
    expect(backpressure.health()).toEqual({ status: 'ok' })
  })
})
