import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextWindowEndMs, paneIndexAtOrBefore, paneStartMs, windowEnds, windowShape, windowsEndedBy, windowsPerPoint } from './windows.ts'

const shape = windowShape(300, 60)
const shapes = fc.tuple(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 8 })).map(([slide, n]) => windowShape(slide * n, slide))

/** Ends of all windows that hold a pane, by the definition: `[s, s + size)` for every multiple s of the slide. */
const endsOf = (paneMs: number, { sizeMs, slideMs } = shape) =>
  Array.from({ length: sizeMs / slideMs }, (_, i) => paneMs + (i + 1) * slideMs)

describe('windows', () => {
  it('round down below zero too', () => {
    expect(paneStartMs(shape, -1)).toBe(-60)
    expect(paneStartMs(shape, 59)).toBe(0)
    expect(paneStartMs(shape, 60)).toBe(60)
    expect(windowsPerPoint(shape)).toBe(5)
  })

  it('are whole numbers of slides', () => {
    for (const [size, slide] of [
      [300, 70],
      [60, 300],
      [0, 0],
      [300, -60],
      [1.5, 0.5],
      [Number.NaN, 1],
    ] as const) {
      expect(() => windowShape(size, slide)).toThrow(RangeError)
    }
    expect(windowShape(60, 60)).toEqual({ sizeMs: 60, slideMs: 60 })
  })

  it('that have ended by a mark are counted as the definition counts them', () => {
    fc.assert(
      fc.property(shapes, fc.integer({ min: -50, max: 50 }), fc.integer({ min: -500, max: 500 }), (one, pane, markMs) => {
        const paneMs = pane * one.slideMs
        const ends = endsOf(paneMs, one)
        expect(windowsEndedBy(one, paneMs, markMs)).toBe(ends.filter((endMs) => endMs <= markMs).length)
        expect(nextWindowEndMs(one, paneMs, markMs)).toBe(ends.find((endMs) => endMs > markMs) ?? Infinity)
      }),
    )
    expect(windowsEndedBy(shape, 0, -Infinity)).toBe(0)
    expect(windowsEndedBy(shape, 0, Infinity)).toBe(5)
  })

  it('of several panes come once each, in order, and only those that hold a pane', () => {
    fc.assert(
      fc.property(
        shapes,
        fc.uniqueArray(fc.integer({ min: -30, max: 30 })),
        fc.integer({ min: -400, max: 400 }),
        fc.nat(800),
        (one, starts, afterMs, span) => {
          const panes = starts.sort((a, b) => a - b).map((start) => ({ startMs: start * one.slideMs }))
          const all = [...new Set(panes.flatMap(({ startMs }) => endsOf(startMs, one)))].sort((a, b) => a - b)
          const upToMs = afterMs + span
          expect(windowEnds(one, panes, afterMs, upToMs)).toEqual(all.filter((endMs) => endMs > afterMs && endMs <= upToMs))
          expect(windowEnds(one, panes, -Infinity, Infinity)).toEqual(all)
        },
      ),
    )
  })

  it('skip a gap of years without walking through it', () => {
    const panes = [{ startMs: 0 }, { startMs: 60 * 1e9 }]
    expect(windowEnds(shape, panes, -Infinity, Infinity)).toHaveLength(10)
  })

  it('find the pane at or before', () => {
    const panes = [0, 60, 180].map((startMs) => ({ startMs }))
    expect([-60, 0, 60, 120, 180, 900].map((startMs) => paneIndexAtOrBefore(panes, startMs))).toEqual([-1, 0, 1, 1, 2, 2])
  })
})
