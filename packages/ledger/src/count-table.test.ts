import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CountTable, digestKey, placeKey, textKey } from './count-table.ts'

describe('a table of counts', () => {
  it('counts as a map does, whatever the keys (property)', () => {
    const key = fc.oneof(
      fc.nat({ max: 50 }),
      fc.integer({ min: 0, max: 2 ** 53 - 1 }),
      fc.nat({ max: 9_000 }).map((n) => n * 4_096),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.nat({ max: 2 })), { maxLength: 9_000, size: 'max' }), (adds) => {
        const table = new CountTable(3)
        const counts = new Map<number, number[]>()
        for (const [key, column] of adds) {
          table.add(key, column)
          const row = counts.get(key) ?? [0, 0, 0]
          row[column]! += 1
          counts.set(key, row)
        }
        expect(table.size).toBe(counts.size)
        for (const [key, row] of counts) expect([0, 1, 2].map((column) => table.get(key, column))).toEqual(row)
        let total = 0
        table.each((row) => {
          total += row[0]! + row[1]! + row[2]!
        })
        expect(total).toBe(adds.length)
      }),
      { numRuns: 4 },
    )
  })

  it('knows nothing of a key that was never added', () => {
    const table = new CountTable(1)
    table.add(7, 0)
    expect([table.has(7), table.has(8), table.get(8, 0), table.size]).toEqual([true, false, 0, 1])
  })

  it('makes keys that are exact for places, and within 2^53 for texts and digests', () => {
    expect(placeKey(1, 0)).not.toBe(placeKey(0, 2 ** 40 - 1))
    expect(placeKey(8_191, 2 ** 40 - 1)).toBe(2 ** 53 - 1)
    expect(digestKey('f'.repeat(64))).toBe(2 ** 52 - 1)
    const keys = new Set(Array.from({ length: 50_000 }, (_, n) => textKey(`distancia|furgoneta-${n % 140}|${n}`)))
    expect(keys.size).toBe(50_000)
    expect(Math.max(...[...keys].slice(0, 1_000))).toBeLessThan(2 ** 53)
  })
})
