import { DEFAULT_POSITIONS_SETTINGS, TOPICS } from '@km0/contracts'
import { type LakeBatch, LakeFencedError, type LakeHole, LakeUnavailableError, type LakeWriter, POSITIONS } from '@km0/lake'
import { Health, Registry } from '@km0/runtime'
import type { Log, LogRecord, PartitionSlice } from '@km0/transport'
import { describe, expect, it } from 'vitest'
import type { StreamProgram } from '../role.ts'
import { lakeRoleEnvironment } from './environment.ts'
import { LakeJob } from './lake-job.ts'
import { lakeMetrics } from './metrics.ts'

const TOPIC = TOPICS.positions.name
const EVENT_MS = 1_789_380_000_000

/** A writer that stores in memory, and fails as often as it is told to. */
class MemoryWriter implements Pick<LakeWriter, 'nextOffset' | 'nextOffsets' | 'append' | 'skip'> {
  at = 0
  /** Partitions that the lake knows; every other one is asked for alone. */
  known: readonly number[] = []
  looks = 0
  alone: number[] = []
  /** Where the log begins. */
  logStart = 0
  readonly stored: LakeBatch[] = []
  readonly holes: LakeHole[] = []
  failures: Error[] = []

  async nextOffset(_table?: unknown, partition = 0): Promise<number> {
    this.alone.push(partition)
    return this.at
  }

  async nextOffsets(): Promise<ReadonlyMap<string, number>> {
    this.looks += 1
    return new Map(this.known.map((partition) => [`${POSITIONS.name}/${partition}`, this.at + partition]))
  }

  async append(batches: readonly LakeBatch[]): Promise<void> {
    const failure = this.failures.shift()
    if (failure !== undefined) throw failure
    this.stored.push(...batches)
  }

  async skip(hole: LakeHole): Promise<void> {
    this.holes.push(hole)
  }
}

function setUp(options: { lakeNext?: number; logStart?: number; logEnd?: number; rows?: number } = {}) {
  const writer = new MemoryWriter()
  writer.at = options.lakeNext ?? 0
  writer.logStart = options.logStart ?? 0
  const fatal: unknown[] = []
  const quiet = () => undefined
  const health = new Health()
  const program = {
    health,
    log: { info: quiet, warn: quiet, error: quiet },
    shutdown: { fail: (error: unknown) => fatal.push(error) },
  } as unknown as StreamProgram
  const log = {
    startOffsets: async () => new Map([0, 1, 2, 7].map((partition) => [partition, writer.logStart])),
    endOffsets: async () => new Map([0, 1, 2, 7].map((partition) => [partition, options.logEnd ?? 1_000])),
  } as unknown as Log
  const settings = lakeRoleEnvironment.parse({ KM0_LAKE_BATCH_ROWS: options.rows ?? 10, KM0_LAKE_BATCH_MS: 1 })
  const job = new LakeJob({
    program,
    log,
    writer: writer as unknown as LakeWriter,
    metrics: lakeMetrics(new Registry()),
    settings,
    epochOf: () => 1,
    acceptance: () => DEFAULT_POSITIONS_SETTINGS,
    knownHoles: [],
  })
  health.register('lake', () => job.lakeHealth())
  health.register('log', () => job.holeHealth(Date.now()))
  return { job, writer, fatal, health }
}

function slice(from: number, count: number, changes: Partial<PartitionSlice> = {}): PartitionSlice {
  const records = Array.from({ length: count }, (_, index): LogRecord => {
    const value = Buffer.from(`{"repartidor":"a","lat":41,"lon":2,"data_ms":${EVENT_MS + index}}`)
    return { partition: 0, offset: from + index, timestampMs: EVENT_MS, key: 'a', value, headers: {} }
  })
  return {
    topic: TOPIC,
    partition: 0,
    records,
    nextOffset: from + count,
    endOffset: 1_000,
    isStale: () => false,
    isStopping: () => false,
    heartbeat: async () => undefined,
    commit: async () => undefined,
    ...changes,
  }
}

describe('where it goes on', () => {
  it('is looked at once for all partitions of a generation, and alone for those that the lake does not know or that are asked for again', async () => {
    const { job, writer } = setUp({ lakeNext: 5 })
    writer.known = [0, 1, 2]
    expect(await Promise.all([0, 1, 2].map((partition) => job.start(TOPIC, partition, 0)))).toEqual([5, 6, 7])
    expect([writer.looks, writer.alone]).toEqual([1, []])
    expect([await job.start(TOPIC, 7, 0), await job.start(TOPIC, 1, 0)]).toEqual([5, 5])
    expect([writer.looks, writer.alone]).toEqual([1, [7, 1]])
    // Another generation: somebody else may have moved it meanwhile.
    job.drop()
    writer.at = 50
    expect(await job.start(TOPIC, 1, 0)).toBe(51)
    expect(writer.looks).toBe(2)
  })

  it('is where the lake stands', async () => {
    const { job, writer, health } = setUp({ lakeNext: 40, logStart: 30 })
    expect(await job.start(TOPIC, 0, 30)).toBe(40)
    expect(writer.holes).toEqual([])
    expect(health.report().status).toBe('ok')
  })

  it('is the start of the log after a hole, which is written down and is an alarm', async () => {
    const { job, writer, health } = setUp({ lakeNext: 40, logStart: 100 })
    expect(await job.start(TOPIC, 0, 100)).toBe(100)
    expect(writer.holes).toMatchObject([{ table: POSITIONS, partition: 0, fromOffset: 40, toOffset: 100 }])
    expect(health.report()).toMatchObject({
      status: 'degraded',
      parts: { log: { detail: expect.stringMatching(/^60 records were deleted/) } },
    })
  })

  it('is no alarm for a lake that begins after its log', async () => {
    const { job, writer, health } = setUp({ lakeNext: 0, logStart: 100 })
    expect(await job.start(TOPIC, 0, 100)).toBe(100)
    expect(writer.holes).toMatchObject([{ fromOffset: 0, toOffset: 100 }])
    expect(health.report().status).toBe('ok')
  })

  it('is nowhere when the lake holds more than the log: it is another log', async () => {
    const { job } = setUp({ lakeNext: 40, logEnd: 39 })
    await expect(job.start(TOPIC, 0, 0)).rejects.toThrow(/another log.*epoch raise/)
  })
})

describe('retention that overtakes a lake that is slow', () => {
  it('is a hole that is written down, after what was read before it is stored', async () => {
    const { job, writer, health } = setUp({ lakeNext: 40, logStart: 30, rows: 1_000 })
    await job.start(TOPIC, 0, 40)
    await job.apply(slice(40, 5))
    writer.logStart = 90
    expect(await job.apply(slice(95, 5))).toBe(true)
    expect(writer.stored).toMatchObject([{ fromOffset: 40, nextOffset: 45 }])
    expect(writer.holes).toMatchObject([{ table: POSITIONS, partition: 0, fromOffset: 45, toOffset: 90 }])
    expect(health.report()).toMatchObject({
      status: 'degraded',
      parts: { log: { detail: expect.stringMatching(/^45 records were deleted/) } },
    })
    await job.store()
    expect(writer.stored.at(-1)).toMatchObject({ fromOffset: 90, nextOffset: 100 })
  })

  it('is none where the log still begins before the gap', async () => {
    const { job, writer } = setUp({ lakeNext: 40, logStart: 30 })
    await job.start(TOPIC, 0, 40)
    await job.apply(slice(40, 2))
    await job.apply(slice(45, 2))
    await job.store()
    expect(writer.holes).toEqual([])
    expect(writer.stored).toMatchObject([{ fromOffset: 40, nextOffset: 47 }])
  })
})

describe('storing', () => {
  it('waits until there is enough, and moves the offset past records that are not kept', async () => {
    const { job, writer } = setUp({ rows: 10 })
    await job.start(TOPIC, 0, 0)
    expect(await job.apply(slice(0, 9))).toBe(true)
    expect(writer.stored).toEqual([])
    await job.apply(slice(9, 3, { nextOffset: 14 }))
    expect(writer.stored).toMatchObject([{ fromOffset: 0, nextOffset: 14, newestEventMs: EVENT_MS + 8 }])
    expect(writer.stored[0]?.rows).toHaveLength(12)
  })

  it('stores what is old by the timer, and what is left at the end', async () => {
    const { job, writer } = setUp()
    await job.start(TOPIC, 0, 0)
    await job.apply(slice(0, 3))
    await new Promise((resolve) => setTimeout(resolve, 5))
    job.storeDue()
    await job.store()
    expect(writer.stored).toMatchObject([{ fromOffset: 0, nextOffset: 3 }])
    await job.apply(slice(3, 2))
    await job.stop()
    expect(writer.stored.at(-1)).toMatchObject({ fromOffset: 3, nextOffset: 5 })
  })

  it('repeats the same batch while the lake is away, and says so', async () => {
    const { job, writer, health } = setUp({ rows: 3 })
    await job.start(TOPIC, 0, 0)
    writer.failures = [new LakeUnavailableError('away'), new LakeUnavailableError('away')]
    const applied = job.apply(slice(0, 3))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(health.report()).toMatchObject({ status: 'down', parts: { lake: { detail: 'away' } } })
    await applied
    expect(writer.stored).toMatchObject([{ fromOffset: 0, nextOffset: 3 }])
    expect(health.report().status).toBe('ok')
  })

  it('forgets what was not stored when the partitions go, and asks anew where to go on', async () => {
    const { job, writer } = setUp()
    await job.start(TOPIC, 0, 0)
    await job.apply(slice(0, 3))
    job.drop()
    expect(await job.apply(slice(3, 3))).toBe(false)
    await job.store()
    expect(writer.stored).toEqual([])
  })

  it('ends when another writer has the partition, though the group says it is ours', async () => {
    const { job, writer, fatal } = setUp({ rows: 3 })
    await job.start(TOPIC, 0, 0)
    writer.failures = [new LakeFencedError('taken')]
    await expect(job.apply(slice(0, 3))).rejects.toThrow(LakeFencedError)
    expect(fatal).toEqual([])
  })
})
