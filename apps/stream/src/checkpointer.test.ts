import type { Checkpoint, CheckpointOfLines, CheckpointStore, FoundCheckpoint } from '@km0/checkpoints'
import { createLogger, Registry } from '@km0/runtime'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Checkpointer, OtherEpochError } from './checkpointer.ts'
import { positionsMetrics } from './positions-metrics.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** Keeps checkpoints in memory; its disk may be full. */
class MemoryStore implements CheckpointStore {
  readonly kept: Checkpoint[] = []
  isFull = false
  async put(checkpoint: Checkpoint | CheckpointOfLines): Promise<number> {
    if (this.isFull) throw new Error('no space left on device')
    const snapshot = 'lines' in checkpoint ? [...checkpoint.lines].join('\n') : checkpoint.snapshot
    this.kept.push({ ...checkpoint, snapshot })
    return snapshot.length
  }
  async newestAtOrBelow(_pipeline: string, epoch: number, partition: number, offset: number): Promise<FoundCheckpoint> {
    const fitting = this.kept.filter((c) => c.epoch === epoch && c.partition === partition && c.offset <= offset)
    const damaged = [{ entry: { pipeline: 'p', partition, offset: 99, epoch, bytes: 1 }, reason: 'checksum differs' }]
    return { checkpoint: fitting.sort((a, b) => b.offset - a.offset)[0] ?? null, damaged: fitting.length > 1 ? damaged : [] }
  }
  async list() {
    return []
  }
  async delete(): Promise<void> {}
  async removePast() {
    return 0
  }
}

class CountingTask {
  readonly partition = 4
  nextOffset: number
  state: string
  constructor(nextOffset: number, state: string) {
    this.nextOffset = nextOffset
    this.state = state
  }
  snapshotLines(): string[] {
    return this.state.split(' ')
  }
  *restoreLines(lines: Iterable<string>, nextOffset: number): Generator<void> {
    this.state = [...lines].join(' ')
    this.nextOffset = nextOffset
    yield
  }
}

function setUp() {
  const store = new MemoryStore()
  const registry = new Registry()
  const log = createLogger('test', 'silent')
  const inForce = { epoch: 1 }
  const checkpointer = new Checkpointer({
    pipeline: 'p',
    store,
    epoch: 1,
    epochInForce: async () => inForce.epoch,
    intervalMs: 30_000,
    keep: 5,
    detail: 'in memory',
    metrics: positionsMetrics(registry),
    log,
  })
  return { store, registry, checkpointer, inForce }
}

describe('checkpoints of a job', () => {
  it('are stored before their offset is committed', async () => {
    const { store, checkpointer } = setUp()
    const order: string[] = []
    await checkpointer.store(new CountingTask(7, 'seven'), async (offset) => {
      order.push(`${store.kept.length} stored, commit ${offset}`)
    })
    expect(order).toEqual(['1 stored, commit 7'])
  })

  it('that cannot be stored commit nothing, are told, and are tried again soon', async () => {
    const { store, checkpointer } = setUp()
    const commits: number[] = []
    const commit = async (offset: number) => void commits.push(offset)
    await checkpointer.restore(new CountingTask(0, ''), 0)
    store.isFull = true
    await checkpointer.store(new CountingTask(7, 'seven'), commit)
    expect(commits).toEqual([])
    expect(checkpointer.health()).toEqual({ status: 'degraded', detail: 'no space left on device (in memory)' })
    expect(checkpointer.isDue(4)).toBe(false)
    vi.advanceTimersByTime(5_000)
    expect(checkpointer.isDue(4)).toBe(true)
    store.isFull = false
    await checkpointer.store(new CountingTask(8, 'eight'), commit)
    expect(commits).toEqual([8])
    expect(checkpointer.health()).toEqual({ status: 'ok', detail: 'in memory' })
  })

  it('are due at their interval, counted from the last one', async () => {
    const { checkpointer } = setUp()
    await checkpointer.restore(new CountingTask(0, ''), 0)
    vi.advanceTimersByTime(29_999)
    expect(checkpointer.isDue(4)).toBe(false)
    vi.advanceTimersByTime(1)
    expect(checkpointer.isDue(4)).toBe(true)
    await checkpointer.store(new CountingTask(7, 'seven'), async () => undefined)
    expect(checkpointer.isDue(4)).toBe(false)
  })

  it('come back as the newest at or below an offset; damaged ones are counted', async () => {
    const { checkpointer, registry } = setUp()
    for (const offset of [5, 9]) await checkpointer.store(new CountingTask(offset, `at ${offset}`), async () => undefined)
    const task = new CountingTask(0, '')
    expect(await checkpointer.restore(task, 8)).toBe(true)
    expect([task.state, task.nextOffset]).toEqual(['at 5', 5])
    expect(await checkpointer.restore(task, 4)).toBe(false)
    expect(await checkpointer.restore(task, 9)).toBe(true)
    expect(task.state).toBe('at 9')
    expect(await registry.metrics()).toContain('km0_stream_checkpoints_damaged_total 1')
  })

  it('let a commit that is refused pass through: the partition is somebody else’s', async () => {
    const { checkpointer } = setUp()
    const refused = checkpointer.store(new CountingTask(7, 'seven'), () => Promise.reject(new Error('ILLEGAL_GENERATION')))
    await expect(refused).rejects.toThrow('ILLEGAL_GENERATION')
  })

  it('are neither taken nor stored once another epoch is in force: a savepoint was restored while we stood still', async () => {
    const { checkpointer, store, inForce } = setUp()
    await checkpointer.store(new CountingTask(5, 'five'), async () => undefined)
    inForce.epoch = 2
    const committed: number[] = []
    const late = checkpointer.store(new CountingTask(7, 'seven'), async (offset) => void committed.push(offset))
    await expect(late).rejects.toThrow(OtherEpochError)
    await expect(checkpointer.restore(new CountingTask(0, ''), 9)).rejects.toThrow(/works in epoch 1, but 2 is in force/)
    expect([committed, store.kept.length]).toEqual([[], 1])
  })

  it('tell how often they are made and how many are kept', async () => {
    const text = await setUp().registry.metrics()
    expect(text).toContain('km0_stream_checkpoint_interval_seconds 30')
    expect(text).toContain('km0_stream_checkpoints_kept 5')
  })
})
