import { describe, expect, it } from 'vitest'
import { PlayClock } from './play-clock.ts'

const MACHINE = 1_772_442_000_000
const tick = (clock: PlayClock, ms: unknown) => {
  const ticked = clock.tick(Buffer.from(JSON.stringify({ ara_ms: ms })))
  return ticked.kind === 'moved' ? [...ticked.heartbeatsMs] : ticked.detail
}

describe('the player’s clock', () => {
  it('is unknown before the first tick, then stands where the newest has put it', () => {
    const clock = new PlayClock(() => MACHINE)
    expect(clock.nowMs()).toBeNull()
    expect(tick(clock, MACHINE - 3_600_000)).toEqual([])
    expect(clock.nowMs()).toBe(MACHINE - 3_600_000)
  })

  it('names every multiple of 10 s that it passes, once', () => {
    const clock = new PlayClock(() => MACHINE)
    const start = MACHINE - 3_600_000
    tick(clock, start)
    expect(tick(clock, start + 9_999)).toEqual([])
    expect(tick(clock, start + 10_000)).toEqual([start + 10_000])
    expect(tick(clock, start + 10_000)).toEqual([])
    expect(tick(clock, start + 35_000)).toEqual([start + 20_000, start + 30_000])
  })

  it('never goes back', () => {
    const clock = new PlayClock(() => MACHINE)
    tick(clock, MACHINE - 100_000)
    expect(tick(clock, MACHINE - 200_000)).toEqual([])
    expect(clock.nowMs()).toBe(MACHINE - 100_000)
  })

  it('goes on with the machine’s clock when it meets it', () => {
    let machineMs = MACHINE
    const clock = new PlayClock(() => machineMs)
    tick(clock, MACHINE - 60_000)
    machineMs += 5_000
    expect(clock.nowMs()).toBe(MACHINE - 60_000)
    expect(clock.met).toBe(false)
    expect(tick(clock, MACHINE + 4_000)).toHaveLength(6)
    expect(clock.met).toBe(true)
    expect(clock.nowMs()).toBe(MACHINE + 5_000)
    machineMs -= 1_000
    expect(clock.nowMs()).toBe(MACHINE + 5_000)
  })

  it('refuses what is no time, what is ahead and what Kafka would delete', () => {
    const clock = new PlayClock(() => MACHINE)
    for (const wrong of [null, '1', 1.5, undefined]) expect(tick(clock, wrong)).toBe('no integer ara_ms')
    expect(clock.tick(Buffer.from('nonsense'))).toMatchObject({ kind: 'refused' })
    expect(tick(clock, MACHINE + 60_001)).toBe('ahead of the machine')
    expect(tick(clock, MACHINE - 9 * 86_400_000)).toBe('older than positions are kept')
    expect(clock.nowMs()).toBeNull()
  })

  it('goes on where the bridge before it had stopped', () => {
    const clock = new PlayClock(() => MACHINE)
    clock.resume(MACHINE - 60_000, false)
    expect(clock.nowMs()).toBe(MACHINE - 60_000)
  })

  it('where the log ended on the machine’s clock: a player goes on from there, without one the machine does', () => {
    let machineMs = MACHINE
    const alone = new PlayClock(() => machineMs)
    alone.resume(MACHINE - 3_600_000, true)
    const played = new PlayClock(() => machineMs)
    played.resume(MACHINE - 3_600_000, true)
    machineMs += 30_000
    expect(tick(played, MACHINE - 3_590_000)).toHaveLength(1)
    expect(alone.nowMs()).toBe(MACHINE - 3_600_000)
    machineMs += 31_000
    expect(alone.nowMs()).toBe(machineMs)
    expect(alone.met).toBe(true)
    expect(played.nowMs()).toBe(MACHINE - 3_590_000)
  })
})
