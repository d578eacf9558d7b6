import { join } from 'node:path'
import { TOPICS } from '@km0/contracts'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectedRows, lastOf, part, SavepointRig } from './savepoint-rig.ts'

// A new topic, and checkpoints in an object store: test/proofs/savepoints-s3.test.ts.
let services: TestServices<{ kafka: true; postgres: true }>
let rig: SavepointRig
beforeAll(async () => {
  services = await startServices({ kafka: true, postgres: true })
  rig = await SavepointRig.open(services.kafka.brokers, { ...services.environment, KM0_CHECKPOINTS: join(services.dataDir, 'checkpoints') })
})
afterAll(async () => {
  await rig?.kill()
  await services?.stop()
})

describe('savepoints of a job on a real log', () => {
  it('are made of a running job, refused to be restored under it, and put back when it is stopped', async () => {
    await rig.write(part(0))
    await rig.startJob()
    const made = await rig.createWhileItRuns('first', lastOf(0))
    expect(made.out, made.said).toMatch(/^savepoint first of positions: epoch 1, 6 partitions, \d+ bytes, offsets 0:\d+ 1:/)
    expect((await rig.savepoint('restore first --patience 0')).said).toMatch(/1 instances of the role positions still run/)
    await rig.write(part(1))
    await rig.applied(lastOf(1))
    await rig.stopJob()

    const restored = await rig.savepoint('restore first')
    expect(restored.out, restored.said).toMatch(/savepoint first is restored: epoch 2 \(restore 1\), offsets 0:/)
    const again = await rig.startJob()
    await rig.applied(lastOf(1))
    expect(await again.metric('km0_stream_restores_total', 'from="log-start"')).toBe(0)
    expect((await again.health()).parts.checkpoints).toMatchObject({
      status: 'ok',
      detail: expect.stringMatching(/only this machine sees/),
    })
    await rig.stopJob()

    // Before an upgrade the states are kept, and only then is the schema brought forward; where they cannot be, it is not.
    const upgraded = await rig.km0('upgrade', { DATABASE_URL: services.postgres.url })
    expect(upgraded.out, upgraded.said).toMatch(
      /^savepoint upgrade-\d{8}t\d{6}z of positions: epoch 2, .*\nstock-windows: no states .*\nmigrations 1, 2, .* are applied\n$/,
    )
    expect((await rig.savepoint('list')).out).toContain('upgrade-')
    const elsewhere = await rig.km0('upgrade', { DATABASE_URL: services.postgres.url, KM0_SETTINGS_FILE: '', KAFKA_BROKERS: '127.0.0.1:1' })
    expect(elsewhere.code).toBe(1)
    expect(await rig.panelRows()).toEqual({ rows: expectedRows([...part(0), ...part(1)]), epochs: [1, 2] })
  }, 240_000)

  it('go into more partitions, and the rows are those of a job that never stopped', async () => {
    const early = await rig.savepoint('restore first --partitions 9')
    expect(early).toMatchObject({ code: 2, said: expect.stringMatching(/records that came after the savepoint first/) })
    const drained = await rig.savepoint('create drained --wait 10')
    expect(drained.code, drained.said).toBe(0)
    const grown = await rig.savepoint('restore drained --partitions 9')
    expect(grown.out, grown.said).toMatch(/epoch 3 .*\n.*has 9 partitions now/)
    expect(await rig.log.partitionCount(TOPICS.panel.name)).toBe(9)
    await rig.write(part(2), 9)
    await rig.startJob()
    await rig.applied(lastOf(2), 9)
    await rig.stopJob()
    expect((await rig.panelRows()).rows).toEqual(expectedRows([...part(0), ...part(1), ...part(2)]))
  }, 240_000)
})
