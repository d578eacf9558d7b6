import { TOPICS } from '@km0/contracts'
import { describe, expect, it } from 'vitest'
import { RecordTooLargeError } from './log-errors.ts'
import { requestsOf, topicLimitBytes } from './log-producer.ts'
import { topicConfig } from './log-topics.ts'

const record = (topic: string, key: string, bytes = 10) => ({ topic, key, value: 'x'.repeat(bytes) })

describe('requests of a producer', () => {
  it('keep the order of records within a topic', () => {
    const requests = requestsOf([record('a', '1'), record('b', '2'), record('a', '3')])
    expect(requests).toHaveLength(1)
    expect(requests[0]?.map(({ topic, messages }) => [topic, messages.map(({ key }) => key)])).toEqual([
      ['a', ['1', '3']],
      ['b', ['2']],
    ])
  })

  it('stay below the largest batch, and lose nothing', () => {
    const records = Array.from({ length: 50 }, (_, index) => record('a', String(index), 100_000))
    const requests = requestsOf(records)
    expect(requests.length).toBeGreaterThan(4)
    for (const [topic] of requests)
      expect(topic?.messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)).toBeLessThan(1_000_000)
    expect(requests.flatMap(([topic]) => topic?.messages.map(({ key }) => key))).toEqual(records.map(({ key }) => key))
  })

  it('send a record alone that is larger than a request', () => {
    expect(requestsOf([record('a', '1'), record('a', '2', 2_000_000), record('a', '3')], () => 3_000_000)).toHaveLength(3)
    expect(() => requestsOf([record('a', '1'), record('a', '2', 2_000_000)])).toThrow(RecordTooLargeError)
  })

  it('carry partition, timestamp and headers only where they are said', () => {
    const [request] = requestsOf([
      { topic: 'a', key: null, value: null, partition: 0, timestampMs: 5, headers: { h: '1' } },
      record('a', 'k'),
    ])
    expect(request?.[0]?.messages).toEqual([
      { key: null, value: null, partition: 0, timestamp: '5', headers: { h: '1' } },
      { key: 'k', value: 'x'.repeat(10) },
    ])
  })
})

describe('limits of topics', () => {
  it('come from the table', () => {
    expect(topicLimitBytes(TOPICS.marks.name)).toBe(TOPICS.marks.maxMessageBytes)
    expect(topicLimitBytes('unknown')).toBe(1_048_576)
  })

  it('let a full batch of small records through', () => {
    expect(Number(topicConfig(TOPICS.marks)['max.message.bytes'])).toBeGreaterThan(900_000)
  })

  it('say only what the table and the installation say', () => {
    expect(topicConfig(TOPICS.live)).toMatchObject({ 'cleanup.policy': 'compact', 'retention.ms': '-1' })
    expect(topicConfig(TOPICS.positions)).not.toHaveProperty('retention.bytes')
    expect(topicConfig(TOPICS.positions, { retentionBytes: 5, segmentBytes: 7, retentionMs: 9 })).toMatchObject({
      'retention.bytes': '5',
      'segment.bytes': '7',
      'retention.ms': '9',
    })
  })
})
