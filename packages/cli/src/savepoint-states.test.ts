import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSavepoint, openObjects } from '@km0/checkpoints'
import { createPositions } from '@km0/pipelines/engine/index'
import { afterEach, expect, it, vi } from 'vitest'
import { savepointStates } from './savepoint-states.ts'

const folder = mkdtempSync(join(tmpdir(), 'km0-states-'))
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

it('writes the state of each partition with its offset, and what Kafka Streams is started with', async () => {
  const engine = createPositions(0, 1, null, null, () => undefined)
  const value = '{"repartidor":"a","lat":41.9,"lon":2.8,"data_ms":1789380000000}'
  engine.onRecord(0, 1_789_380_000_000, value, value.length, true)
  const checkpoint = { pipeline: 'positions', epoch: 3, partition: 0, offset: 1, snapshot: engine.snapshot() }
  const place = join(folder, 'checkpoints')
  const about = { name: 'moving', pipeline: 'positions', createdAtMs: 1, clusterId: 'c', topic: 't', topicEpoch: 1, epoch: 3, version: 3 }
  await createSavepoint(openObjects({ KM0_CHECKPOINTS: place } as Parameters<typeof openObjects>[0], place), {
    ...about,
    stateVersion: 1,
    settings: { slideMs: 30_000 },
    checkpoints: new Map([
      [0, checkpoint],
      [1, null],
    ]),
  })
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const states = join(folder, 'states')
  expect(await savepointStates.run(['moving', states, '--checkpoints', place])).toBe(0)
  expect(said).toHaveBeenCalledWith(`KM0_ENGINE_SEED=${states} KM0_ENGINE_EPOCH=3 KM0_ENGINE_POSITIONS='{"slideMs":30000}'\n`)
  expect(readFileSync(join(states, '0.state'), 'utf8')).toBe(`1\n${checkpoint.snapshot}`)
  // A partition without a record begins empty.
  expect(readFileSync(join(states, '1.state'), 'utf8')).toBe('')
  const restored = createPositions(0, 3, null, null, () => undefined)
  restored.restore(readFileSync(join(states, '0.state'), 'utf8').slice(2), 1)
  expect(restored.snapshot()).toBe(checkpoint.snapshot)
})

it('says what is wrong', async () => {
  await expect(savepointStates.run(['moving'])).rejects.toThrow('km0 savepoint states NAME FOLDER')
  const absent = ['moving', join(folder, 'states'), '--checkpoints', join(folder, 'none')]
  await expect(savepointStates.run(absent)).rejects.toThrow('there is no savepoint moving of positions')
})
