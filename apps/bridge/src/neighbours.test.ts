import { TOPICS } from '@km0/contracts'
import type { LogRecord } from '@km0/transport'
import { describe, expect, it } from 'vitest'
import { Neighbours } from './neighbours.ts'

const T0 = 1_772_442_000_000

/** A log in memory with three partitions. */
class MemoryLog {
  readonly partitions: LogRecord[][] = [[], [], []]
  read = 0

  add(partition: number, value: object | string, timestampMs: number): void {
    const records = this.partitions[partition] ?? []
    const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
    records.push({ partition, offset: records.length, timestampMs, key: null, value: bytes, headers: {} } as LogRecord)
  }

  async startOffsets(topic: string) {
    expect(topic).toBe(TOPICS.positions.name)
    return new Map(this.partitions.map((_, partition) => [partition, 0]))
  }

  async endOffsets() {
    return new Map(this.partitions.map((records, partition) => [partition, records.length]))
  }

  async *readTopic({ from, until }: { from?: ReadonlyMap<number, number>; until?: ReadonlyMap<number, number> }) {
    for (const [partition, records] of this.partitions.entries()) {
      const wanted = records.slice(from?.get(partition), until?.get(partition))
      this.read += wanted.length
      if (wanted.length > 0) yield { partition, records: wanted }
    }
  }
}

function build() {
  const log = new MemoryLog()
  const clock = { ms: T0 }
  const found: [string, readonly number[]][] = []
  const neighbours = new Neighbours({ log, clientId: 'sud', nowMs: () => clock.ms, onFound: (...told) => found.push(told) })
  const beat = (partition: number, client: string) => log.add(partition, { tipus: 'batec', data_ms: clock.ms, client }, clock.ms)
  return { log, clock, found, neighbours, beat }
}

describe('other bridges in our partitions', () => {
  it('are found by their heartbeats, said once, and forgotten when they are gone', async () => {
    const { clock, found, neighbours, beat } = build()
    await neighbours.look([1, 2])
    for (const partition of [0, 1, 2]) beat(partition, 'nord')
    beat(1, 'sud')
    await neighbours.look([1, 2])
    expect(found).toEqual([['nord', [1, 2]]])
    expect([...neighbours.present]).toEqual([['nord', [1, 2]]])
    beat(1, 'nord')
    await neighbours.look([1, 2])
    expect(found).toHaveLength(1)
    clock.ms += 61_000
    expect(neighbours.present.size).toBe(0)
    await neighbours.look([1, 2])
    beat(2, 'nord')
    await neighbours.look([1, 2])
    expect(found).toEqual([
      ['nord', [1, 2]],
      ['nord', [2]],
    ])
  })

  it('are not those of before our start, of other partitions, or those that stand by for us', async () => {
    const { log, found, neighbours, beat } = build()
    beat(1, 'nord')
    await neighbours.look([1])
    beat(0, 'nord')
    beat(1, 'sud')
    log.add(1, '{"tipus":"batec","client":', T0)
    log.add(1, 'null "batec"', T0)
    log.add(1, { tipus: 'batec', data_ms: T0 }, T0)
    log.add(1, { repartidor: 'x "batec"', client: 'nord' }, T0)
    await neighbours.look([1])
    expect(found).toEqual([])
  })

  it('costs a bounded number of records however much came', async () => {
    const { log, neighbours } = build()
    await neighbours.look([0])
    for (let n = 0; n < 50_000; n += 1) log.add(0, '{"repartidor":"a"}', T0)
    await neighbours.look([0])
    expect(log.read).toBe(2_000)
  })
})
