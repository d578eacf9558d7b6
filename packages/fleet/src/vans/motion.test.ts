import { describe, expect, it } from 'vitest'
import { distanceM } from '../geography/earth.ts'
import { vanPlan } from './depots.ts'
import { isSunday, madridDay, madridInstantMs, madridOffsetMs } from './madrid.ts'
import { Motion } from './motion.ts'
import { planDay } from './rounds.ts'
import { shiftAt } from './shifts.ts'

const START_MS = 1_789_380_000_000
const HOUR_MS = 3_600_000

describe('a day', () => {
  it.each(['always', 'madrid'] as const)('joins without a gap, from yard to yard, with drops, a pause and rounds (%s)', (hours) => {
    for (const number of [1, 2, 14, 77, 140]) {
      const van = vanPlan(number)
      const shift = shiftAt(3, van, hours, START_MS)
      const stretches = planDay(3, van, shift)
      let atMs = shift.fromMs
      for (const stretch of stretches) {
        expect(stretch.fromMs).toBe(atMs)
        expect(stretch.untilMs).toBeGreaterThan(stretch.fromMs)
        atMs = stretch.untilMs
      }
      expect(atMs).toBe(shift.untilMs)
      const standing = stretches.filter((stretch) => stretch.kind === 'standing')
      expect(distanceM(standing[0]!.point, van.yard.point)).toBe(0)
      expect(distanceM(standing.at(-1)!.point, van.yard.point)).toBe(0)
      const drops = standing.filter(
        (stretch) => stretch.untilMs - stretch.fromMs <= 6 * 60_000 && stretch.untilMs - stretch.fromMs >= 2 * 60_000,
      )
      expect(drops.length).toBeGreaterThan(18)
      expect(standing.some((stretch) => stretch.untilMs - stretch.fromMs >= 35 * 60_000)).toBe(true)
    }
  })

  it('the demo has vans on the road at every hour; realistic hours have none at night', () => {
    const moving = (hours: 'always' | 'madrid', atMs: number) =>
      Array.from({ length: 140 }, (_, index) => new Motion(1, index + 1, hours).at(atMs)).filter((where) => where.moving).length
    const midnightMs = madridInstantMs(madridDay(START_MS), 0)
    for (const hour of [0, 3, 9, 15, 21]) {
      expect(moving('always', midnightMs + hour * HOUR_MS), `${hour} h`).toBeGreaterThan(35)
    }
    expect(moving('madrid', midnightMs + 3 * HOUR_MS)).toBe(0)
    expect(moving('madrid', midnightMs + 10 * HOUR_MS)).toBeGreaterThan(18)
  })

  it('a parked van drifts by metres, not by streets', () => {
    const motion = new Motion(1, 5, 'madrid')
    const nightMs = madridInstantMs(madridDay(START_MS), 120)
    const yard = motion.at(nightMs).point
    let furthestM = 0
    let far = 0
    for (let atMs = nightMs; atMs < nightMs + HOUR_MS; atMs += 5_000) {
      const awayM = distanceM(yard, motion.measured(atMs, yard))
      furthestM = Math.max(furthestM, awayM)
      if (distanceM(motion.measured(atMs - 120_000, yard), motion.measured(atMs, yard)) >= 30) far += 1
    }
    expect(furthestM).toBeGreaterThan(2)
    expect(furthestM).toBeLessThan(25)
    expect(far).toBe(0)
  })
})

describe('Madrid', () => {
  it('knows winter, summer and the two nights between', () => {
    expect(madridOffsetMs(Date.UTC(2026, 0, 15, 12))).toBe(HOUR_MS)
    expect(madridOffsetMs(Date.UTC(2026, 6, 15, 12))).toBe(2 * HOUR_MS)
    const lengthOf = (atMs: number) => madridInstantMs(madridDay(atMs) + 1, 0) - madridInstantMs(madridDay(atMs), 0)
    expect(lengthOf(Date.UTC(2026, 2, 29, 12))).toBe(23 * HOUR_MS)
    expect(lengthOf(Date.UTC(2026, 9, 25, 12))).toBe(25 * HOUR_MS)
    expect(lengthOf(Date.UTC(2026, 9, 26, 12))).toBe(24 * HOUR_MS)
    expect(isSunday(madridDay(Date.UTC(2026, 9, 25, 12)))).toBe(true)
    expect(isSunday(madridDay(Date.UTC(2026, 9, 26, 12)))).toBe(false)
  })
})
