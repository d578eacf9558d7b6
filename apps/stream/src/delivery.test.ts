import { LogRefusedError, LogUnavailableError, type OutRecord, type PartitionSlice, withHeartbeats } from '@km0/transport'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { deliver } from './delivery.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const records: OutRecord[] = [{ topic: 't', key: null, value: 'x' }]

function slice(more: Partial<PartitionSlice> = {}): PartitionSlice & { beats: number } {
  const made = {
    topic: 't',
    partition: 0,
    records: [],
    nextOffset: 1,
    endOffset: 1,
    beats: 0,
    isStale: () => false,
    isStopping: () => false,
    heartbeat: async () => {
      made.beats += 1
    },
    commit: async () => undefined,
    ...more,
  }
  return made
}

/** A log that is away for some calls. */
class FlakyProducer {
  sent: (readonly OutRecord[])[] = []
  failures: number
  constructor(failures: number) {
    this.failures = failures
  }
  async send(batch: readonly OutRecord[]): Promise<void> {
    this.sent.push(batch)
    if (this.failures-- > 0) throw new LogUnavailableError('away')
  }
  async close(): Promise<void> {}
}

describe('delivery', () => {
  it('sends the same array until the log has it, and keeps the membership meanwhile', async () => {
    const producer = new FlakyProducer(4)
    const work = slice()
    const troubles: Error[] = []
    const delivered = deliver(producer, records, work, (error) => troubles.push(error))
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await delivered).toBe(true)
    expect(producer.sent).toHaveLength(5)
    for (const batch of producer.sent) expect(batch).toBe(records)
    expect(troubles).toHaveLength(4)
  })

  it('gives up when the partition is somebody else’s, and when the program stops while the log is away', async () => {
    const producer = new FlakyProducer(100)
    expect(await deliver(producer, records, slice({ isStale: () => true }), () => undefined)).toBe(false)
    expect(producer.sent).toHaveLength(0)
    expect(await deliver(producer, records, slice({ isStopping: () => true }), () => undefined)).toBe(false)
    expect(producer.sent).toHaveLength(1)
  })

  it('lets a refusal and a rebalance pass through', async () => {
    const refusing = { send: () => Promise.reject(new LogRefusedError('no', 'INVALID_RECORD')), close: async () => undefined }
    await expect(deliver(refusing, records, slice(), () => undefined)).rejects.toBeInstanceOf(LogRefusedError)
    const rebalancing = slice({ heartbeat: () => Promise.reject(new Error('rebalancing')) })
    const waiting = deliver(new FlakyProducer(100), records, rebalancing, () => undefined)
    const outcome = expect(waiting).rejects.toThrow('rebalancing')
    await vi.advanceTimersByTimeAsync(20_000)
    await outcome
  })
})

describe('waiting with heartbeats', () => {
  it('beats once a second until the work is done', async () => {
    const work = slice()
    const waiting = withHeartbeats(work, new Promise((resolve) => setTimeout(() => resolve('done'), 3_500)))
    await vi.advanceTimersByTimeAsync(3_600)
    expect(await waiting).toBe('done')
    expect(work.beats).toBe(3)
  })

  it('rejects as the work does', async () => {
    await expect(withHeartbeats(slice(), Promise.reject(new TypeError('a bug')))).rejects.toThrow('a bug')
  })
})
