import type { BackfillPreview, DifferenceHour } from '@km0/contracts/backfill'
import { describe, expect, it } from 'vitest'
import { addressOf, backfillsPlaceOf } from './backfills-place.ts'
import { prepareDifference } from './prepare-difference.ts'
import { prepareSentences } from './prepare-preview.ts'
import { madridInstantMs, madridText, presetRange } from './prepare-range.ts'
import { trackShapes } from './prepare-track.ts'

const HOUR = 3_600_000

describe('the place on the page', () => {
  it.each([
    { kind: 'version', id: 12 } as const,
    { kind: 'preview', request: { pipeline: 'positions', fromMs: 0, toMs: HOUR, owners: ['a', 'b'] } } as const,
    { kind: 'preview', request: { pipeline: 'stock', fromMs: HOUR, toMs: 3 * HOUR, owners: null } } as const,
    { kind: 'nothing' } as const,
  ])('stands in the address: %j', (place) => {
    const query = new URL(addressOf(place), 'http://panel').searchParams
    expect(backfillsPlaceOf(Object.fromEntries(query))).toEqual(place)
  })

  it.each([
    { versio: '-1' },
    { versio: 'x' },
    { de: '0' },
    { de: '5', a: '10' },
    { de: String(HOUR), a: '0' },
    { de: ['0'], a: String(HOUR) },
  ])('%j is none', (given) => {
    expect(backfillsPlaceOf(given)).toEqual({ kind: 'nothing' })
  })
})

describe('hours by the clock of Madrid', () => {
  it('there and back, through a whole year', () => {
    const seen = new Map<string, number>()
    for (let ms = Date.UTC(2026, 0, 1); ms < Date.UTC(2027, 0, 1); ms += HOUR) {
      const text = madridText(ms)
      // Of the hour that occurs twice the first counts.
      if (!seen.has(text)) seen.set(text, ms)
      expect(madridInstantMs(text)).toBe(seen.get(text))
    }
    expect(seen.size).toBe(365 * 24 - 1)
  })

  it.each(['2026-03-29T02:00', '2026-01-01T10:30', '', '2026-13-01T00:00', 'x'])('%j is no hour', (text) => {
    expect(madridInstantMs(text)).toBeNull()
  })

  it('yesterday has 23, 24 or 25 hours; a week is seven days', () => {
    const hours = (preset: 'yesterday' | 'week', nowMs: number) => {
      const { fromMs, toMs } = presetRange(preset, nowMs)
      return (toMs - fromMs) / HOUR
    }
    expect(hours('yesterday', Date.UTC(2026, 2, 30, 10))).toBe(23)
    expect(hours('yesterday', Date.UTC(2026, 9, 26, 0))).toBe(25)
    expect(hours('yesterday', Date.UTC(2026, 6, 1, 23))).toBe(24)
    expect(hours('week', Date.UTC(2026, 2, 30, 10))).toBe(7 * 24 - 1)
  })
})

describe('what a preview says', () => {
  const preview: BackfillPreview = {
    request: { pipeline: 'positions', fromMs: 0, toMs: HOUR, owners: null },
    snapshot: 1,
    finalMs: HOUR,
    refusal: null,
    hours: 1,
    owners: 2,
    rows: 10,
    expectedMs: 5,
    late: { tard: 0, parcial: 0, owners: [] },
    refused: [],
    joined: [],
    held: [],
    version: null,
    changesNothing: false,
    says: [],
  }
  const keys = (more: Partial<BackfillPreview>) => prepareSentences({ ...preview, ...more }).map(({ key }) => key)

  it('says plainly when it would change nothing', () => {
    expect(keys({ changesNothing: true })).toEqual(['changesNothing'])
    expect(keys({})).toEqual(['nothingLate'])
  })

  it('says first why it may not be run', () => {
    expect(keys({ refusal: 'the hour is not final', changesNothing: true })).toEqual(['refused', 'changesNothing'])
  })

  it('a clock that is an hour ahead is named as the cause, with what helps', () => {
    const refused = [{ reason: 'futur', count: 312, owners: ['furgoneta-7'], aheadMs: HOUR - 1_500 }]
    const [nothing, clock, help] = prepareSentences({ ...preview, changesNothing: true, refused })
    expect(nothing?.key).toBe('changesNothing')
    expect(clock).toMatchObject({ key: 'clockAhead', kind: 'alarm', values: { count: 312, error: '1 h', owners: 'furgoneta-7', more: 0 } })
    expect(help?.key).toBe('help')
    const rollover = [{ reason: 'antic', count: 9, owners: ['a', 'b', 'c', 'd'], aheadMs: -619_315_200_000 }]
    expect(prepareSentences({ ...preview, refused: rollover })[1]).toMatchObject({
      key: 'clockBehind',
      values: { error: '7168 d', more: 1 },
    })
    expect(keys({ refused: [{ reason: 'invalid', count: 1, owners: [], aheadMs: null }] })).toEqual(['nothingLate', 'invalid'])
  })

  it('counts what it would bring in, and names the version that answers already', () => {
    const late = { tard: 3, parcial: 2, owners: [{ owner: 'a', tard: 3, parcial: 2 }] }
    expect(prepareSentences({ ...preview, late, version: 8 })).toMatchObject([
      { key: 'brings', values: { tard: 3, parcial: 2, owners: 1 } },
      { key: 'known', values: { version: 8 } },
    ])
  })
})

describe('a difference', () => {
  const hour = (owner: string, hourMs: number, kind: DifferenceHour['kind'], more: Partial<DifferenceHour> = {}): DifferenceHour => ({
    owner,
    hourMs,
    kind,
    added: 0,
    removed: 0,
    changed: 0,
    beforeMm: null,
    afterMm: null,
    ...more,
  })

  it('is by van, the one whose distance changes most first, and by hour, all kinds together', () => {
    const rows = prepareDifference({
      hours: [
        hour('a', HOUR, 'travel', { changed: 1, beforeMm: 10, afterMm: 12 }),
        hour('a', 0, 'distance', { added: 4, changed: 3 }),
        hour('b', 0, 'travel', { added: 1, beforeMm: null, afterMm: 900 }),
        hour('a', HOUR, 'session', { removed: 2, added: 1 }),
        hour('c', 0, 'session', { removed: 1 }),
      ],
    })
    expect(rows.map(({ owner }) => owner)).toEqual(['b', 'a', 'c'])
    expect(rows[0]).toMatchObject({ beforeMm: null, afterMm: 900, added: 1 })
    expect(rows[1]).toMatchObject({ added: 5, removed: 2, changed: 4, beforeMm: 10, afterMm: 12 })
    expect(rows[1]?.hours).toEqual([
      { hourMs: 0, added: 4, removed: 0, changed: 3, beforeMm: null, afterMm: null },
      { hourMs: HOUR, added: 1, removed: 2, changed: 1, beforeMm: 10, afterMm: 12 },
    ])
    expect(rows[2]).toMatchObject({ beforeMm: null, afterMm: null, removed: 1 })
  })
})

describe('an old and a new track', () => {
  const point = (eventMs: number, lon: number, lat = 42) => ({ eventMs, lon, lat, delayMs: 0 })

  it('are lines that pauses break; what only the new one has are dots; both are in view', () => {
    const before = [point(0, 2.8), point(10_000, 2.81)]
    const after = [...before, point(20_000, 2.82), point(400_000, 2.9), point(410_000, 2.91, 41.5)]
    const shapes = trackShapes({ before, after })
    expect(shapes.before.geometry.coordinates).toEqual([
      [
        [2.8, 42],
        [2.81, 42],
      ],
    ])
    expect(shapes.after.geometry.coordinates).toHaveLength(2)
    expect(shapes.late.geometry.coordinates).toEqual([
      [2.82, 42],
      [2.9, 42],
      [2.91, 41.5],
    ])
    expect(shapes.bounds).toEqual([2.8, 41.5, 2.91, 42])
  })

  it('without a point are nothing', () => {
    expect(trackShapes({ before: [], after: [] }).bounds).toBeNull()
  })
})
