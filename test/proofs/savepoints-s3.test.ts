import { openCheckpointStore, openObjects, readEpoch } from '@km0/checkpoints'
import { checkpointEnvironment } from '@km0/checkpoints/environment'
import { TOPICS } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { end, expectedRows, lastOf, part, SavepointRig } from '../adapters/savepoint-rig.ts'
import { until } from '../chaos/stream-process.ts'

// On a real S3-compatible server, built by `go install` at the first run. Where it cannot be had this file says so and is skipped.
let services: TestServices<{ kafka: true; s3: true }> | null = null
try {
  services = await startServices({ kafka: true, s3: true })
} catch (error) {
  console.warn(`savepoints in S3 are not tested here: ${error instanceof Error ? error.message : String(error)}`)
}

describe.skipIf(services === null)('a job whose checkpoints are in an object store', () => {
  let rig: SavepointRig
  beforeAll(async () => {
    if (services !== null) rig = await SavepointRig.open(services.kafka.brokers, services.environment)
  })
  afterAll(async () => {
    await rig?.kill()
    await services?.stop()
  })

  const objects = () => openObjects(checkpointEnvironment.parse(services?.environment), 'nowhere')

  /** Cuts the newest committed checkpoint of each partition short where there is one before it. Returns how many. */
  async function damageNewest(): Promise<number> {
    const committed = await rig.log.committedOffsets('km0-positions', TOPICS.positions.name)
    const entries = await openCheckpointStore({ objects: objects(), keep: 5 }).list('positions')
    let damaged = 0
    for (const [partition, offset] of committed) {
      const usable = entries.filter((entry) => entry.partition === partition && entry.offset <= offset)
      const newest = usable.at(-1)
      if (newest === undefined || usable.length < 2) continue
      const key = `positions/epoch-1/partition-${partition}/${String(newest.offset).padStart(16, '0')}.checkpoint`
      const bytes = await objects().read(key)
      if (bytes === null) throw new Error(`${key} is not there`)
      await objects().write(key, bytes.subarray(0, 100))
      damaged += 1
    }
    return damaged
  }

  it('is killed, its newest checkpoints are damaged, and another instance goes on from the ones before', async () => {
    await rig.write(part(0))
    const first = await rig.startJob()
    expect((await first.health()).parts.checkpoints).toEqual({ status: 'ok', detail: 's3://km0-test/states' })
    await rig.createWhileItRuns('first', lastOf(0))
    await rig.kill()
    const damaged = await damageNewest()
    expect(damaged).toBeGreaterThan(0)
    await rig.write(part(1))
    const second = await rig.startJob()
    await rig.applied(lastOf(1))
    // A partition may be taken over twice: the group has the killed one as a member for some seconds.
    expect(await second.metric('km0_stream_checkpoints_damaged_total')).toBeGreaterThanOrEqual(damaged)
    expect(await second.metric('km0_stream_restores_total', 'from="log-start"')).toBe(0)
    expect((await rig.panelRows()).rows).toEqual(expectedRows([...part(0), ...part(1)]))
  })

  it('keeps on while the store is away, and says so', async () => {
    await services?.s3.stop()
    const job = await rig.startedJob()
    await until('the store is missed', async () => {
      await rig.beat(lastOf(1))
      return (await job.health()).parts.checkpoints?.status === 'degraded'
    })
    await services?.restart('s3')
    await until('it is back', async () => {
      await rig.beat(lastOf(1))
      return (await job.health()).parts.checkpoints?.status === 'ok'
    })
    await rig.beat(lastOf(1) + 1_000)
    await rig.applied(lastOf(1) + 1_000)
    await rig.stopJob()
  })

  it('is restored into more partitions, then into fewer of a new topic', async () => {
    const drained = await rig.savepoint('create drained --wait 10')
    expect(drained.code, drained.said).toBe(0)
    const grown = await rig.savepoint('restore drained --partitions 9')
    expect(grown.out, grown.said).toMatch(/epoch 2 .*\n.*has 9 partitions now/)
    await rig.write(part(2), 9)
    await rig.startJob()
    await rig.applied(lastOf(2), 9)
    await rig.stopJob()

    expect((await rig.savepoint('create of-nine --wait 10')).code).toBe(0)
    expect((await rig.savepoint('restore of-nine --partitions 4')).said).toMatch(/Kafka takes no partitions away: say --new-topic/)
    const refused = await rig.savepoint('restore of-nine --partitions 4 --new-topic')
    expect(refused).toMatchObject({ code: 2, said: expect.stringMatching(/holds \d+ records, which are deleted with it/) })
    const replaced = await rig.savepoint('restore of-nine --partitions 4 --new-topic --yes')
    expect(replaced.out, replaced.said).toMatch(/epoch 3 .*\n.*begun anew with 4 partitions/)
    await rig.write([...part(3), end], 4)
    await rig.startJob()
    await rig.applied(end.atMs, 4)
    await rig.stopJob()
    expect((await rig.panelRows()).rows).toEqual(expectedRows([...part(0), ...part(1), ...part(2), ...part(3), end]))
    expect((await rig.savepoint('restore drained')).said).toMatch(/another repartiment\.posicions/)
    expect(await readEpoch(objects())).toMatchObject({ epoch: 1, restores: { positions: 2 }, replaced: { 'repartiment.posicions': 1 } })
  })

  it('has its savepoints listed and deleted; states of other settings are refused before anything changes', async () => {
    expect((await rig.savepoint('create of-four')).code).toBe(0)
    const other = await rig.savepoint('restore of-four', { KM0_POSITIONS_SESSION_GAP_MS: '240000' })
    expect(other).toMatchObject({ code: 2, said: expect.stringMatching(/cannot be restored with the settings in force: .*sessionGapMs/) })
    expect((await rig.savepoint('delete of-four')).out).toMatch(/savepoint of-four of positions is deleted/)
    expect((await rig.savepoint('delete of-four')).said).toMatch(/there is no savepoint of-four/)
    const { out } = await rig.savepoint('list')
    expect(out.split('\n').map((line) => line.split(' ')[0])).toEqual(['name', 'drained', 'first', 'of-nine', ''])
  })

  it('begins at the log’s start without a checkpoint, and tells the hole that retention has left', async () => {
    const admin = new Kafka({ brokers: [services?.kafka.brokers ?? ''], logLevel: logLevel.NOTHING }).admin()
    await admin.connect()
    // kafkajs asks this of the broker only for topics that it has heard of.
    await admin.fetchTopicOffsets(TOPICS.positions.name)
    await admin.deleteTopicRecords({ topic: TOPICS.positions.name, partitions: [{ partition: 2, offset: '50' }] })
    await admin.disconnect()
    const job = await rig.startJob({ KM0_CHECKPOINTS: 's3://km0-test/lost' })
    // A partition is taken over with its first record.
    await rig.write([end], 4)
    await rig.applied(end.atMs, 4)
    const { log, checkpoints } = (await job.health()).parts
    expect(checkpoints).toEqual({ status: 'ok', detail: 's3://km0-test/lost' })
    expect(log).toMatchObject({
      status: 'degraded',
      detail: expect.stringMatching(/^partition 2: retention has deleted the records 0 to 49 .* pnpm km0 backfill run --from TIME --to 20/),
    })
    await rig.stopJob()
  })

  it('is restored on another Kafka, which knows nothing yet', async () => {
    const other = await startServices({ kafka: true })
    try {
      const there = await SavepointRig.open(other.kafka.brokers, { ...services?.environment, ...other.environment })
      expect((await there.savepoint('restore drained --new-topic')).said).toMatch(/belong to the Kafka cluster .*epoch raise/)
      expect((await there.km0('epoch raise')).out).toMatch(/^epoch 2 of the log/)
      expect((await there.savepoint('restore drained')).said).toMatch(/those of another repartiment\.posicions.*--new-topic/)
      const restored = await there.savepoint('restore drained --new-topic --partitions 3')
      expect(restored.out, restored.said).toMatch(/begun anew with 3 partitions/)
      await there.write([...part(2), end], 3)
      await there.startJob()
      await there.applied(end.atMs, 3)
      await there.stopJob()
      const expected = new Map(expectedRows([...part(0), ...part(1), ...part(2), end]))
      const { rows } = await there.panelRows()
      expect(rows).toEqual(rows.map(([key]) => [key, expected.get(key)]))
      expect(rows.length).toBeGreaterThan(100)
    } finally {
      await other.stop()
    }
  })
})
