import { mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openCheckpointStore } from './checkpoint-store.ts'
import { openDirectoryObjects } from './directory-objects.ts'
import type { CheckpointStore } from './store.ts'

let directory: string
let store: CheckpointStore
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'km0-checkpoints-'))
  store = openCheckpointStore({ objects: openDirectoryObjects(directory), keep: 3 })
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const at = (offset: number, partition = 0, epoch = 1) => ({
  pipeline: 'positions',
  partition,
  offset,
  epoch,
  snapshot: JSON.stringify({ offset, van: 'furgoneta-ç🚚' }),
})
const file = (offset: number) => join(directory, 'positions', 'epoch-1', 'partition-0', `${String(offset).padStart(16, '0')}.checkpoint`)
const newest = async (offset: number) => (await store.newestAtOrBelow('positions', 1, 0, offset)).checkpoint?.offset ?? null

describe('checkpoints in a directory', () => {
  it('gives back what was put, the newest at or below an offset', async () => {
    await store.put(at(10))
    await store.put(at(20))
    expect((await store.newestAtOrBelow('positions', 1, 0, 25)).checkpoint).toEqual(at(20))
    expect(await newest(20)).toBe(20)
    expect(await newest(19)).toBe(10)
    expect(await newest(9)).toBeNull()
  })

  it('takes a snapshot line by line, packed, while the program goes on with other work', async () => {
    const line = (number: number) => JSON.stringify({ operator: 'live', van: `furgoneta-${number}`, points: [number, 41.98, 2.82] })
    const count = 20_000
    let turns = 0
    const turning = setInterval(() => {
      turns += 1
    }, 0)
    function* lines() {
      for (let number = 0; number < count; number += 1) yield line(number)
    }
    const { snapshot: _snapshot, ...place } = at(10)
    const bytes = await store.put({ ...place, lines: lines() })
    clearInterval(turning)
    const { checkpoint } = await store.newestAtOrBelow('positions', 1, 0, 10)
    const whole = Array.from({ length: count }, (_, number) => line(number)).join('\n')
    expect(checkpoint?.snapshot === whole).toBe(true)
    expect(bytes).toBeLessThan(whole.length / 3)
    expect(turns).toBeGreaterThan(0)
    await truncate(file(10), bytes - 1)
    expect((await store.newestAtOrBelow('positions', 1, 0, 10)).damaged).toHaveLength(1)
  })

  it('is not there at all when a line cannot be made', async () => {
    const { snapshot: _snapshot, ...place } = at(10)
    function* lines() {
      yield 'one'
      throw new RangeError('no')
    }
    await expect(store.put({ ...place, lines: lines() })).rejects.toThrow('no')
    expect(await newest(10)).toBeNull()
  })

  it('keeps partitions, epochs and pipelines apart', async () => {
    await store.put(at(10))
    await store.put(at(30, 1))
    await store.put(at(40, 0, 2))
    expect(await newest(100)).toBe(10)
    expect((await store.newestAtOrBelow('stock', 1, 0, 100)).checkpoint).toBeNull()
    expect((await store.list('positions')).map(({ epoch, partition, offset }) => [epoch, partition, offset])).toEqual([
      [1, 0, 10],
      [1, 1, 30],
      [2, 0, 40],
    ])
  })

  it('keeps the newest few, those above included', async () => {
    for (const offset of [1, 2, 3, 4, 5]) await store.put(at(offset))
    expect((await store.list('positions')).map((entry) => entry.offset)).toEqual([3, 4, 5])
    await store.put(at(4))
    expect((await store.list('positions')).map((entry) => entry.offset)).toEqual([3, 4, 5])
  })

  it.each([
    ['cut short', (name: string) => truncate(name, 150)],
    ['empty', (name: string) => truncate(name, 0)],
    ['zeroed', (name: string) => writeFile(name, Buffer.alloc(300))],
    [
      'with one bit turned',
      async (name: string) => {
        const bytes = await readFile(name)
        bytes[bytes.length - 2] = (bytes[bytes.length - 2] ?? 0) ^ 1
        await writeFile(name, bytes)
      },
    ],
    ['of another offset', async (name: string) => writeFile(name, await readFile(file(10)))],
  ])('falls back to the one before when the newest is %s, and says so', async (_what, damage) => {
    await store.put(at(10))
    await store.put(at(20))
    await damage(file(20))
    const found = await store.newestAtOrBelow('positions', 1, 0, 99)
    expect(found.checkpoint).toEqual(at(10))
    expect(found.damaged.map(({ entry }) => entry.offset)).toEqual([20])
    expect(found.damaged[0]?.reason).not.toBe('')
  })

  it('ignores what a crash left behind and leaves nothing itself', async () => {
    await store.put(at(10))
    const folder = join(directory, 'positions', 'epoch-1', 'partition-0')
    expect(await readdir(folder)).toEqual(['0000000000000010.checkpoint'])
    await writeFile(join(folder, '.1234.part'), 'half')
    expect(await newest(99)).toBe(10)
  })

  it('replaces a checkpoint of the same offset and takes a deleted one as gone', async () => {
    await store.put(at(10))
    await store.put({ ...at(10), snapshot: 'other' })
    expect((await store.newestAtOrBelow('positions', 1, 0, 10)).checkpoint?.snapshot).toBe('other')
    const [entry] = await store.list('positions')
    if (entry === undefined) throw new Error('nothing listed')
    await store.delete(entry)
    await store.delete(entry)
    expect(await newest(99)).toBeNull()
  })

  it('removes those of past epochs that are old, and nothing else', async () => {
    const [oldMs, limitMs] = [Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2)]
    const places = [at(10, 0, 1), at(10, 1, 1), at(20, 0, 2), at(30, 0, 3), { ...at(5, 0, 1), pipeline: 'stock-windows' }]
    for (const place of places) await store.put(place)
    const folder = (epoch: number, partition = 0) => join(directory, 'positions', `epoch-${epoch}`, `partition-${partition}`)
    // Of epoch 1 one is old and one is not; those of the epoch in force and of a restore that has not ended are old and stay.
    for (const [name, offset] of [
      [folder(1), 10],
      [folder(2), 20],
      [folder(3), 30],
    ] as const) {
      await utimes(join(name, `${String(offset).padStart(16, '0')}.checkpoint`), oldMs / 1000, oldMs / 1000)
    }
    expect(await store.removePast('positions', 2, limitMs)).toBe(1)
    expect((await store.list('positions')).map(({ epoch, partition }) => [epoch, partition])).toEqual([
      [1, 1],
      [2, 0],
      [3, 0],
    ])
    expect(await store.list('stock-windows')).toHaveLength(1)
    expect(await store.removePast('positions', 3, limitMs)).toBe(1)
  })

  it('wants to keep at least two', () => {
    expect(() => openCheckpointStore({ objects: openDirectoryObjects(directory), keep: 1 })).toThrow(/at least 2/)
  })
})
