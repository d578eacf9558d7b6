import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimEpoch, LogContradictionError, raiseEpoch, readEpoch } from './epoch.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'km0-epoch-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const checkpoint = (offset: number, epoch = 1) => ({ pipeline: 'positions', partition: 0, offset, epoch, bytes: 1 })
const claim = (clusterId: string, end: number, checkpoints = [checkpoint(50)]) =>
  claimEpoch({ directory, clusterId, checkpoints, endOffsets: new Map([[0, end]]) })

describe('the log epoch', () => {
  it('begins with 1 and stays', async () => {
    expect(await readEpoch(directory)).toBeNull()
    expect(await claim('one', 100)).toEqual({ epoch: 1, clusterId: 'one' })
    expect(await claim('one', 50)).toEqual({ epoch: 1, clusterId: 'one' })
  })

  it('stops at another cluster and says what to do', async () => {
    await claim('one', 100)
    await expect(claim('two', 100)).rejects.toThrow(LogContradictionError)
    await expect(claim('two', 100)).rejects.toThrow(/belong to the Kafka cluster one.*km0 epoch raise.*KAFKA_BROKERS/)
  })

  it('stops at a log that ends before a checkpoint, or lacks its partition', async () => {
    await claim('one', 100)
    await expect(claim('one', 49)).rejects.toThrow(/ends at offset 49, but a checkpoint was made at offset 50/)
    await expect(claimEpoch({ directory, clusterId: 'one', checkpoints: [checkpoint(50)], endOffsets: new Map() })).rejects.toThrow(
      /does not exist/,
    )
  })

  it('goes on with the next number after it was raised; checkpoints of before prove nothing', async () => {
    await claim('one', 100)
    expect(await raiseEpoch(directory, 'two')).toEqual({ epoch: 2, clusterId: 'two' })
    expect(await claim('two', 0)).toEqual({ epoch: 2, clusterId: 'two' })
    await expect(claim('two', 0, [checkpoint(1, 2)])).rejects.toThrow(LogContradictionError)
  })

  it('does not guess when its file is damaged', async () => {
    await writeFile(join(directory, 'epoch.json'), '{"epoch":0')
    await expect(claim('one', 100)).rejects.toThrow(/epoch\.json is damaged/)
  })
})
