import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { partitionChooser } from './log-partitioner.ts'

describe('partition chooser', () => {
  it('gives what the Java client gives when all partitions are ours', () => {
    // From org.apache.kafka.common.utils.Utils.murmur2 of kafka-clients 4.4.0, 12 partitions.
    const choose = partitionChooser([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(['furgoneta-3', 'furgoneta-14', 'furgoneta 🚚'].map(choose)).toEqual([8, 9, 10])
  })

  it('stays within its own partitions, always the same for a key, and uses them all', () => {
    const own = [1, 4, 5]
    const choose = partitionChooser(own)
    const used = new Set<number>()
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 70 }), (key) => {
        const partition = choose(key)
        used.add(partition)
        expect(own).toContain(partition)
        expect(partitionChooser(own)(key)).toBe(partition)
      }),
      { seed: 7, numRuns: 300 },
    )
    expect([...used].sort()).toEqual(own)
  })

  it('refuses none', () => {
    expect(() => partitionChooser([])).toThrow(RangeError)
  })
})
