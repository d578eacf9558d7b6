import { describe, expect, it } from 'vitest'
import { type DirtyHour, HOUR_MS, type MissedPoint } from './dirty-hours.ts'
import { dirtyPieces, readSpans } from './dirty-plan.ts'

const point = (van: string, eventMs: number): MissedPoint => ({ van, eventMs, reason: 'tard', epoch: 1, partition: 0, offset: eventMs })
const hour = (van: string, number: number, ...at: readonly number[]): DirtyHour => ({
  van,
  hourMs: number * HOUR_MS,
  causes: new Set(['windows']),
  points: at.map((ms) => point(van, ms)),
})

describe('the smallest backfill', () => {
  it('joins neighbouring hours of a van, and vans with the same hours; a point is counted once', () => {
    const hours = [hour('a', 7, 1, 2), hour('a', 8, 2, 3), hour('a', 20, 9), hour('b', 7, 1), hour('b', 8, 1), hour('c', 8, 4)]
    expect(dirtyPieces(hours)).toEqual([
      { fromMs: 7 * HOUR_MS, toMs: 9 * HOUR_MS, vans: ['a', 'b'], points: 4 },
      { fromMs: 8 * HOUR_MS, toMs: 9 * HOUR_MS, vans: ['c'], points: 1 },
      { fromMs: 20 * HOUR_MS, toMs: 21 * HOUR_MS, vans: ['a'], points: 1 },
    ])
    expect(dirtyPieces([])).toEqual([])
  })

  it('reads from the start of the day in Madrid, or a little before the first hour of one', () => {
    const rules = { windowSizeMs: 300_000, slideMs: 60_000, sessionGapMs: 180_000, maxSegmentMs: 180_000, maxGapMs: 604_800_000 }
    const noon = Date.parse('2026-09-14T10:00:00Z')
    const midnight = Date.parse('2026-09-13T22:00:00Z')
    const piece = (fromMs: number) => ({ fromMs, toMs: fromMs + HOUR_MS, vans: ['a', 'b'], points: 1 })
    expect(readSpans([piece(noon)], rules)).toEqual(['a', 'b'].map((van) => ({ van, fromMs: midnight, toMs: noon + HOUR_MS })))
    expect(readSpans([piece(midnight)], rules)[0]).toEqual({ van: 'a', fromMs: midnight - 480_000, toMs: midnight + HOUR_MS })
  })
})
