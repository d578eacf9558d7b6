import { readFileSync } from 'node:fs'
import { DEFAULT_PANEL_LIMITS, EMPTY_DISPATCH } from '@km0/contracts'
import { NextIntlClientProvider } from 'next-intl'
import { createElement as h } from 'react'
import { renderToString } from 'react-dom/server'
import { expect, test } from 'vitest'
import { DistanceCard } from '../distances/distance-card.tsx'
import { prepareDistances } from '../distances/prepare-distances.ts'
import { modelOf } from '../feed/panel-model.ts'
import { prepareFeed } from '../feed/prepare-feed.ts'
import { ChangeLine } from '../hand-over/change-line.tsx'
import { OpenSilences } from '../hand-over/open-silences.tsx'
import { DepotsTable, MarketsTable } from '../register/places-tables.tsx'
import { prepareVanRows } from '../register/prepare-register.ts'
import { ShiftsList } from '../register/shifts-list.tsx'
import { VanEditor } from '../register/van-editor.tsx'
import { VansTable } from '../register/vans-table.tsx'
import { prepareFleet } from '../van/prepare-fleet.ts'
import { MuteDialog } from './mute-dialog.tsx'
import { NoSignalCard } from './no-signal-card.tsx'
import { prepareNoSignal } from './prepare-no-signal.ts'

const NOW = Date.UTC(2026, 10, 30, 11)
const MIN = 60_000
/** Messages that are missing, or whose places nobody fills. */
const errors: string[] = []
const render = (locale: string, node: ReturnType<typeof h>) => {
  const messages = JSON.parse(readFileSync(new URL(`../../../messages/${locale}.json`, import.meta.url), 'utf8'))
  const given = {
    locale,
    messages,
    timeZone: 'Europe/Madrid',
    now: new Date(NOW),
    onError: (error: Error) => void errors.push(error.message),
  }
  const html = renderToString(h(NextIntlClientProvider, given as never, node))
  return html
    .replace(/<style.*?<\/style>/g, '')
    .replace(/<svg.*?<\/svg>/g, '')
    .replace(/<[^>]+>/g, '|')
    .replace(/\|+/g, '|')
}
const depot = (id: string, markets: string[] = [], s: string | null = null, e: string | null = null) => ({
  id,
  name: `Base ${id}`,
  lat: 41.9,
  lon: 2.8,
  markets,
  shiftStart: s,
  shiftEnd: e,
})
const reg = (van: string, depotId = 'girona', to: number | null = null) => ({
  van,
  name: van,
  plate: null,
  depotId,
  inServiceFromMs: null,
  inServiceToMs: to,
})
const actor = { id: '1', name: 'Marta', roles: [] }
const point = (van: string, age: number) => ({
  van,
  depotId: 'girona',
  lat: 42,
  lon: 2.8,
  eventMs: NOW - age,
  arrivalMs: NOW - age,
  speedMmPerS: null,
  headingDegrees: null,
  doubtful: false,
  motion: 'moving' as const,
  place: 'Salt',
  partition: 0,
  batteryPercent: null,
})
const mute = { id: 1, kind: 'van' as const, subject: 'm', untilMs: NOW + 3600000, note: 'taller', actor, atMs: NOW - MIN }
const dispatch = {
  ...EMPTY_DISPATCH,
  shifts: [
    { depotId: 'nit', day: 'mon', start: null, end: null },
    { depotId: 'girona', day: 'mon', start: '06:00', end: '14:00' },
  ],
  mutes: [mute, { ...mute, id: 2, kind: 'depot' as const, subject: 'olot', untilMs: null }],
  usual: { fromMs: NOW - 3600000, toMs: NOW + 1, vans: [{ van: 'h', p99Mm: 1000, windows: 240 }] },
  outside: ['h'],
  episodes: [
    { van: 'h', depotId: null, sinceMs: NOW - 23 * MIN, endedMs: NOW - MIN, latePoints: 131, longestGapMs: 10000, overOutage: false },
    { van: 's', depotId: null, sinceMs: NOW - 30 * MIN, endedMs: null, latePoints: 3, longestGapMs: 4 * MIN, overOutage: false },
  ],
}
const partitions = [{ partition: 0, watermarkMs: null, progressMs: null, newestHeartbeatMs: NOW, newestRecordMs: NOW }]
const feed = { state: 'live' as const, noDataSinceMs: null, trouble: null, partitions }
const model = modelOf(
  {
    sequence: 1,
    clock: 'machine',
    nowMs: NOW,
    limits: DEFAULT_PANEL_LIMITS,
    feed,
    outages: [],
    depots: [depot('girona'), depot('nit'), depot('olot')],
    registered: [reg('h'), reg('s'), reg('m'), reg('off', 'nit'), reg('offheard', 'nit'), reg('gone', 'girona', NOW - 1)],
    points: [point('h', 1000), point('s', 20 * MIN), point('m', 20 * MIN), point('off', 90 * MIN), point('offheard', 500)],
    signals: [],
    distances: [
      {
        van: 'h',
        depotId: null,
        windowStartMs: NOW - 5 * MIN,
        windowEndMs: NOW,
        distanceMm: 5_000_000,
        positions: 9,
        jumps: 1,
        displacementMm: 1,
        revision: 0,
      },
    ],
    acknowledgements: [],
    dispatch,
  } as never,
  0,
)
const status = prepareFeed({ feed, points: model.points, connected: true, serverNowMs: NOW, nowMs: NOW })
const fleet = prepareFleet(model, status, NOW)
const list = prepareNoSignal(fleet, [], 0, dispatch as never, NOW)
const view = {
  nowMs: NOW,
  mayEdit: true,
  depots: [depot('girona', ['a']), depot('nit'), depot('b', [], '06:00', '14:00')],
  vans: [reg('h'), reg('gone', 'girona', NOW - 1)],
  markets: [
    {
      id: 'a',
      name: 'A',
      zone: {
        type: 'Polygon' as const,
        coordinates: [
          [
            [2, 41],
            [3, 41],
            [3, 42],
            [2, 41],
          ],
        ],
      },
    },
    { id: 'c', name: 'C', zone: null },
  ],
  shifts: [...dispatch.shifts, { depotId: 'girona', day: '2026-12-25', start: null, end: null }],
}
const noop = () => undefined
const names = { nameOf: (van: string) => van, depotOf: (depot: string) => depot }

/** What each language says of a silence that late points have corrected. */
const SAID = {
  ca: 'llavors: 22 min de silenci; ara se sap: un buit de 10 s, dit tard',
  es: 'entonces: 22 min de silencio; ahora se sabe: un hueco de 10 s, dicho tarde',
  en: 'known then: 22 min of silence; known now: a 10 s gap, reported late',
} as const

test.each(['ca', 'es', 'en'] as const)('in %s every line of dispatch has its words', (locale) => {
  const out = [
    render(
      locale,
      h(NoSignalCard, { list, fleet, status: 'ready', sinceMs: null, outages: [], nowMs: NOW, selected: null, onSelect: noop } as never),
    ),
    render(
      locale,
      h(NoSignalCard, {
        list: { ...list, rows: [] },
        fleet,
        status: 'ready',
        sinceMs: null,
        outages: [],
        nowMs: NOW,
        selected: null,
        onSelect: noop,
      } as never),
    ),
    render(locale, h(MuteDialog, { van: fleet[0], nowMs: NOW, onClose: noop } as never)),
    render(
      locale,
      h(DistanceCard, {
        table: prepareDistances(fleet, model.distances, dispatch as never),
        status: 'ready',
        sinceMs: null,
        selected: null,
        onSelect: noop,
      } as never),
    ),
    render(locale, h(VansTable, { view, search: '', nowMs: NOW, onStored: noop } as never)),
    render(
      locale,
      h(
        'table',
        null,
        h(
          'tbody',
          null,
          h(VanEditor, { row: prepareVanRows(view as never, 'gone', NOW)[0], depots: view.depots, nowMs: NOW, onDone: noop } as never),
        ),
      ),
    ),
    render(locale, h(DepotsTable, { view } as never)),
    render(locale, h(MarketsTable, { view } as never)),
    render(locale, h(ShiftsList, { view, nowMs: NOW } as never)),
    render(locale, h(OpenSilences, { list, ...names } as never)),
    ...(['new', 'returned'] as const).map((kind) =>
      render(
        locale,
        h(ChangeLine, { change: { kind, atMs: NOW, van: 'h', episode: dispatch.episodes[0] }, nowMs: NOW, ...names } as never),
      ),
    ),
    render(
      locale,
      h(ChangeLine, { change: { kind: 'acknowledged', atMs: NOW, van: 'h', note: 'n', actor }, nowMs: NOW, ...names } as never),
    ),
    ...(['muted', 'unmuted'] as const).map((kind) =>
      render(locale, h(ChangeLine, { change: { kind, atMs: NOW, mute, actor }, nowMs: NOW, ...names } as never)),
    ),
  ]
  expect(errors.splice(0)).toEqual([])
  // The returned van in both cards, and its two lines of the hand-over.
  expect(out.join('\n').split(SAID[locale])).toHaveLength(5)
  expect(out.every((text) => text.length > 10)).toBe(true)
})
