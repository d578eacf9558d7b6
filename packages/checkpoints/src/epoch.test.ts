import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDirectoryObjects } from './directory-objects.ts'
import {
  claimEpoch,
  EpochContestedError,
  enterRestore,
  LogContradictionError,
  pipelineEpoch,
  raiseEpoch,
  readEpoch,
  topicEpoch,
} from './epoch.ts'
import type { ObjectStore } from './objects.ts'

let directory: string
let objects: ObjectStore
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'km0-epoch-'))
  objects = openDirectoryObjects(directory)
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const checkpoint = (offset: number, epoch = 1) => ({ pipeline: 'positions', partition: 0, offset, epoch, bytes: 1 })
const claim = (clusterId: string, end: number, checkpoints = [checkpoint(50)], endOffsets = new Map([[0, end]])) =>
  claimEpoch({ objects, clusterId, pipeline: { name: 'positions', version: 1, checkpoints, endOffsets } })
const epochOf = (epoch: number, clusterId: string) => ({ epoch, clusterId, restores: {}, replaced: {} })

describe('the log epoch', () => {
  it('begins with 1 and stays', async () => {
    expect(await readEpoch(objects)).toBeNull()
    expect(await claim('one', 100)).toEqual(epochOf(1, 'one'))
    expect(await claim('one', 50)).toEqual(epochOf(1, 'one'))
  })

  it('is one, however many roles start at once', async () => {
    const claimed = await Promise.all(Array.from({ length: 8 }, () => claimEpoch({ objects, clusterId: 'one' })))
    expect(new Set(claimed.map((epoch) => JSON.stringify(epoch))).size).toBe(1)
  })

  it('stops at another cluster and says what to do', async () => {
    await claim('one', 100)
    await expect(claim('two', 100)).rejects.toThrow(LogContradictionError)
    await expect(claim('two', 100)).rejects.toThrow(/belong to the Kafka cluster one.*km0 epoch raise.*KAFKA_BROKERS/)
  })

  it('stops at a log that ends before a checkpoint, or lacks its partition', async () => {
    await claim('one', 100)
    await expect(claim('one', 49)).rejects.toThrow(/ends at offset 49, but a checkpoint was made at offset 50/)
    await expect(claim('one', 0, [checkpoint(50)], new Map())).rejects.toThrow(/does not exist/)
  })

  it('goes on with the next number after it was raised; checkpoints of before prove nothing', async () => {
    await claim('one', 100)
    expect(await raiseEpoch(objects, 'two')).toEqual(epochOf(2, 'two'))
    expect(await claim('two', 0)).toEqual(epochOf(2, 'two'))
    await expect(claim('two', 0, [checkpoint(1, 2)])).rejects.toThrow(LogContradictionError)
  })

  it('takes the file of an older release for the first one, and goes on from it', async () => {
    await writeFile(join(directory, 'epoch.json'), '{"epoch":3,"clusterId":"one"}\n')
    expect(await claim('one', 100)).toEqual(epochOf(3, 'one'))
    expect(await raiseEpoch(objects, 'one')).toEqual(epochOf(4, 'one'))
    expect(await readEpoch(objects)).toEqual(epochOf(4, 'one'))
  })

  it('counts restores by pipeline and replaced topics by topic', async () => {
    const before = await claim('one', 100)
    const after = await enterRestore(objects, { before, pipeline: 'positions', replacedTopic: 'a topic' })
    expect(await readEpoch(objects)).toEqual(after)
    expect([pipelineEpoch(before, 'positions', 1), pipelineEpoch(after, 'positions', 1), pipelineEpoch(after, 'positions', 2)]).toEqual([
      1, 2, 3,
    ])
    expect(pipelineEpoch(after, 'stock-windows', 1)).toBe(1)
    expect([topicEpoch(after, 'a topic'), topicEpoch(after, 'another')]).toEqual([2, 1])
    // A checkpoint of before the restore proves nothing any more.
    expect(await claim('one', 0)).toEqual(after)
  })

  it('is changed by one of those who try at once', async () => {
    const before = await claim('one', 100)
    const tries = await Promise.allSettled([
      ...Array.from({ length: 4 }, () => raiseEpoch(objects, 'one')),
      ...Array.from({ length: 4 }, () => enterRestore(objects, { before, pipeline: 'positions' })),
    ])
    expect(tries.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(0)
    for (const tried of tries) if (tried.status === 'rejected') expect(tried.reason).toBeInstanceOf(EpochContestedError)
    const after = await readEpoch(objects)
    expect((after?.epoch ?? 0) - 1 + (after?.restores.positions ?? 0)).toBe(tries.filter(({ status }) => status === 'fulfilled').length)
  })

  it('does not restore over an epoch that somebody raised meanwhile', async () => {
    const before = await claim('one', 100)
    await raiseEpoch(objects, 'one')
    await expect(enterRestore(objects, { before, pipeline: 'positions' })).rejects.toThrow(EpochContestedError)
  })

  it('does not guess when its file is damaged', async () => {
    await claim('one', 100)
    await writeFile(join(directory, 'epochs', '0000000000000001.json'), '{"epoch":0')
    await expect(claim('one', 100)).rejects.toThrow(/0000000000000001\.json in .* is damaged/)
  })
})
