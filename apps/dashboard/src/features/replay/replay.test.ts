import { encodePacked } from '@km0/contracts/packed-columns'
import type { ReplayHourHeader } from '@km0/contracts/van-day-panel'
import { describe, expect, it } from 'vitest'
import { instantOf } from '../playback/instants.ts'
import { HOUR_MS, hourOf, prepareMoment, readHour, replayMarkers, replayNames } from './prepare-replay.ts'
import { addressOfReplay, replayPlaceOf } from './replay-place.ts'

const MINUTE = 60_000
/** Tuesday 24 November 2026, 16:00 in Madrid. */
const FROM = Date.UTC(2026, 10, 24, 15)

/** Rows of vans `[minutes after 16:00, thousandths of a degree north of 42, place]`. */
function hourWith(vans: Readonly<Record<string, readonly (readonly [minutes: number, north: number, place?: number])[]>>) {
  const rows = Object.values(vans).flat()
  const header: ReplayHourHeader = {
    fromMs: FROM,
    toMs: FROM + HOUR_MS,
    sampleMs: 15_000,
    vans: Object.entries(vans).map(([van, own]) => ({ van, rows: own.length })),
    places: ['Girona', 'Olot'],
  }
  const columns = [
    Int32Array.from(rows, ([minutes]) => minutes * MINUTE),
    Int32Array.from(rows, ([, north]) => 42e6 + north * 1_000),
    Int32Array.from(rows, () => 2_820_000),
    Int32Array.from(rows, ([, , place]) => place ?? -1),
  ]
  return readHour(encodePacked(header, columns).buffer)
}

const hour = hourWith({
  'furgoneta-2': [
    [0, 0, 0],
    [1, 10, 0],
    [2, 20, 1],
  ],
  'furgoneta-10': [
    [-1, 5],
    [1, 5],
    [2, 5],
    [3, 5],
  ],
  'furgoneta-3': [[-90, 7, 1]],
})
const registered = ['furgoneta-2', 'furgoneta-10', 'furgoneta-3', 'furgoneta-4'].map((van) => ({
  van,
  name: null,
  plate: null,
  depot: null,
}))
const at = (minutes: number, outages: Parameters<typeof prepareMoment>[3] = []) =>
  prepareMoment(hour, FROM + minutes * MINUTE, replayNames(hour, registered), outages)
const one = (moment: ReturnType<typeof at>, van: string) => moment.vans.find((row) => row.van === van)

describe('where everybody was', () => {
  it('is between two points, where it stood, where it was last heard, or not known', () => {
    const moment = at(1.5)
    expect(moment.vans.map(({ van }) => van)).toEqual(['furgoneta-2', 'furgoneta-3', 'furgoneta-4', 'furgoneta-10'])
    expect(one(moment, 'furgoneta-2')).toMatchObject({ state: 'moving', lat: 42.015, place: 'Girona', headingDegrees: 0 })
    expect(one(moment, 'furgoneta-10')).toMatchObject({ state: 'stopped', lat: 42.005, place: null })
    expect(one(moment, 'furgoneta-3')).toMatchObject({ state: 'silent', lat: 42.007, place: 'Olot', eventMs: FROM - 90 * MINUTE })
    expect(one(moment, 'furgoneta-4')).toMatchObject({ state: 'no-data', lat: null, eventMs: null })
    expect(moment.counts).toEqual({ moving: 1, stopped: 1, silent: 1, unknown: 0, 'no-data': 1 })
  })

  it('says nothing of the future: before its first point of the hour a van is not there', () => {
    const later = hourWith({ late: [[30, 0]] })
    expect(one(prepareMoment(later, FROM + MINUTE, replayNames(later, []), []), 'late')).toMatchObject({ state: 'no-data' })
  })

  it('is unknown while we could not hear, not silent; an outage of some partitions makes nobody unknown', () => {
    const outage = { fromMs: FROM, toMs: FROM + HOUR_MS, cause: 'kafka' as const }
    const deaf = at(30, [{ ...outage, partitions: null }])
    expect([deaf.counts.unknown, deaf.counts.silent, deaf.outage?.cause]).toEqual([3, 0, 'kafka'])
    const partly = at(30, [{ ...outage, partitions: [1] }])
    expect([partly.counts.unknown, partly.counts.silent]).toEqual([0, 3])
    expect(at(60, [{ ...outage, partitions: null }]).outage).toBeNull()
  })

  it('is a marker for each van with a place; the chosen one on top', () => {
    const markers = replayMarkers(at(1.5), 'furgoneta-2')
    expect(markers.map(({ van, icon }) => [van, icon])).toEqual([
      ['furgoneta-10', 'stopped'],
      ['furgoneta-3', 'silent'],
      ['furgoneta-2', 'moving'],
    ])
  })

  it('belongs to an hour', () => {
    expect(hourOf(FROM + 59 * MINUTE)).toBe(FROM)
    expect(hourOf(FROM - 1)).toBe(FROM - HOUR_MS)
  })
})

describe('the address of a moment', () => {
  it('is told in time of Madrid or with an offset, and comes back', () => {
    const ms = instantOf('2026-11-24T16:00')!
    expect(ms).toBe(FROM)
    expect(replayPlaceOf({ t: '2026-11-24T16:00' })).toEqual({ atMs: FROM, van: null })
    const place = { atMs: FROM, van: 'furgoneta-3' }
    expect(replayPlaceOf(Object.fromEntries(new URL(addressOfReplay(place), 'http://panel').searchParams))).toEqual(place)
    expect(addressOfReplay({ atMs: null, van: null })).toBe('/reproduccio')
  })
})
