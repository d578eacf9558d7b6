import type { DayVan } from '@km0/contracts/days-panel'
import { metresBetween } from '@km0/contracts/metres-between'
import { decodePacked } from '@km0/contracts/packed-columns'
import type { OutageSpan } from '@km0/contracts/panel'
import { DEGREE_PARTS, type ReplayHourHeader } from '@km0/contracts/van-day-panel'
import type { Marker } from '../map/prepare-markers.ts'
import { lastAt, placeAt } from '../playback/track-columns.ts'
import { compareNames } from '../van/prepare-fleet.ts'

export const HOUR_MS = 3_600_000
/** From here on a van without a point is silent, as live (section 5 of the semantics). */
const SILENT_AFTER_MS = 180_000
/** Stopped: nearer than this to where it was so long before; as live points are judged (section 13). */
const STOP_METRES = 30
const STOP_AFTER_MS = 120_000

/** An hour of the fleet. Rows of a van lie together; `spans` says where. */
export interface ReplayHour {
  readonly fromMs: number
  readonly toMs: number
  readonly sampleMs: number
  readonly spans: ReadonlyMap<string, readonly [first: number, end: number]>
  readonly eventMs: Float64Array
  readonly lat: Float64Array
  readonly lon: Float64Array
  /** Index into `places`, −1: none. */
  readonly place: Int32Array
  readonly places: readonly string[]
}

/** `no-data`: nothing of it is known in the hour or in the twelve before. `unknown`: we could not hear it. */
export type ReplayState = 'moving' | 'stopped' | 'silent' | 'unknown' | 'no-data'

export interface ReplayVan {
  readonly van: string
  readonly name: string
  readonly state: ReplayState
  /** null with `no-data`. */
  readonly lat: number | null
  readonly lon: number | null
  readonly place: string | null
  /** Event time of its newest point then. */
  readonly eventMs: number | null
  readonly headingDegrees: number | null
}

export interface ReplayMoment {
  /** In the order of the names. */
  readonly vans: readonly ReplayVan[]
  readonly counts: Readonly<Record<ReplayState, number>>
  /** The outage of ours that lasted then; null: we heard. */
  readonly outage: OutageSpan | null
}

export function readHour(buffer: ArrayBuffer): ReplayHour {
  const { header, columns } = decodePacked<ReplayHourHeader>(buffer)
  const [event, lat, lon, place] = columns as [Int32Array, Int32Array, Int32Array, Int32Array]
  const spans = new Map<string, readonly [number, number]>()
  let at = 0
  for (const { van, rows } of header.vans) {
    spans.set(van, [at, at + rows])
    at += rows
  }
  const { fromMs, toMs, sampleMs, places } = header
  return {
    ...{ fromMs, toMs, sampleMs, spans, places, place },
    eventMs: Float64Array.from(event, (ms) => fromMs + ms),
    lat: Float64Array.from(lat, (parts) => parts / DEGREE_PARTS),
    lon: Float64Array.from(lon, (parts) => parts / DEGREE_PARTS),
  }
}

/** The whole hour that holds a moment. */
export const hourOf = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS

export interface ReplayName {
  readonly van: string
  readonly name: string
}

/** Vans that are registered and those that the hour knows, by name. */
export function replayNames(hour: Pick<ReplayHour, 'spans'>, registered: readonly DayVan[]): ReplayName[] {
  const names = new Map(registered.map(({ van, name }) => [van, name ?? van]))
  for (const van of hour.spans.keys()) if (!names.has(van)) names.set(van, van)
  return [...names].map(([van, name]) => ({ van, name })).sort((a, b) => compareNames(a.name, b.name))
}

/**
 * Everybody at a moment of an hour: between two points on the line between them, else at the last one. Vans that are registered and of which nothing
 * is known are told too.
 */
export function prepareMoment(hour: ReplayHour, atMs: number, names: readonly ReplayName[], outages: readonly OutageSpan[]): ReplayMoment {
  const outage = outages.find(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs) ?? null
  const isDeaf = outage !== null && outage.partitions === null
  const counts = { moving: 0, stopped: 0, silent: 0, unknown: 0, 'no-data': 0 }
  const vans = names.map(({ van, name }) => {
    const one = vanThen(hour, van, name, atMs, isDeaf)
    counts[one.state] += 1
    return one
  })
  return { vans, counts, outage }
}

/** With long samples a step between two is longer than a silence; that of two is none. */
const gapOf = ({ sampleMs }: ReplayHour) => Math.max(SILENT_AFTER_MS, 2 * sampleMs)

function vanThen(hour: ReplayHour, van: string, name: string, atMs: number, isDeaf: boolean): ReplayVan {
  const [first, end] = hour.spans.get(van) ?? [0, 0]
  const where = end > first ? placeAt(hour, atMs, gapOf(hour), first, end) : null
  if (where === null) return { van, name, state: 'no-data', lat: null, lon: null, place: null, eventMs: null, headingDegrees: null }
  const { lat, lon, eventMs, ageMs, headingDegrees } = where
  const index = lastAt(hour.eventMs, atMs, first, end)
  const place = hour.places[hour.place[index] ?? -1] ?? null
  const state = ageMs > gapOf(hour) ? (isDeaf ? 'unknown' : 'silent') : standsThen(hour, atMs, first, end, where) ? 'stopped' : 'moving'
  return { van, name, state, lat, lon, place, eventMs, headingDegrees }
}

function standsThen(
  hour: ReplayHour,
  atMs: number,
  first: number,
  end: number,
  where: { readonly lat: number; readonly lon: number },
): boolean {
  const before = placeAt(hour, atMs - STOP_AFTER_MS, gapOf(hour), first, end)
  const other = before ?? placeAt(hour, atMs + STOP_AFTER_MS, gapOf(hour), first, end)
  return other !== null && metresBetween(where, other) < STOP_METRES
}

const ICONS = { moving: 'moving', stopped: 'stopped', silent: 'silent', unknown: 'unknown' } as const

/** Markers for the map's layer of vans; those that are silent come last, so that they are drawn on top. */
export function replayMarkers(moment: ReplayMoment, selected: string | null): Marker[] {
  const markers = moment.vans.flatMap((van): Marker[] => {
    if (van.state === 'no-data' || van.lat === null || van.lon === null) return []
    const isMoving = van.state === 'moving'
    return [
      {
        van: van.van,
        lat: van.lat,
        lon: van.lon,
        eventMs: van.eventMs ?? 0,
        icon: isMoving && van.headingDegrees === null ? 'moving-unknown' : ICONS[van.state],
        headingDegrees: van.headingDegrees ?? 0,
        label: van.name,
        age: '',
        level: van.van === selected ? 2 : van.state === 'silent' ? 1 : 0,
      },
    ]
  })
  return markers.sort((a, b) => a.level - b.level)
}
