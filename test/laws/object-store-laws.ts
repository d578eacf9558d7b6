import { openCheckpointStore } from '@km0/checkpoints'
import type { ObjectStore } from '@km0/checkpoints/objects'
import { describe, expect, it } from 'vitest'

const bytes = (text: string) => Buffer.from(text, 'utf8')

/** What every place of checkpoints must do. `open` gives an empty one each time. */
export function objectStoreLaws(name: string, open: () => Promise<ObjectStore>): void {
  describe(`checkpoints in ${name}`, () => {
    it('gives back the bytes that were written, the newest ones, and null for none', async () => {
      const objects = await open()
      expect(await objects.read('a/b')).toBeNull()
      const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
      await objects.write('a/b', all)
      expect(await objects.read('a/b')).toEqual(all)
      await objects.write('a/b', bytes(''))
      expect(await objects.read('a/b')).toEqual(bytes(''))
      const large = Buffer.alloc(12_000_000, 'état')
      await objects.write('a/large', large)
      expect((await objects.read('a/large'))?.equals(large)).toBe(true)
    })

    it('lists what is below a prefix by key, however many there are', async () => {
      const objects = await open()
      const keys = Array.from({ length: 1_100 }, (_, n) => `many/${String(n).padStart(6, '0')}`)
      for (let at = 0; at < keys.length; at += 50) {
        await Promise.all(keys.slice(at, at + 50).map((key) => objects.write(key, bytes('xy'))))
      }
      await objects.write('many-more/1', bytes('no'))
      expect((await objects.list('many/')).map(({ key, bytes }) => ({ key, bytes }))).toEqual(keys.map((key) => ({ key, bytes: 2 })))
      expect(await objects.list('none/')).toEqual([])
    })

    it('tells when an object was written last', async () => {
      const objects = await open()
      // The place may count whole seconds.
      const fromMs = Date.now() - 1_000
      await objects.write('a/b', bytes('x'))
      const [found] = await objects.list('a/')
      expect(found?.modifiedMs).toBeGreaterThanOrEqual(fromMs)
      expect(found?.modifiedMs).toBeLessThanOrEqual(Date.now() + 1_000)
    })

    it('removes, once or twice', async () => {
      const objects = await open()
      await objects.write('a/b', bytes('x'))
      await objects.remove('a/b')
      await objects.remove('a/b')
      expect([await objects.read('a/b'), await objects.list('a/')]).toEqual([null, []])
    })

    it('creates a key for one of those who try at once, and leaves it as that one wrote it', async () => {
      const objects = await open()
      for (let round = 0; round < 5; round += 1) {
        const key = `claims/${round}`
        const won = await Promise.all(Array.from({ length: 12 }, (_, n) => objects.create(key, bytes(`by ${n}`))))
        expect(won.filter(Boolean)).toHaveLength(1)
        expect(await objects.read(key)).toEqual(bytes(`by ${won.indexOf(true)}`))
        expect(await objects.create(key, bytes('late'))).toBe(false)
      }
      expect(await objects.list('claims/')).toHaveLength(5)
    })

    it('falls back to the checkpoint before when the newest is damaged or gone, and says so', async () => {
      const objects = await open()
      const store = openCheckpointStore({ objects, keep: 3 })
      const at = (offset: number) => ({ pipeline: 'positions', partition: 2, offset, epoch: 1, snapshot: `{"at":${offset},"van":"ç🚚"}` })
      for (const offset of [10, 20, 30, 40]) await store.put(at(offset))
      const keys = (await objects.list('positions/')).map(({ key }) => key)
      expect(keys).toHaveLength(3)
      expect(await store.newestAtOrBelow('positions', 1, 2, 35)).toEqual({ checkpoint: at(30), damaged: [] })
      const newest = keys.at(-1) ?? ''
      await objects.write(newest, (await objects.read(newest))?.subarray(0, 100) ?? bytes(''))
      const found = await store.newestAtOrBelow('positions', 1, 2, 99)
      expect(found.checkpoint).toEqual(at(30))
      expect(found.damaged).toMatchObject([{ entry: { offset: 40 }, reason: expect.stringMatching(/./) }])
      await objects.remove(newest)
      expect(await store.newestAtOrBelow('positions', 1, 2, 99)).toEqual({ checkpoint: at(30), damaged: [] })
    })
  })
}
