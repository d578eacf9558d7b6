import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BatchPoint, decodeBatch, encodeBatch } from './panel-batch.ts'

const NOW = 1_789_380_000_000

const point = fc.record({
  slot: fc.nat(2 ** 24 - 1),
  lat: fc.integer({ min: -900_000_000, max: 900_000_000 }).map((value) => value / 1e7),
  lon: fc.integer({ min: -1_800_000_000, max: 1_800_000_000 }).map((value) => value / 1e7),
  eventMs: fc.integer({ min: NOW - 8_000_000, max: NOW + 8_000_000 }),
  headingDegrees: fc.option(fc.nat(255).map((step) => (step * 360) / 256)),
  doubtful: fc.boolean(),
  motion: fc.constantFrom('moving' as const, 'stopped' as const),
})

describe('a batch of points', () => {
  test('comes back as it was, 16 bytes a van', () => {
    fc.assert(
      fc.property(fc.array(point, { maxLength: 50 }), (points) => {
        const bytes = encodeBatch({ nowMs: NOW, sentMs: NOW + 0.25, points })
        expect(bytes).toHaveLength(16 + 16 * points.length)
        expect(decodeBatch(bytes)).toEqual({ nowMs: NOW, sentMs: NOW + 0.25, points })
        // As a browser gets it, and inside a larger buffer.
        expect(decodeBatch(bytes.slice().buffer)).toEqual(decodeBatch(bytes))
      }),
      { seed: 7, numRuns: 200 },
    )
  })

  test('any heading comes back within 0.8 degrees, 359.9 as north', () => {
    const headed = (headingDegrees: number): BatchPoint => ({
      slot: 1,
      lat: 42,
      lon: 2.8,
      eventMs: NOW,
      headingDegrees,
      doubtful: false,
      motion: 'moving',
    })
    const back = (degrees: number) =>
      decodeBatch(encodeBatch({ nowMs: NOW, sentMs: NOW, points: [headed(degrees)] })).points[0]?.headingDegrees
    for (let degrees = 0; degrees < 359; degrees += 1) expect(Math.abs((back(degrees) ?? Number.NaN) - degrees)).toBeLessThan(0.8)
    expect(back(359.9)).toBe(0)
  })

  test('what does not fit is left out, and what is no batch is refused', () => {
    const base = { lat: 42, lon: 2.8, headingDegrees: null, doubtful: false, motion: 'moving' as const }
    const points = [
      { ...base, slot: 2 ** 24, eventMs: NOW },
      { ...base, slot: 1, eventMs: NOW - 3 * 3_600_000 },
      { ...base, slot: 2, eventMs: NOW + 3 * 3_600_000 },
      { ...base, slot: 3, eventMs: NOW },
    ]
    expect(decodeBatch(encodeBatch({ nowMs: NOW, sentMs: NOW, points })).points.map(({ slot }) => slot)).toEqual([3])
    for (const length of [0, 8, 15, 17, 31]) expect(() => decodeBatch(new Uint8Array(length))).toThrow(RangeError)
  })
})
