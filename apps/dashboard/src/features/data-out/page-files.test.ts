import type { HandOverChange, SilenceEpisode } from '@km0/contracts'
import { expect, test } from 'vitest'
import { changesTable } from '../hand-over/prepare-files.ts'
import { fileFilter } from '../map/prepare-filter.ts'
import { momentTable } from '../replay/prepare-files.ts'
import type { ReplayMoment } from '../replay/prepare-replay.ts'
import { windowsTable } from '../van-page/prepare-files.ts'
import type { WindowSeries } from '../van-page/prepare-windows.ts'
import { offeredLinks } from './offered-links.ts'
import { csvFile, fileName, fileStamp, geoJsonFile } from './table-files.ts'

/** Files that a page makes of what it shows. */

const MINUTE = 60_000
const NOW = Date.UTC(2026, 10, 30, 11)

test('where files name no van a page offers those alone that the server makes', () => {
  const links = [{ from: '/api/fleet.csv' }, { from: () => csvFile('x', { columns: [], rows: [] }) }]
  const session = { filesMasked: true } as const
  expect(offeredLinks(links, session as never)).toEqual([links[0]])
  expect(offeredLinks(links, {} as never)).toEqual(links)
  expect(offeredLinks(links, null)).toEqual(links)
})

test('windows of a day: closed, open and missing are told apart, each with its end', () => {
  const window = {
    startMs: NOW - 5 * MINUTE,
    endMs: NOW,
    distanceMm: 1_234,
    positions: 9,
    jumps: 1,
    displacementMm: 7,
    revision: 0,
    version: 3,
  }
  const open = { startMs: NOW - 3 * MINUTE, endMs: NOW + 2 * MINUTE, distanceMm: 5, positions: 2, jumps: 0 }
  const endMs = [NOW, NOW + MINUTE, NOW + 2 * MINUTE]
  const series: WindowSeries = { endMs, closed: [], open: [], windows: new Map([[NOW, window]]), openWindows: [open] }
  const view = { van: { van: 'furgoneta-3', name: null, plate: null, depot: null } }
  const file = csvFile(fileName('furgoneta-3', '2026-11-30', 'windows'), windowsTable(view, series, 5 * MINUTE))
  expect(file.name).toBe('km0-furgoneta-3-2026-11-30-windows.csv')
  expect(file.text.split('\r\n').slice(1, 4)).toEqual([
    `furgoneta-3,2026-11-30T10:55:00.000Z,2026-11-30T11:00:00.000Z,${NOW},closed,1234,9,1,7,3`,
    `furgoneta-3,2026-11-30T10:56:00.000Z,2026-11-30T11:01:00.000Z,${NOW + MINUTE},missing,,,,,`,
    `furgoneta-3,2026-11-30T10:57:00.000Z,2026-11-30T11:02:00.000Z,${NOW + 2 * MINUTE},open,5,2,0,,`,
  ])
})

test('the fleet at a moment, as places; a van of which nothing is known has none', () => {
  const known = { van: 'a', name: 'A', state: 'moving', lat: 41.9, lon: 2.8, place: 'Salt', eventMs: NOW - 1, headingDegrees: 90 } as const
  const unknown = { van: 'b', name: 'B', state: 'no-data', lat: null, lon: null, place: null, eventMs: null, headingDegrees: null } as const
  const moment = { vans: [known, unknown], counts: {}, outage: null } as unknown as ReplayMoment
  const file = geoJsonFile(fileName('fleet', fileStamp(NOW)), momentTable(moment, NOW))
  expect(file.name).toBe('km0-fleet-2026-11-30T1100.geojson')
  const { features } = JSON.parse(file.text) as { features: { geometry: unknown; properties: object }[] }
  expect(features.map(({ geometry }) => geometry)).toEqual([{ type: 'Point', coordinates: [2.8, 41.9] }, null])
  expect(features[0]?.properties).toMatchObject({ van: 'a', state: 'moving', at_time: '2026-11-30T11:00:00.000Z' })
})

test('a hand-over: who did what, and of a silence what was known then and is known now', () => {
  const actor = { id: '1', name: 'Marta', roles: [] }
  const episode: SilenceEpisode = {
    ...{ van: 'a', depotId: null, sinceMs: NOW - 22 * MINUTE, endedMs: NOW, latePoints: 9, longestGapMs: 10_000, overOutage: false },
  }
  const mute = { id: 1, kind: 'depot' as const, subject: 'girona', untilMs: null, note: 'obres', actor, atMs: NOW }
  const changes: HandOverChange[] = [
    { kind: 'returned', atMs: NOW, van: 'a', episode },
    { kind: 'acknowledged', atMs: NOW, van: 'b', note: '=trucat', actor },
    { kind: 'muted', atMs: NOW, mute, actor },
  ]
  const at = '2026-11-30T11:00:00.000Z'
  expect(
    csvFile('x', changesTable({ changes, nowMs: NOW }))
      .text.split('\r\n')
      .slice(1, 4),
  ).toEqual([
    `${at},returned,a,,,,2026-11-30T10:38:00.000Z,${at},1320,10,false`,
    `${at},acknowledged,b,,Marta,'=trucat,,,,,`,
    `${at},muted,,girona,Marta,obres,,,,,`,
  ])
})

test('files beside the map have its filter', () => {
  expect(fileFilter({ depot: null, hidden: [] }, 'fleet')).toBe('')
  expect(fileFilter({ depot: 'olot', hidden: ['stopped'] }, 'distances')).toBe('?depot=olot')
  expect(fileFilter({ depot: 'olot', hidden: ['stopped', 'away'] }, 'fleet')).toBe(
    '?depot=olot&state=moving,provisional,silent,not-seen,unknown',
  )
})
