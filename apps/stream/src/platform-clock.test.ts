import { describe, expect, it } from 'vitest'
import { PlayedClock } from './platform-clock.ts'

describe("the player's clock", () => {
  it('stands at the newest timestamp of the log, and never goes back', () => {
    const clock = new PlayedClock(() => 1_000_000)
    expect(clock.nowMs()).toBe(1_000_000)
    clock.hear(500_000)
    clock.hear(400_000)
    expect(clock.nowMs()).toBe(500_000)
  })

  it("goes on with the machine's when it has met it", () => {
    let machineMs = 1_000_000
    const clock = new PlayedClock(() => machineMs)
    clock.hear(997_999)
    expect(clock.nowMs()).toBe(997_999)
    clock.hear(998_000)
    machineMs = 1_060_000
    expect(clock.nowMs()).toBe(1_060_000)
  })
})
