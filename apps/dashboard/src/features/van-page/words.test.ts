import { readFileSync } from 'node:fs'
import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts/host'
import type { VanDayView } from '@km0/contracts/van-day-panel'
import { NextIntlClientProvider } from 'next-intl'
import { createElement as h } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { dayOfName } from '../playback/instants.ts'
import { Moment, Player, TimeSlider } from '../playback/player.tsx'
import { EMPTY_TRACK } from '../playback/track-columns.ts'
import type { ReplayMoment, ReplayState } from '../replay/prepare-replay.ts'
import { ReplayControls } from '../replay/replay-controls.tsx'
import { ReplayList } from '../replay/replay-list.tsx'
import { DayBar } from './day-bar.tsx'
import { ClockCard, PointsCard, TotalsCard } from './day-cards.tsx'
import { LakeNotice } from './lake-notice.tsx'
import type { ClockVerdict } from './prepare-clock.ts'
import type { OddPoint } from './prepare-points.ts'
import { prepareWindows } from './prepare-windows.ts'
import { Timeline } from './timeline.tsx'
import { WhyCard } from './why-card.tsx'

/** The day on which Madrid's clocks go back, and half past two of it for the second time. */
const DAY = dayOfName('2026-10-25')!
const HOUR = 3_600_000
const AT = DAY.startMs + 3.5 * HOUR
const END = DAY.startMs + 10 * HOUR
const playback = { isPlaying: false, speed: 10 as const, setSpeed: () => undefined, toggle: () => undefined, pause: () => undefined }
const nothing = () => undefined
/** Messages that are missing, or whose places nobody fills. */
const errors: string[] = []

function render(locale: string, ...nodes: ReturnType<typeof h>[]): string {
  const messages = JSON.parse(readFileSync(new URL(`../../../messages/${locale}.json`, import.meta.url), 'utf8'))
  const given = { locale, messages, timeZone: 'Europe/Madrid', onError: (error: Error) => void errors.push(error.message) }
  return renderToString(h(NextIntlClientProvider, given as never, ...nodes.map((node, key) => h('div', { key }, node)))).replaceAll(
    '<!-- -->',
    '',
  )
}

const view: VanDayView = {
  nowMs: END,
  van: { van: 'furgoneta-3', name: 'Rocinante', plate: '1234 BCD', depot: null },
  day: DAY,
  hours: [{ hourMs: END - HOUR, distanceMm: 12_345_678, positions: 180, jumps: 1, jumpsMm: null, gaps: null, gapsMm: null, version: null }],
  late: { tard: 1, parcial: 2 },
  parked: { durationMs: 0, distanceMm: 0 },
  certificates: [],
  windows: [
    {
      startMs: END - 5 * 60_000,
      endMs: END,
      distanceMm: 2_100_000,
      positions: 15,
      jumps: 1,
      displacementMm: 900_000,
      revision: 2,
      version: null,
    },
    {
      startMs: END - 6 * 60_000,
      endMs: END - 60_000,
      distanceMm: 1_000_000,
      positions: 15,
      jumps: 0,
      displacementMm: 9,
      revision: 0,
      version: 7,
    },
  ],
  sessions: [],
  silences: [],
  outages: [],
  latePoints: [],
  partition: 2,
  rules: { ...DEFAULT_POSITIONS_SETTINGS, outageAfterMs: 60_000 },
  progress: {
    feed: { partition: 2, watermarkMs: END - 50_000, progressMs: END - 5_000, newestHeartbeatMs: END - 5_000, newestRecordMs: END - 5_000 },
    behindRecords: 0,
    newestVans: [],
  },
  live: [],
}
const points: OddPoint[] = ['tard', 'parcial', 'futur', 'antic', 'camps', 'something-new'].map((reason, index) => ({
  ...{
    id: reason,
    kind: index < 2 ? 'late' : 'refused',
    reason,
    eventMs: AT,
    arrivalMs: AT + 60_000,
    windowsClosed: index < 2 ? 5 : null,
    detail: null,
  },
  ...{ lat: index === 5 ? null : 41, lon: 2, isGuess: index === 3 },
}))

describe.each(['ca', 'es', 'en'])('in %s', (locale) => {
  it('every card of a day has its words', () => {
    const timeline = {
      spans: [{ kind: 'moving' as const, fromMs: DAY.startMs, toMs: AT }],
      outages: [{ fromMs: AT, toMs: END, cause: 'kafka' as const }],
      totalMs: { moving: AT - DAY.startMs, stopped: 0, silent: 0 },
    }
    const place = { van: 'furgoneta-3', day: '2026-10-25', atMs: AT }
    const verdicts: ClockVerdict[] = ['ahead', 'steady', 'bursts', 'good']
    const clock = { points: 9, medianMs: 1_000, lowMs: 900, highMs: 1_100, leastMs: -5, mostMs: 70_000, aheadMs: 5_000 }
    const header = { van: 'v', fromMs: 0, toMs: 1, source: 'store' as const, pointCount: 9, late: [], refused: [], isCut: false }
    const html = render(
      locale,
      h(DayBar, { view, day: '2026-10-25', atMs: AT, nowMs: END, place, onPlace: nothing }),
      h(Timeline, { day: DAY, timeline, atMs: AT, onSeek: nothing }),
      h(TotalsCard, { view, day: '2026-10-25' }),
      ...verdicts.map((verdict) => h(ClockCard, { clock: { ...clock, verdict }, isKnown: true })),
      h(ClockCard, { clock: null, isKnown: false }),
      h(PointsCard, { points, isCut: true, isKnown: false, onSeek: nothing }),
      h(LakeNotice, { line: 'ready', header: { ...header, why: { kind: 'missing', says: 'start the role' } }, reason: null, shown: 9 }),
      h(LakeNotice, { line: 'ready', header: { ...header, why: null }, reason: null, shown: 3 }),
      h(LakeNotice, { line: 'failed', header: null, reason: 'away', shown: 0 }),
      h(Player, { playback, atMs: AT, stepMs: 60_000, onSeek: nothing }, h(Moment, { ms: AT })),
      h(TimeSlider, { fromMs: DAY.startMs, toMs: DAY.endMs, atMs: AT, stepMs: 10_000, label: 'time', onSeek: nothing }),
    )
    expect(errors).toEqual([])
    expect(html).toContain('Rocinante')
    // An hour that occurs twice is told with its offset: the moment, and both of the ticks.
    expect(html).toContain('02:30:00 +01:00')
    expect(html.match(/>2<small>\+0[12]<\/small>/g)).toHaveLength(2)
    expect(html).toContain('something-new')
    expect(html).not.toMatch(/\bvanPage\.|\bplayback\.|\{\w+\}/)
  })

  it('a window says what it is, and each thing that it can wait for', () => {
    const series = prepareWindows(view, EMPTY_TRACK)
    const feed = { ...view.progress!.feed }
    const given: [VanDayView['progress'], number, number][] = [
      [view.progress, END, END],
      [view.progress, END - 60_000, END],
      [view.progress, END + 60_000, END],
      [view.progress, END, END + 10_000],
      [view.progress, END, END + 50_000],
      [{ ...view.progress!, feed: { ...feed, newestHeartbeatMs: END + 20_000, newestRecordMs: END + 59_000 } }, END, END + 60_000],
      [view.progress, END, END + 5 * 60_000],
      [{ ...view.progress!, behindRecords: 7 }, END, END + 5 * 60_000],
      [null, END, END],
      [{ ...view.progress!, feed: { ...feed, watermarkMs: END + 600_000, progressMs: END + 645_000 } }, END, END + 645_000],
    ]
    const cards = given.map(([progress, endMs, nowMs]) =>
      h(WhyCard, { view: { ...view, progress }, series, endMs, nowMs, onClose: nothing }),
    )
    const html = render(locale, ...cards)
    expect(errors).toEqual([])
    const holders = [...html.matchAll(/data-holder="([\w-]*)"/g)].map(([, holder]) => holder)
    for (const holder of ['not-over', 'delay', 'heartbeat', 'held', 'deaf', 'behind', 'nothing', '']) expect(holders).toContain(holder)
    expect(html).not.toMatch(/\bvanPage\.|\{\w+\}/)
  })

  it('the replay has its words', () => {
    const states: ReplayState[] = ['moving', 'stopped', 'silent', 'unknown', 'no-data']
    const vans = states.map((state) => ({
      ...{ van: state, name: state, state, place: 'Olot', headingDegrees: null },
      ...(state === 'no-data' ? { lat: null, lon: null, eventMs: null } : { lat: 42, lon: 2, eventMs: AT - HOUR }),
    }))
    const moment: ReplayMoment = { vans, counts: { moving: 1, stopped: 1, silent: 1, unknown: 1, 'no-data': 1 }, outage: null }
    const outages = [{ fromMs: AT, toMs: END, cause: 'kafka' as const, partitions: null }]
    const html = render(
      locale,
      h(ReplayList, { moment, atMs: AT, selected: 'silent', onSelect: nothing }),
      h(ReplayControls, { day: DAY, outages, atMs: AT, nowMs: END, line: 'ready', playback, onSeek: nothing }),
    )
    expect(errors).toEqual([])
    expect(html).toContain('/furgoneta?van=silent&amp;dia=2026-10-25&amp;t=2026-10-25T01%3A30%3A00Z')
    expect(html).not.toMatch(/\breplay\.|\bplayback\.|\{\w+\}/)
  })
})
