import { describe, expect, it } from 'vitest'
import { TakeoverWatch } from './takeover-watch.ts'

const T0 = 1_772_442_000_000

describe('take-over watch', () => {
  it('says once that somebody else has our client id, at the third end', () => {
    const watch = new TakeoverWatch()
    const said = [0, 1, 2, 3, 4].map((n) => watch.ended({ atMs: T0 + n * 1_000, lastedMs: 300, otherStood: true }))
    expect(said).toEqual([false, false, true, false, false])
    expect(watch.suspected(T0 + 5_000)).toBe(true)
  })

  it('suspects nobody when the broker restarts: the other connection ends too', () => {
    const watch = new TakeoverWatch()
    for (let n = 0; n < 10; n += 1) watch.ended({ atMs: T0 + n * 1_000, lastedMs: 300, otherStood: false })
    expect(watch.suspected(T0 + 10_000)).toBe(false)
  })

  it('suspects nobody for connections that had lasted', () => {
    const watch = new TakeoverWatch()
    for (let n = 0; n < 10; n += 1) watch.ended({ atMs: T0 + n * 1_000, lastedMs: 121_000, otherStood: true })
    expect(watch.suspected(T0 + 10_000)).toBe(false)
  })

  it('goes by the time alone where there is no other connection', () => {
    const watch = new TakeoverWatch()
    for (let n = 0; n < 3; n += 1) watch.ended({ atMs: T0 + n * 20_000, lastedMs: 15_000, otherStood: null })
    expect(watch.suspected(T0 + 60_000)).toBe(false)
    for (let n = 0; n < 3; n += 1) watch.ended({ atMs: T0 + 60_000 + n * 1_000, lastedMs: 500, otherStood: null })
    expect(watch.suspected(T0 + 70_000)).toBe(true)
  })

  it('still finds it when both wait half a minute between attempts, and forgets it when it is over', () => {
    const watch = new TakeoverWatch()
    for (let n = 0; n < 10; n += 1) watch.ended({ atMs: T0 + n * 60_000, lastedMs: 30_000, otherStood: true })
    expect(watch.suspected(T0 + 540_000)).toBe(true)
    expect(watch.suspected(T0 + 540_000 + 600_000)).toBe(false)
  })
})
