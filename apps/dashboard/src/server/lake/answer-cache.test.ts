import { describe, expect, it } from 'vitest'
import { AnswerCache } from './answer-cache.ts'

const bytes = (size: number) => new Uint8Array(size)
const never = () => new AbortController().signal
/** Answers that a test gives when it likes. */
function answers() {
  const made: { resolve: (bytes: Uint8Array<ArrayBuffer>) => void; reject: (error: Error) => void; signal: AbortSignal }[] = []
  const make = (signal: AbortSignal) => new Promise<Uint8Array<ArrayBuffer>>((resolve, reject) => made.push({ resolve, reject, signal }))
  return { made, make }
}

describe('the memory of answers', () => {
  it('gives an answer again while it is fresh, and asks anew after that', async () => {
    let now = 0
    const cache = new AnswerCache(() => now)
    let asked = 0
    const get = () =>
      cache.get('hour', 60_000, never(), async () => {
        asked += 1
        return bytes(asked)
      })
    expect([(await get()).length, (await get()).length]).toEqual([1, 1])
    now = 59_999
    expect((await get()).length).toBe(1)
    now = 60_000
    expect((await get()).length).toBe(2)
  })

  it('asks once for several who wait, and gives up when the last of them has gone', async () => {
    const { made, make } = answers()
    const cache = new AnswerCache()
    const [first, second] = [new AbortController(), new AbortController()]
    const one = cache.get('hour', 60_000, first.signal, make)
    const two = cache.get('hour', 60_000, second.signal, make)
    first.abort()
    await expect(one).rejects.toThrow('nobody waits')
    expect([made.length, made[0]?.signal.aborted]).toEqual([1, false])
    made[0]?.resolve(bytes(3))
    expect((await two).length).toBe(3)

    const third = new AbortController()
    const lost = cache.get('other', 60_000, third.signal, make)
    third.abort()
    await expect(lost).rejects.toThrow('nobody waits')
    expect(made[1]?.signal.aborted).toBe(true)
    // Whoever asks now begins anew, though the old one has not ended.
    const again = cache.get('other', 60_000, never(), make)
    made[2]?.resolve(bytes(5))
    expect((await again).length).toBe(5)
  })

  it('keeps no failure, and forgets the least recently used', async () => {
    const cache = new AnswerCache(() => 0, 10)
    await expect(cache.get('a', 1, never(), () => Promise.reject(new Error('away')))).rejects.toThrow('away')
    let asked = 0
    const get = (key: string) =>
      cache.get(key, 60_000, never(), async () => {
        asked += 1
        return bytes(4)
      })
    for (const key of ['a', 'b', 'a', 'c']) await get(key)
    expect(asked).toBe(3)
    await get('a')
    expect(asked).toBe(3)
    await get('b')
    expect(asked).toBe(4)
  })
})
