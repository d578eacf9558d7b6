import { TOPICS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { decodeBatches } from '@km0/transport/fetch-decoder'
import { decoded } from '@km0/transport/fetched-record'
import { toLogRecord } from '@km0/transport/log-record'
import { encodePartition } from '@km0/transport/produce-encoder'
import { describe, expect, it } from 'vitest'
import { PartitionTask } from './partition-task.ts'

// Guard of speed. It counts work, which is the same on each machine. A bound is a fourth above the count of today.
const START_MS = 1_789_380_000_000
const RECORDS = 20_000
const VANS = 20
const OPTIONS = { acks: -1, timeout: 1_000, topicData: [] }
/** A batch without records, and what stands around it in a request. */
const EMPTY_BYTES = 69

/** What a bridge writes: 20 vans, a point every 5 s each. */
const positions = Array.from({ length: RECORDS }, (_, index) => {
  const [van, timestampMs] = [`furgoneta-${index % VANS}`, START_MS + index * 250]
  const value = JSON.stringify({ repartidor: van, lat: 41.9 + index / 1e6, lon: 2.8, data_ms: timestampMs - (index % 7) * 100 })
  return { key: van, value, timestamp: String(timestampMs), headers: { pont: 'pont-1', rebut: String(timestampMs) } }
})

const written = encodePartition({ partition: 3, messages: positions, firstSequence: 0 }, OPTIONS)

describe('work of a record', () => {
  it('a fetched position: the text of its value is read, and neither key, header, buffer nor any text of its offset', () => {
    Object.assign(decoded, { records: 0, keys: 0, values: 0, headers: 0, offsetTexts: 0 })
    const host = createPositionsHost(undefined, null, { coalesceLivePoints: true })
    const task = new PartitionTask(3, 1, host, 0)
    const records = (decodeBatches(written.subarray(8)) ?? []).map((record) => toLogRecord(3, record as never))
    const { outcomes } = task.apply(records, RECORDS)
    expect(outcomes.get('accepted')).toBe(RECORDS)
    // Of each van one live point is written, and its battery looked for.
    expect(decoded).toEqual({ records: RECORDS, keys: 0, values: VANS, headers: 0, offsetTexts: 0 })
  })

  it('results: so many bytes each in a request, and so many results a position', () => {
    const task = new PartitionTask(3, 1, createPositionsHost(undefined, null, { coalesceLivePoints: true }), 0)
    const records = (decodeBatches(written.subarray(8)) ?? []).map((record) => toLogRecord(3, record as never))
    const bytes = new Map<string, { count: number; bytes: number }>()
    for (let first = 0; first < RECORDS; first += 1_000) {
      const results = task.apply(records.slice(first, first + 1_000), first + 1_000).records
      for (const { name } of Object.values(TOPICS)) {
        const messages = results
          .filter(({ topic }) => topic === name)
          .map(({ key, value, headers, timestampMs }) => ({ key, value, timestamp: String(timestampMs), headers: headers ?? {} }))
        if (messages.length === 0) continue
        const sum = bytes.get(name) ?? { count: 0, bytes: 0 }
        sum.count += messages.length
        sum.bytes += encodePartition({ partition: 3, messages, firstSequence: 0 }, OPTIONS).length - EMPTY_BYTES
        bytes.set(name, sum)
      }
    }
    const panel = bytes.get(TOPICS.panel.name)
    const live = bytes.get(TOPICS.live.name)
    expect(panel?.count).toBeGreaterThan(RECORDS / 20)
    // Today 258 bytes and one row for 12 positions; of live points 248 bytes and one a van and slice.
    expect((panel?.bytes ?? 0) / (panel?.count ?? 0)).toBeLessThan(320)
    expect((panel?.count ?? 0) / RECORDS).toBeLessThan(0.105)
    expect((live?.bytes ?? 0) / (live?.count ?? 0)).toBeLessThan(310)
    expect(live?.count).toBe((VANS * RECORDS) / 1_000)
    expect([...bytes.keys()].sort()).toEqual([TOPICS.panel.name, TOPICS.live.name].sort())
  })
})
