import type { LogRecord, ReadBatch, ReadOptions } from '@km0/transport'
import { describe, expect, it } from 'vitest'
import { readInForce } from './settings-in-force.ts'

const T0 = 1_772_442_000_000

/** A log in memory; says how many records were asked for. */
function logOf(partitions: readonly (readonly (string | null)[])[], firstOffset = 0) {
  let read = 0
  const bounds = (offset: (values: readonly unknown[]) => number) => new Map(partitions.map((values, p) => [p, offset(values)]))
  return {
    recordsRead: () => read,
    startOffsets: async () => bounds(() => firstOffset),
    endOffsets: async () => bounds((values) => firstOffset + values.length),
    async *readTopic({ from, until }: ReadOptions): AsyncGenerator<ReadBatch> {
      for (const [partition, values] of partitions.entries()) {
        const end = until?.get(partition) ?? 0
        const records: LogRecord[] = []
        for (let offset = Math.max(firstOffset, from?.get(partition) ?? 0); offset < end; offset += 1) {
          const text = values[offset - firstOffset]
          const value = text == null ? null : Buffer.from(text)
          records.push({ partition, offset, timestampMs: T0 + offset, key: null, value, headers: {} })
        }
        read += records.length
        if (records.length > 0) yield { partition, records }
      }
    },
  }
}

const settings = (delayMs: number) => JSON.stringify({ tipus: 'parametres', data_ms: T0, retard_ms: delayMs, marge_ms: 0 })
const beat = (delayMs: number, further = {}) => JSON.stringify({ tipus: 'batec', data_ms: T0, retard_ms: delayMs, marge_ms: 7, ...further })
const position = '{"repartidor":"a","lat":1,"lon":1,"data_ms":1}'

describe('settings in force', () => {
  it('are unknown in an empty partition, and in one without any', async () => {
    const found = await readInForce(logOf([[], [position, null, 'rubbish', '{"tipus":"batec","data_ms":1}']]))
    expect(found.get(0)).toEqual({ settings: null, newestMs: null, playing: false })
    expect(found.get(1)).toEqual({ settings: null, newestMs: T0 + 3, playing: false })
  })

  it('are those of the newest settings record or heartbeat', async () => {
    const found = await readInForce(
      logOf([
        [settings(45_000), position, settings(60_000), position],
        [settings(45_000), beat(1), position],
        [beat(5), settings(6)],
      ]),
    )
    expect([0, 1, 2].map((partition) => found.get(partition)?.settings)).toEqual([
      { delayMs: 60_000, allowedLatenessMs: 0 },
      { delayMs: 1, allowedLatenessMs: 7 },
      { delayMs: 6, allowedLatenessMs: 0 },
    ])
  })

  it('are found far back, over a start that retention has moved', async () => {
    const many = Array.from({ length: 50_000 }, () => position)
    const log = logOf([[settings(9), ...many], many], 1_000)
    const found = await readInForce(log)
    expect(found.get(0)?.settings?.delayMs).toBe(9)
    expect(found.get(0)?.newestMs).toBe(T0 + 51_000)
    expect(found.get(1)?.settings).toBeNull()
    expect(log.recordsRead()).toBe(100_001)
  })

  it('cost little where heartbeats are near the end', async () => {
    const log = logOf([[...Array.from({ length: 100_000 }, () => position), beat(9), position]])
    await readInForce(log)
    expect(log.recordsRead()).toBe(2_000)
  })

  it('are not taken from a van that writes such words', async () => {
    const found = await readInForce(
      logOf([[settings(3), '{"repartidor":"a","nota":"\\"tipus\\":\\"batec\\"","retard_ms":1,"marge_ms":1}']]),
    )
    expect(found.get(0)?.settings?.delayMs).toBe(3)
  })

  it('tell whether the newest heartbeat stands on the player’s clock', async () => {
    const found = await readInForce(logOf([[beat(1, { rellotge: 'reproduccio' })], [beat(1, { rellotge: 'reproduccio' }), beat(1)]]))
    expect([found.get(0)?.playing, found.get(1)?.playing]).toEqual([true, false])
  })
})
