import { DEFAULT_POSITIONS_SETTINGS, TOPICS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { createLogger, Health, Registry } from '@km0/runtime'
import type { LogRecord, OutRecord, PartitionSlice } from '@km0/transport'
import { describe, expect, it } from 'vitest'
import { PartitionTask } from './partition-task.ts'
import { PositionsJob, type PositionsJobOptions } from './positions-job.ts'
import { positionsMetrics } from './positions-metrics.ts'

/** A job whose log takes everything, and which has no checkpoints. */
function build() {
  const registry = new Registry()
  const written: OutRecord[] = []
  const deliver = async (_task: unknown, _slice: unknown, records: readonly OutRecord[]) => written.push(...records) >= 0
  const options = {
    program: { settings: { KM0_CLOCK: 'machine' }, metrics: registry, health: new Health(), log: createLogger('prova', 'silent') },
    log: { startOffsets: async () => new Map([[0, 0]]) },
    delivery: { takeOver: async () => ({ restoreAt: 0, writtenBefore: 0 }), deliver },
    checkpointer: { restore: async () => false, observeAges: () => undefined },
    metrics: positionsMetrics(registry),
    newTask: (partition: number) => new PartitionTask(partition, 1, createPositionsHost(DEFAULT_POSITIONS_SETTINGS), 0),
  }
  const job = new PositionsJob(options as unknown as PositionsJobOptions)
  const gauge = async (name: string) => {
    const metric = await registry.getSingleMetric(name)?.get()
    return metric?.values[0]?.value
  }
  return { job, gauge, written }
}

/** One position that was measured `agoMs` ago and arrived `arrivedAgoMs` ago, when the log goes on for `behind` more records. */
function slice(agoMs: number, arrivedAgoMs: number, behind: number): PartitionSlice {
  const nowMs = Date.now()
  const value = Buffer.from(JSON.stringify({ repartidor: 'a', lat: 41.9, lon: 2.8, data_ms: nowMs - agoMs }))
  const record = { partition: 0, offset: 0, timestampMs: nowMs - arrivedAgoMs, key: 'a', headers: {}, value } as unknown as LogRecord
  return { topic: 't', partition: 0, records: [record], nextOffset: 1, endOffset: 1 + behind } as unknown as PartitionSlice
}

describe('lag and latency', () => {
  it('are two numbers: a job that has read everything is ten minutes behind a fleet whose network is down', async () => {
    const { job, gauge } = build()
    await job.start(0, 0)
    await job.onSlice(slice(600_000, 590_000, 0))
    expect(await gauge('km0_stream_lag_records')).toBe(0)
    expect(await gauge('km0_stream_lag_seconds')).toBeGreaterThanOrEqual(600)
  })

  it('and one with many records to read may be as fresh as the newest point', async () => {
    const { job, gauge } = build()
    await job.start(0, 0)
    await job.onSlice(slice(1_000, 0, 5_000))
    expect(await gauge('km0_stream_lag_records')).toBe(5_000)
    expect(await gauge('km0_stream_lag_seconds')).toBeLessThan(590)
  })

  it('latency grows while nothing comes, when lag stands at nothing', async () => {
    const { job, gauge } = build()
    await job.start(0, 0)
    await job.onSlice(slice(1_000, 0, 0))
    const before = (await gauge('km0_stream_lag_seconds')) ?? 0
    const startMs = Date.now()
    while (Date.now() === startMs) await new Promise((resolve) => setTimeout(resolve, 2))
    expect(await gauge('km0_stream_lag_seconds')).toBeGreaterThan(before)
    expect(await gauge('km0_stream_lag_records')).toBe(0)
  })
})

describe('a hole that retention left', () => {
  it('is told once, in the late side output, with its offsets and the time in which it was', async () => {
    const { job, written } = build()
    await job.start(0, 0)
    await job.onSlice(slice(600_000, 600_000, 0))
    job.onHole({ topic: 't', partition: 0, expectedOffset: 1, foundOffset: 90 })
    await job.onSlice(slice(1_000, 1_000, 0))
    await job.onSlice(slice(500, 500, 0))
    const holes = written.filter(({ key }) => key === 'forat|0')
    expect(holes).toHaveLength(1)
    expect(holes[0]).toMatchObject({ topic: TOPICS.late.name, headers: { particio_origen: '0', offset_origen: '90' } })
    const value = JSON.parse(String(holes[0]?.value))
    expect(value).toMatchObject({ motiu: 'forat', des_de_offset: 1, fins_offset: 90 })
    expect(value.data_ms - value.inici_ms).toBeGreaterThan(500_000)
  })
})
