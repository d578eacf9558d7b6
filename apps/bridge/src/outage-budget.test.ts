import { describe, expect, it } from 'vitest'
import { OutageBudget } from './outage-budget.ts'

/** 28 messages of 100 bytes (topic and payload) a second, as the fleet sends. */
const RATE = 28
const BYTES = 100

function budgetOf(limits: { messages?: number; bytes?: number }) {
  const budget = new OutageBudget(limits, 120_000)
  let ms = 0
  let messages = 0
  const run = (seconds: number, perSecond: number, taking = true) => {
    for (let second = 0; second < seconds; second += 1) {
      budget.observe(ms, { messages, bytes: messages * BYTES }, taking)
      ms += 1_000
      messages += perSecond
    }
    budget.observe(ms, { messages, bytes: messages * BYTES }, taking)
  }
  return { budget, run }
}

describe('outage budget', () => {
  it('is the queue divided by the rate: 1,000 messages are 36 s of this fleet', () => {
    const { budget, run } = budgetOf({ messages: 1_000 })
    run(60, RATE)
    expect(budget.secondsLeft).toBeCloseTo(1_000 / RATE, 3)
  })

  it('is the tighter of messages and bytes, a frame for each message included', () => {
    const { budget, run } = budgetOf({ messages: 1_000_000, bytes: 560_000 })
    run(60, RATE)
    expect(budget.secondsLeft).toBeCloseTo(560_000 / (RATE * (BYTES + 100)), 3)
  })

  it('tells nothing where no limit is known, and no end where nothing is sent', () => {
    expect(budgetOf({}).budget.secondsLeft).toBeNull()
    const { budget, run } = budgetOf({ messages: 1_000 })
    run(60, 0)
    expect(budget.secondsLeft).toBe(Number.POSITIVE_INFINITY)
  })

  it('runs down second by second while nothing is taken, to 0 and not below', () => {
    const { budget, run } = budgetOf({ messages: 2_800 })
    run(60, RATE)
    expect(budget.secondsLeft).toBeCloseTo(100, 3)
    run(30, 0, false)
    expect(budget.secondsLeft).toBeCloseTo(70, 3)
    run(200, 0, false)
    expect(budget.secondsLeft).toBe(0)
  })

  it('comes back as the parked messages come out, whose rush is not taken for the rate', () => {
    const { budget, run } = budgetOf({ messages: 2_800 })
    run(60, RATE)
    run(50, 0, false)
    expect(budget.secondsLeft).toBeCloseTo(50, 3)
    // 1,400 are parked: 10 s at ten times the rate bring 2,520 above it.
    run(3, RATE * 10)
    expect(budget.secondsLeft).toBeCloseTo(77, 3)
    run(3, RATE * 10)
    run(10, RATE)
    expect(budget.secondsLeft).toBeGreaterThan(85)
  })

  it('believes in no parked messages when the fleet was silent after an outage for longer than a backlog takes', () => {
    const { budget, run } = budgetOf({ messages: 2_800 })
    run(60, RATE)
    run(50, 0, false)
    run(121, 0)
    expect(budget.secondsLeft).toBeGreaterThan(99)
  })

  it('follows a rate that changes', () => {
    const { budget, run } = budgetOf({ messages: 2_800 })
    run(600, RATE)
    run(1_800, RATE / 4)
    expect(budget.secondsLeft).toBeGreaterThan(390)
    expect(budget.secondsLeft).toBeLessThan(400)
  })
})
