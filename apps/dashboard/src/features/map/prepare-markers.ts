import { shortAge } from '../feed/durations.ts'
import { AGE_SHOWN_AFTER_MS, type Van } from '../van/prepare-fleet.ts'

/** Image of a marker. Shape and colour both tell the state; a doubtful one is hollow. */
export type MarkerIcon =
  | 'moving'
  | 'moving-unknown'
  | 'stopped'
  | 'silent'
  | 'provisional'
  | 'not-seen'
  | 'unknown'
  | `doubtful-${'moving' | 'moving-unknown' | 'stopped'}`

export interface Marker {
  readonly van: string
  readonly lon: number
  readonly lat: number
  readonly icon: MarkerIcon
  readonly headingDegrees: number
  readonly label: string
  /** Empty until it is worth showing. */
  readonly age: string
  /** 0: heard; 1: old news, drawn above; 2: no signal, drawn on top. */
  readonly level: 0 | 1 | 2
}

/** Vans that have a place, as markers; those that need somebody's eyes come last, so that they are drawn on top. */
export function prepareMarkers(fleet: readonly Van[]): Marker[] {
  const markers = fleet.flatMap((van) => (van.point === null ? [] : [markerOf(van, van.point)]))
  return markers.sort((a, b) => a.level - b.level)
}

function markerOf(van: Van, point: NonNullable<Van['point']>): Marker {
  const old = van.silenceMs !== null && van.silenceMs >= AGE_SHOWN_AFTER_MS
  return {
    van: van.van,
    lon: point.lon,
    lat: point.lat,
    icon: iconOf(van, point.headingDegrees),
    headingDegrees: point.headingDegrees ?? 0,
    label: van.name,
    age: old && van.silenceMs !== null ? shortAge(van.silenceMs) : '',
    level: van.state === 'silent' || van.state === 'provisional' ? 2 : old || van.state === 'unknown' ? 1 : 0,
  }
}

function iconOf(van: Van, headingDegrees: number | null): MarkerIcon {
  if (van.state === 'silent' || van.state === 'provisional' || van.state === 'not-seen' || van.state === 'unknown') return van.state
  const shape = van.state === 'stopped' ? 'stopped' : headingDegrees === null ? 'moving-unknown' : 'moving'
  return van.doubtful ? `doubtful-${shape}` : shape
}
