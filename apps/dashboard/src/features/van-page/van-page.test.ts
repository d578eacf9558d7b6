import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts/host'
import type { PartitionProgress, VanDayRules } from '@km0/contracts/van-day-panel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dayOfName } from '../playback/instants.ts'
import { extended, lastAt, placeAt, type Track } from '../playback/track-columns.ts'
import { prepareClock } from './prepare-clock.ts'
import { preparePoints } from './prepare-points.ts'
import { prepareTimeline } from './prepare-timeline.ts'
import { whyNotYet } from './prepare-why.ts'
import { prepareWindows } from './prepare-windows.ts'
import { addressOfVanPage, vanPagePlaceOf } from './van-page-place.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const RULES: VanDayRules = { ...DEFAULT_POSITIONS_SETTINGS, outageAfterMs: MINUTE }
const DAY = dayOfName('2026-11-24')!

/** Points `[ms, lat, delayMs]`; a thousandth of a degree of latitude is 111 m. */
function trackOf(points: readonly (readonly [ms: number, lat?: number, delayMs?: number])[]): Track {
  return {
    count: points.length,
    eventMs: Float64Array.from(points, ([ms]) => ms),
    lat: Float64Array.from(points, ([, lat = 41.98]) => lat),
    lon: new Float64Array(points.length).fill(2.82),
    delayMs: Float64Array.from(points, ([, , delay = Number.NaN]) => delay),
  }
}
const every = (stepMs: number, fromMs: number, toMs: number, latOf: (ms: number) => number = () => 41.98) =>
  Array.from({ length: Math.ceil((toMs - fromMs) / stepMs) }, (_, n) => [fromMs + n * stepMs, latOf(fromMs + n * stepMs)] as const)

describe('the timeline of a day', () => {
  const timeline = (track: Track, nowMs = DAY.endMs, day = DAY) =>
    prepareTimeline(track, { fromMs: day.startMs, toMs: day.endMs, nowMs, rules: RULES, outages: [] })
  const at = (hour: number) => DAY.startMs + hour * HOUR

  it('is silent, moves, stands, and is silent', () => {
    const drive = every(10 * SECOND, at(8), at(9), (ms) => 41.98 + (ms - at(8)) / HOUR / 4)
    const stand = every(10 * SECOND, at(9), at(10), () => 42.23)
    const { spans, totalMs } = timeline(trackOf([...drive, ...stand]))
    expect(spans.map(({ kind }) => kind)).toEqual(['silent', 'moving', 'stopped', 'silent'])
    expect(spans[1]?.fromMs).toBe(at(8))
    // The last point before it stands is as near to what comes as those after it.
    expect(Math.abs((spans[1]?.toMs ?? 0) - at(9))).toBeLessThan(30 * SECOND)
    expect(totalMs.silent).toBe(22 * HOUR + 10 * SECOND)
  })

  it('has a silence only where nothing came for longer than the gap of sessions', () => {
    const points = [
      ...every(10 * SECOND, at(8), at(9)),
      ...every(10 * SECOND, at(9) + 170 * SECOND, at(10)),
      [at(10) + 171 * SECOND] as const,
    ]
    const { spans } = timeline(trackOf(points))
    // 180 s lie between the two stretches; 181 s between the second and the last point.
    expect(spans.map(({ kind }) => kind)).toEqual(['silent', 'stopped', 'silent'])
    expect(spans[1]).toMatchObject({ fromMs: at(8), toMs: at(10) - 10 * SECOND })
  })

  it.each([
    ['2026-03-29', 23],
    ['2026-10-25', 25],
  ])('%s is %i hours long, side by side from its beginning to its end (property)', (name, hours) => {
    const day = dayOfName(name)!
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: hours * 360 - 1 }), { maxLength: 40 }),
        fc.nat({ max: hours * 360 }),
        (slots, now) => {
          const points = slots.sort((a, b) => a - b).map((slot) => [day.startMs + slot * 10 * SECOND, 41 + (slot % 7) / 1_000] as const)
          const nowMs = day.startMs + now * 10 * SECOND
          const { spans } = timeline(trackOf(points.filter(([ms]) => ms <= nowMs)), nowMs, day)
          const end = Math.min(nowMs, day.endMs)
          expect(spans.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)).toBe(end - day.startMs)
          for (const [index, span] of spans.entries()) {
            expect(span.fromMs).toBe(index === 0 ? day.startMs : spans[index - 1]?.toMs)
            expect(span.kind).not.toBe(spans[index - 1]?.kind)
          }
        },
      ),
    )
  })

  it('does not call a van silent that has just been heard, and marks our outages within the day', () => {
    const track = trackOf(every(10 * SECOND, at(8), at(9)))
    expect(timeline(track, at(9) + 2 * MINUTE).spans.at(-1)?.kind).toBe('stopped')
    expect(timeline(track, at(9) + 4 * MINUTE).spans.at(-1)?.kind).toBe('silent')
    const outage = { partition: 0, fromMs: DAY.startMs - HOUR, toMs: at(1), cause: 'kafka' as const }
    const input = { fromMs: DAY.startMs, toMs: DAY.endMs, nowMs: at(9), rules: RULES, outages: [outage] }
    expect(prepareTimeline(track, input).outages).toEqual([{ fromMs: DAY.startMs, toMs: at(1), cause: 'kafka' }])
  })
})

describe('where it was', () => {
  const track = trackOf([
    [0, 41],
    [100 * SECOND, 42],
    [600 * SECOND, 43],
  ])
  it('lies between two points, and stays where nothing came', () => {
    expect(placeAt(track, 50 * SECOND, 3 * MINUTE)).toMatchObject({ lat: 41.5, ageMs: 50 * SECOND, headingDegrees: 0 })
    expect(placeAt(track, 300 * SECOND, 3 * MINUTE)).toMatchObject({ lat: 42, ageMs: 200 * SECOND, headingDegrees: null })
    expect(placeAt(track, -1, 3 * MINUTE)).toBeNull()
    expect(placeAt(track, 9e9, 3 * MINUTE)).toMatchObject({ lat: 43 })
  })
  it('is found as a search from the start finds it (property)', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000)), fc.nat(1_000), (times, atMs) => {
        const sorted = Float64Array.from(times).sort()
        expect(lastAt(sorted, atMs)).toBe(sorted.findLastIndex((ms) => ms <= atMs))
      }),
    )
  })
  it('goes on with what is heard, each point once', () => {
    const more = extended(track, [
      [2, 41, 600 * SECOND],
      [2, 44, 610 * SECOND],
    ])
    expect([more.count, more.eventMs.at(-1), more.lat.at(-1)]).toEqual([4, 610 * SECOND, 44])
    expect(extended(more, [])).toBe(more)
  })
})

describe('windows', () => {
  const END = DAY.startMs + 10 * HOUR
  const closed = (endMs: number) => ({
    startMs: endMs - 5 * MINUTE,
    endMs,
    distanceMm: 2e6,
    positions: 9,
    jumps: 0,
    displacementMm: 0,
    revision: 0,
    version: null,
  })
  const view = (watermarkMs: number | null, nowMs: number, day = DAY) => ({
    day,
    nowMs,
    rules: RULES,
    windows: [closed(END), closed(END + MINUTE)],
    progress: { ...PROGRESS, feed: { ...PROGRESS.feed, watermarkMs } },
  })

  it('are a gap where there is no row, and open where the watermark has not been', () => {
    const watermark = END + 90 * SECOND
    const now = watermark + 45 * SECOND
    const track = trackOf(every(10 * SECOND, END, now, (ms) => 41.98 + (ms - END) / HOUR / 4))
    const series = prepareWindows(view(watermark, now), track)
    const index = series.endMs.indexOf(END)
    expect(series.closed.slice(index - 1, index + 3)).toEqual([null, 2, 2, null])
    // Ends at +2 to +7 minutes: begun, with points, not closed.
    expect(series.openWindows.map(({ endMs }) => (endMs - END) / MINUTE)).toEqual([2, 3, 4, 5, 6, 7])
    expect(series.open[index + 2]).toBeGreaterThan(0)
    expect(series.open.slice(0, index + 2).every((km) => km === null)).toBe(true)
  })

  it('without a point are not open, they are nothing', () => {
    const series = prepareWindows(view(END + 90 * SECOND, END + 3 * MINUTE), trackOf([]))
    expect(series.openWindows).toEqual([])
    expect(series.open.every((km) => km === null)).toBe(true)
  })

  it.each([
    ['2026-03-29', 23 * 60],
    ['2026-10-25', 25 * 60],
  ])('of %s are %i', (name, count) => {
    const day = dayOfName(name)!
    expect(prepareWindows({ ...view(day.endMs + HOUR, day.endMs + HOUR, day), windows: [] }, trackOf([])).endMs).toHaveLength(count)
  })

  it('leave out a jump and a pause, as closed ones do', () => {
    const now = END + 4 * MINUTE
    const track = trackOf([[END], [END + 10 * SECOND, 41.981], [END + 20 * SECOND, 42.5], [END + 210 * SECOND, 42.51]])
    const open = prepareWindows(view(END + MINUTE, now), track).openWindows.find(({ endMs }) => endMs === END + 5 * MINUTE)
    expect(open).toMatchObject({ positions: 4, jumps: 1 })
    expect(Math.round((open?.distanceMm ?? 0) / 1_000)).toBe(111)
  })
})

const PROGRESS: PartitionProgress = {
  feed: { partition: 2, watermarkMs: 0, progressMs: 0, newestHeartbeatMs: 0, newestRecordMs: 0 },
  behindRecords: 0,
  newestVans: [],
}

describe('why not yet?', () => {
  const END = DAY.startMs + 10 * HOUR
  const progress = (
    progressMs: number,
    heartbeatMs: number,
    more: Partial<PartitionProgress> = {},
    recordMs = heartbeatMs,
  ): PartitionProgress => ({
    ...PROGRESS,
    feed: { partition: 2, watermarkMs: progressMs - 45 * SECOND, progressMs, newestHeartbeatMs: heartbeatMs, newestRecordMs: recordMs },
    ...more,
  })
  const why = (given: PartitionProgress | null, nowMs: number, rules = RULES) => whyNotYet(END, given, rules, nowMs)

  it('its own end is not there yet', () => {
    const now = END - MINUTE
    expect(why(progress(now - 4 * SECOND, now - 4 * SECOND), now)).toMatchObject({
      state: 'open',
      holder: 'not-over',
      partition: 2,
      missingMs: MINUTE + 49 * SECOND,
      delayMs: 45 * SECOND,
      heartbeatAgeMs: 4 * SECOND,
    })
  })

  it('points have until the delay is over, and the next heartbeat after that closes it', () => {
    const heartbeat = END + 22 * SECOND
    const said = why(progress(heartbeat, heartbeat), END + 25 * SECOND)
    expect(said).toMatchObject({ holder: 'delay', closesAtMs: END + 52 * SECOND, finalAtMs: END + 52 * SECOND })
    expect(why(progress(heartbeat + 20 * SECOND, heartbeat + 20 * SECOND), END + 46 * SECOND)).toMatchObject({
      holder: 'heartbeat',
      closesAtMs: END + 52 * SECOND,
    })
  })

  it('what it says is when it closes: heartbeats alone, any start, any delay (property)', () => {
    fc.assert(
      fc.property(fc.nat(9_999), fc.nat(3_600), fc.integer({ min: -600, max: 4_200 }), (phase, delaySeconds, nowSeconds) => {
        const delay = delaySeconds * SECOND
        const nowMs = END + nowSeconds * SECOND
        const heartbeat = nowMs - ((nowMs - phase) % 10_000)
        const given: PartitionProgress = {
          ...PROGRESS,
          feed: {
            partition: 2,
            watermarkMs: heartbeat - delay,
            progressMs: heartbeat,
            newestHeartbeatMs: heartbeat,
            newestRecordMs: heartbeat,
          },
        }
        const said = why(given, nowMs, { ...RULES, delayMs: delay })
        if (heartbeat - delay >= END) {
          expect(said.state).not.toBe('open')
          return
        }
        // The first heartbeat whose watermark reaches the end.
        let closes = heartbeat
        while (closes - delay < END) closes += 10_000
        expect(said).toMatchObject({ state: 'open', closesAtMs: closes })
      }),
    )
  })

  it('heartbeats are held back, do not come, or are not read', () => {
    const now = END + 2 * MINUTE
    const at = (ageSeconds: number) => now - ageSeconds * SECOND
    expect(why(progress(at(90), at(40), {}, at(1)), now)).toMatchObject({ holder: 'held', closesAtMs: null, finalAtMs: null })
    expect(why(progress(at(90), at(61)), now)).toMatchObject({ holder: 'deaf', closesAtMs: null, heartbeatAgeMs: 61 * SECOND })
    expect(why(progress(at(90), at(61), { behindRecords: 7 }), now)).toMatchObject({ holder: 'behind', behindRecords: 7, closesAtMs: null })
    expect(why(null, now)).toMatchObject({ holder: 'nothing', partition: null, watermarkMs: null, closesAtMs: null })
  })

  it('is closed by W and final by F', () => {
    const rules = { ...RULES, allowedLatenessMs: 5 * MINUTE }
    expect(why(progress(END + 45 * SECOND, END + 45 * SECOND), END + 46 * SECOND, rules)).toMatchObject({
      state: 'closed',
      holder: null,
      finalAtMs: END + 45 * SECOND + 5 * MINUTE,
    })
    expect(why(progress(END + 6 * MINUTE, END + 6 * MINUTE), END + 6 * MINUTE, rules)).toMatchObject({ state: 'final', finalAtMs: null })
  })

  it('tells who moved the watermark last', () => {
    const moved = progress(END, END - 5 * SECOND, {
      newestVans: [
        { van: 'furgoneta-9', eventMs: END + SECOND },
        { van: 'furgoneta-8', eventMs: END },
      ],
    })
    expect(why(moved, END + SECOND).movedBy).toBe('furgoneta-8')
    expect(why(progress(END, END), END + SECOND).movedBy).toBeNull()
  })
})

describe("the van's clock", () => {
  const clock = (delays: readonly number[]) => prepareClock(trackOf(delays.map((delay, n) => [n * SECOND, 41, delay])))
  const many = (of: (n: number) => number) => Array.from({ length: 200 }, (_, n) => of(n))

  it('is judged by what arrives', () => {
    expect(clock(many((n) => 900 + n))).toMatchObject({ verdict: 'good', points: 200, leastMs: 900, mostMs: 1_099, aheadMs: 0 })
    expect(clock(many((n) => -30_000 + n))).toMatchObject({ verdict: 'ahead', aheadMs: 29_998 })
    expect(clock(many((n) => 31_000 + n))).toMatchObject({ verdict: 'steady' })
    expect(clock(many((n) => (n % 20 === 0 ? 600_000 : 1_000)))).toMatchObject({ verdict: 'bursts', medianMs: 1_000 })
    expect(clock(many((n) => (n === 7 ? -30_000 : 1_000)))).toMatchObject({ verdict: 'good', leastMs: -30_000 })
  })

  it('is not judged by what does not say when it arrived', () => {
    expect(clock(many(() => Number.NaN))).toBeNull()
    expect(clock([1, 2, 3])).toBeNull()
  })
})

describe('late and refused points', () => {
  const late = { eventMs: 5_000, reason: 'tard' as const, partition: 1, offset: 7 }
  const told = { ...late, windowsClosed: 5, arrivalMs: 900_000, lat: 41.9, lon: 2.8 }
  const refused = { arrivalMs: 15_000, eventMs: null, reason: 'camps', detail: 'data_ms', lat: null, lon: null }
  const track = trackOf([
    [10_000, 42],
    [20_000, 43],
  ])

  it('are each there once, in the order in which they came, with a place where one is known', () => {
    const other = { ...late, offset: 8, eventMs: 6_000 }
    const points = preparePoints({ late: [told], refused: [refused] }, [late, other], track, 180_000)
    expect(points.map(({ kind, arrivalMs, lat, isGuess }) => [kind, arrivalMs, lat, isGuess])).toEqual([
      ['late', null, null, false],
      ['refused', 15_000, 42.5, true],
      ['late', 900_000, 41.9, false],
    ])
    expect(new Set(points.map(({ id }) => id)).size).toBe(3)
  })
})

describe('the address', () => {
  it('names a van, a day and a moment of it', () => {
    const place = { van: 'furgoneta-3', day: '2026-11-24', atMs: DAY.startMs + 16 * HOUR }
    const address = addressOfVanPage(place)
    expect(vanPagePlaceOf(Object.fromEntries(new URL(address, 'http://panel').searchParams))).toEqual(place)
    expect(vanPagePlaceOf({ van: 'v', dia: '2026-11-24', t: '2026-11-24T16:00' }).atMs).toBe(place.atMs)
    const asked = { ...place, windowEndMs: Date.UTC(2026, 10, 24, 15, 5) }
    expect(vanPagePlaceOf(Object.fromEntries(new URL(addressOfVanPage(asked), 'http://panel').searchParams))).toEqual(asked)
  })
  it('leaves out what cannot be read', () => {
    expect(vanPagePlaceOf({ dia: '2026-02-31', t: 'noon', van: '' })).toEqual({ van: null, day: null, atMs: null })
    expect(vanPagePlaceOf({ van: 'v', dia: '2026-11-24', t: '2026-11-25T16:00' }).atMs).toBeNull()
  })
})
