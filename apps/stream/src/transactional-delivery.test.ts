import { createLogger } from '@km0/runtime'
import {
  type CommittedPlace,
  type Log,
  LogFencedError,
  LogUnavailableError,
  type OutRecord,
  type PartitionSlice,
  type TransactionCommit,
} from '@km0/transport'
import { describe, expect, it } from 'vitest'
import type { Checkpointer } from './checkpointer.ts'
import type { DeliveredTask } from './result-delivery.ts'
import { TransactionalDelivery } from './transactional-delivery.ts'

const record: OutRecord = { topic: 'panell', key: 'k', value: 'v' }
const mark: OutRecord = { topic: 'marques', key: '3', value: 'mark' }
const slice = { isStale: () => false, heartbeat: async () => undefined } as PartitionSlice

/** A log with one place, whose next writes may fail, and a checkpoint store that is due or not. */
class Rig {
  place: CommittedPlace | undefined
  readonly opened: string[] = []
  readonly written: { records: readonly OutRecord[]; commit: TransactionCommit }[] = []
  readonly failures: Error[] = []
  readonly troubles: (string | null)[] = []
  readonly stored: number[] = []
  fenced = 0
  due = false
  readonly delivery: TransactionalDelivery

  constructor(epoch = 2) {
    const log = {
      openTransactionalProducer: async ({ transactionalId }: { transactionalId: string }) => {
        this.opened.push(transactionalId)
        return {
          write: async (records: readonly OutRecord[], commit: TransactionCommit) => {
            const failure = this.failures.shift()
            if (failure !== undefined) throw failure
            this.written.push({ records, commit })
            this.place = { nextOffset: commit.nextOffset, metadata: commit.metadata }
          },
          close: async () => undefined,
        }
      },
      committedPlaces: async () => new Map(this.place === undefined ? [] : [[3, this.place]]),
    } as unknown as Log
    const checkpointer = {
      isDue: () => this.due,
      store: async (task: DeliveredTask, commit: (offset: number) => Promise<void>) => {
        this.stored.push(task.nextOffset)
        await commit(task.nextOffset)
      },
    } as unknown as Checkpointer
    this.delivery = new TransactionalDelivery({
      log,
      groupId: 'g',
      topic: 't',
      epoch,
      checkpointer,
      logger: createLogger('test', 'silent'),
      onTrouble: (error) => this.troubles.push(error?.message ?? null),
      onFenced: () => {
        this.fenced += 1
      },
    })
  }
}

const task = (nextOffset: number) => ({ partition: 3, nextOffset, mark: () => mark }) as unknown as DeliveredTask

describe('delivery in transactions', () => {
  it('begins where the group is when nothing was written in transactions, and goes on at the place when it was', async () => {
    const rig = new Rig()
    expect(await rig.delivery.takeOver(3, 70)).toEqual({ restoreAt: 70, writtenBefore: 0, checkpoint: null })
    expect(await rig.delivery.deliver(task(80), slice, [record])).toBe(true)
    expect(rig.written[0]).toMatchObject({ records: [record, mark], commit: { groupId: 'g', topic: 't', partition: 3, nextOffset: 80 } })
    rig.due = true
    expect(await rig.delivery.deliver(task(90), slice, [])).toBe(true)
    rig.due = false
    expect(await rig.delivery.deliver(task(95), slice, [])).toBe(true)
    expect(rig.stored).toEqual([90])
    rig.delivery.drop()
    expect(await rig.delivery.takeOver(3, 70)).toEqual({ restoreAt: 95, writtenBefore: 95, checkpoint: 90 })
    expect(rig.opened).toEqual(['g-3', 'g-3'])
  })

  it('takes a place of another epoch, or of another way of delivery, for none', async () => {
    const before = new Rig(1)
    await before.delivery.takeOver(3, 0)
    await before.delivery.deliver(task(80), slice, [record])
    const rig = new Rig(2)
    rig.place = before.place
    expect(await rig.delivery.takeOver(3, 40)).toMatchObject({ restoreAt: 40, writtenBefore: 0 })
    rig.place = { nextOffset: 80, metadata: null }
    expect(await rig.delivery.takeOver(3, 41)).toMatchObject({ restoreAt: 41, writtenBefore: 0 })
  })

  it.each([
    ['the log is away', new LogUnavailableError('away'), 0, ['away']],
    ['somebody else has the partition', new LogFencedError('taken'), 1, []],
  ])('gives a partition up when %s, and writes nothing more before it is taken over anew', async (_when, error, fenced, troubles) => {
    const rig = new Rig()
    await rig.delivery.takeOver(3, 0)
    rig.failures.push(error)
    expect(await rig.delivery.deliver(task(10), slice, [record])).toBe(false)
    expect(await rig.delivery.deliver(task(10), slice, [record])).toBe(false)
    expect(rig.written).toEqual([])
    expect([rig.fenced, rig.troubles]).toEqual([fenced, troubles])
    await rig.delivery.takeOver(3, 0)
    expect(await rig.delivery.deliver(task(10), slice, [record])).toBe(true)
    expect(rig.troubles.at(-1)).toBeNull()
  })

  it('lets an error of its own pass through, and writes nothing for a slice that is stale', async () => {
    const rig = new Rig()
    await rig.delivery.takeOver(3, 0)
    expect(await rig.delivery.deliver(task(10), { ...slice, isStale: () => true }, [record])).toBe(false)
    rig.failures.push(new TypeError('a bug'))
    await expect(rig.delivery.deliver(task(10), slice, [record])).rejects.toThrow('a bug')
    expect(rig.written).toEqual([])
  })

  it('stores and points at the last checkpoints of an ordered stop', async () => {
    const rig = new Rig()
    await rig.delivery.takeOver(3, 0)
    await rig.delivery.storeAll([task(10)])
    expect(rig.stored).toEqual([10])
    expect(JSON.parse(rig.place?.metadata ?? '')).toEqual({ version: 1, epoch: 2, checkpoint: 10 })
  })
})
