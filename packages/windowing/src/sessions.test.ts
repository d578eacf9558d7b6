import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addToSessions, closeSessions, type Session, sessionDueMs } from './sessions.ts'

const GAP = 180

describe('sessions', () => {
  it('join at exactly the gap on both sides', () => {
    const open: Session[] = []
    expect(addToSessions(open, 1000, GAP, -Infinity)).toBe('opened')
    expect(addToSessions(open, 1180, GAP, -Infinity)).toBe('joined')
    expect(addToSessions(open, 820, GAP, -Infinity)).toBe('joined')
    expect(addToSessions(open, 639, GAP, -Infinity)).toBe('opened')
    expect(open.map(({ startMs, lastMs, count }) => [startMs, lastMs, count])).toEqual([
      [820, 1180, 3],
      [639, 639, 1],
    ])
  })

  it('become one when a point joins two', () => {
    const open: Session[] = []
    for (const atMs of [0, 360, 180]) addToSessions(open, atMs, GAP, -Infinity)
    expect(open).toEqual([{ startMs: 0, lastMs: 360, count: 3 }])
  })

  it('leave out a point that could only open one already closed', () => {
    expect(addToSessions([], 0, GAP, 180)).toBe('opened')
    expect(addToSessions([], 0, GAP, 181)).toBe('left-out')
  })

  it('are due one millisecond after the gap, and close in order of their last point', () => {
    const open: Session[] = [
      { startMs: 500, lastMs: 500, count: 1 },
      { startMs: 0, lastMs: 10, count: 2 },
      { startMs: 900, lastMs: 900, count: 1 },
    ]
    expect(sessionDueMs(open[1]!, GAP)).toBe(191)
    expect(closeSessions(open, GAP, 190)).toEqual([])
    expect(closeSessions(open, GAP, 681).map(({ lastMs }) => lastMs)).toEqual([10, 500])
    expect(open.map(({ lastMs }) => lastMs)).toEqual([900])
  })

  it('are the runs of the sorted points, in whatever order these come', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(5000), { minLength: 1 }), (times) => {
        const open: Session[] = []
        for (const atMs of times) addToSessions(open, atMs, GAP, -Infinity)
        const runs: Session[] = []
        for (const atMs of [...times].sort((a, b) => a - b)) {
          const last = runs.at(-1)
          if (last === undefined || atMs - last.lastMs > GAP) runs.push({ startMs: atMs, lastMs: atMs, count: 1 })
          else Object.assign(last, { lastMs: atMs, count: last.count + 1 })
        }
        expect(open.sort((a, b) => a.startMs - b.startMs)).toEqual(runs)
      }),
    )
  })
})
