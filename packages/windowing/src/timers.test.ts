import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareDue, compareText } from './due.ts'
import { RevisionLedger } from './revisions.ts'
import { TimerQueue } from './timers.ts'

describe('TimerQueue', () => {
  it('gives owners by instant', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.integer(), fc.constant(null)), { maxLength: 60 }), (acts) => {
        const queue = new TimerQueue<number>()
        const model: number[] = []
        for (const atMs of acts) {
          if (atMs === null) {
            const least = model.length === 0 ? Infinity : Math.min(...model)
            expect(queue.nextMs).toBe(least)
            expect(queue.isDue(least - 1)).toBe(false)
            if (model.length === 0) continue
            expect(queue.isDue(least)).toBe(true)
            expect(queue.pop()).toBe(least)
            model.splice(model.indexOf(least), 1)
          } else {
            queue.schedule(atMs, atMs)
            model.push(atMs)
          }
        }
        expect(model.sort((a, b) => a - b).map(() => queue.pop())).toEqual(model)
      }),
    )
  })

  it('has nothing due when it is empty, not even at the end of time', () => {
    const queue = new TimerQueue<string>()
    expect(queue.isDue(Infinity)).toBe(false)
    expect(() => queue.pop()).toThrow(/no timer/)
  })
})

describe('order of emission', () => {
  it('is by instant, owner in code units, rank', () => {
    const due = [
      { atMs: 2, owner: 'a', rank: 0 },
      { atMs: 1, owner: '\uffee', rank: 0 },
      { atMs: 1, owner: '\u{1f69a}', rank: 1 },
      { atMs: 1, owner: '\u{1f69a}', rank: 0 },
    ]
    expect(due.sort(compareDue).map(({ owner, rank }) => `${owner}${rank}`)).toEqual(['\u{1f69a}0', '\u{1f69a}1', '\uffee0', 'a0'])
    expect(['\uffee', 'b', '\u{1f69a}', 'a', 'a'].sort(compareText)).toEqual(['a', 'a', 'b', '\u{1f69a}', '\uffee'])
  })
})

describe('RevisionLedger', () => {
  it('numbers rows, and is silent about the same row again', () => {
    const ledger = new RevisionLedger<number>((a, b) => a === b)
    expect([ledger.emit(60, 1), ledger.emit(60, 1), ledger.emit(60, 2), ledger.emit(120, 2), ledger.emit(60, 1)]).toEqual([0, -1, 1, 0, 2])
    expect(ledger.after(60)).toEqual([{ endMs: 120, count: 1, last: 2 }])
    const other = new RevisionLedger<number>((a, b) => a === b)
    other.restore(ledger.after(0))
    expect(other.emit(60, 5)).toBe(3)
    ledger.forget(60)
    expect(ledger.emit(60, 9)).toBe(0)
  })
})
