import { TOPICS } from '@km0/contracts'
import { describe, expect, it } from 'vitest'
import { DEFAULT_MAX_DATA_BYTES, divideData, LEAST_MAX_DATA_BYTES, parseMaxDataBytes, SHARES } from './budget.ts'
import { MAX_LOG_BYTES } from './log-file.ts'

const topics = Object.values(TOPICS)

describe('bytes of a data folder', () => {
  it('come from the setting, 2 GB without one', () => {
    expect(parseMaxDataBytes(undefined)).toBe(2_000_000_000)
    expect(parseMaxDataBytes('3000000000')).toBe(3_000_000_000)
    for (const wrong of ['1000', 'much', '-1', '1e9']) expect(() => parseMaxDataBytes(wrong)).toThrow(/KM0_MAX_DATA_BYTES/)
  })

  it('are enough for every partition full, the segment on top included', () => {
    for (const maxBytes of [DEFAULT_MAX_DATA_BYTES, LEAST_MAX_DATA_BYTES, 40_000_000_000]) {
      const budget = divideData(maxBytes, topics)
      const logBytes = topics.reduce((sum, topic) => {
        const { retentionBytes = 0, segmentBytes = 0 } = budget.topics[topic.name] ?? {}
        return sum + topic.partitions * (retentionBytes + segmentBytes)
      }, 0)
      expect(logBytes).toBeLessThan(maxBytes * 0.6)
    }
  })

  it('give positions the largest part: more than a day of 2.4 million at 60 bytes compressed', () => {
    const { retentionBytes = 0 } = divideData(DEFAULT_MAX_DATA_BYTES, topics).topics[TOPICS.positions.name] ?? {}
    expect(retentionBytes * TOPICS.positions.partitions).toBeGreaterThan(2_400_000 * 60)
  })

  it('keep rows in the database and records in the lake for days, at least one', () => {
    expect(divideData(DEFAULT_MAX_DATA_BYTES, topics).retentionDays).toEqual({ results: 5, tracks: 1, lake: 5 })
    expect(divideData(LEAST_MAX_DATA_BYTES, topics).retentionDays).toEqual({ results: 1, tracks: 1, lake: 1 })
  })

  it('are given out once: what is not shared out holds the logs of all programs and services', () => {
    const shared = Object.values(SHARES).reduce((sum, share) => sum + share, 0)
    expect(DEFAULT_MAX_DATA_BYTES * (1 - shared)).toBeGreaterThan(20 * 2 * MAX_LOG_BYTES - 1)
  })

  it('never delete from a compacted topic', () => {
    expect(divideData(DEFAULT_MAX_DATA_BYTES, topics).topics[TOPICS.live.name]?.retentionBytes).toBeUndefined()
  })
})
