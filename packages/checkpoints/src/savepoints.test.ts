import { mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDirectoryObjects } from './directory-objects.ts'
import type { ObjectStore } from './objects.ts'
import { createSavepoint, deleteSavepoint, listSavepoints, type NewSavepoint, readSavepoint, SavepointError } from './savepoints.ts'

let directory: string
let objects: ObjectStore
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'km0-savepoints-'))
  objects = openDirectoryObjects(directory)
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const checkpoint = (partition: number, offset: number) => ({
  pipeline: 'positions',
  partition,
  offset,
  epoch: 4,
  snapshot: `{"é":${offset}}`,
})
const wanted = (name: string): NewSavepoint => ({
  name,
  pipeline: 'positions',
  createdAtMs: 1_789_380_000_000,
  clusterId: 'one',
  topic: 'a topic',
  topicEpoch: 1,
  epoch: 4,
  version: 2,
  stateVersion: 2,
  settings: { windowSizeMs: 300_000 },
  checkpoints: new Map([
    [1, checkpoint(1, 70)],
    [0, checkpoint(0, 50)],
    [2, null],
  ]),
})
const folder = (name: string) => join(directory, 'savepoints', 'positions', name)
const files = async (name: string) => readdir(folder(name), { recursive: true }).catch(() => [])

describe('savepoints', () => {
  it('come back as they were stored, and are listed', async () => {
    const made = await createSavepoint(objects, wanted('before-christmas'))
    const { savepoint, checkpoints } = await readSavepoint(objects, 'positions', 'before-christmas')
    expect(savepoint).toEqual(made)
    expect([...checkpoints]).toEqual([
      [0, checkpoint(0, 50)],
      [1, checkpoint(1, 70)],
      [2, null],
    ])
    expect(await listSavepoints(objects)).toEqual({ savepoints: [made], damaged: [] })
  })

  it('have a name of their own: of several at once one is made, whole', async () => {
    const tried = await Promise.allSettled(
      [1, 2, 3, 4].map((n) => createSavepoint(objects, { ...wanted('n'), checkpoints: new Map([[0, checkpoint(0, n)]]) })),
    )
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const one of tried)
      if (one.status === 'rejected') expect(one.reason.message).toMatch(/there is a savepoint n of positions already/)
    const { checkpoints } = await readSavepoint(objects, 'positions', 'n')
    expect(checkpoints.get(0)?.snapshot).toMatch(/é/)
    expect((await files('n')).filter((name) => name.endsWith('.checkpoint'))).toHaveLength(1)
  })

  it('are gone when deleted', async () => {
    await createSavepoint(objects, wanted('a'))
    await createSavepoint(objects, wanted('ab'))
    expect(await deleteSavepoint(objects, 'positions', 'a')).toBe(true)
    expect(await deleteSavepoint(objects, 'positions', 'a')).toBe(false)
    expect((await listSavepoints(objects)).savepoints.map(({ name }) => name)).toEqual(['ab'])
    expect((await files('a')).filter((name) => name.includes('.'))).toEqual([])
    await expect(readSavepoint(objects, 'positions', 'a')).rejects.toThrow(/there is no savepoint a of positions/)
  })

  it('are used whole or not at all', async () => {
    const { states } = await createSavepoint(objects, wanted('a'))
    const state = join(folder('a'), states, 'partition-1.checkpoint')
    await truncate(state, 40)
    await expect(readSavepoint(objects, 'positions', 'a')).rejects.toThrow(/is damaged: .*partition-1.*checksum differs/)
    await rm(state)
    await expect(readSavepoint(objects, 'positions', 'a')).rejects.toThrow(/is not whole: .*partition-1/)
    await writeFile(join(folder('a'), 'savepoint.json'), '{"format":9}')
    await expect(readSavepoint(objects, 'positions', 'a')).rejects.toThrow(/savepoint\.json .* is damaged/)
    expect((await listSavepoints(objects)).damaged).toEqual(['savepoints/positions/a/savepoint.json'])
  })

  it.each(['', '../up', 'a/b', '.hidden', 'é', 'x'.repeat(65)])('are not called "%s"', async (name) => {
    await expect(createSavepoint(objects, wanted(name))).rejects.toThrow(SavepointError)
    await expect(deleteSavepoint(objects, 'positions', name)).rejects.toThrow(SavepointError)
  })
})
