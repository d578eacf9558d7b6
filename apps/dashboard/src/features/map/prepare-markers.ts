import type { PanelPoint } from '@km0/contracts/panel'
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
  /** Of its point. */
  readonly eventMs: number
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
    eventMs: point.eventMs,
    icon: iconOf(van, point.headingDegrees),
    headingDegrees: point.headingDegrees ?? 0,
    label: van.name,
    age: old && van.silenceMs !== null ? shortAge(van.silenceMs) : '',
    level: van.state === 'silent' || van.state === 'provisional' ? 2 : old || van.state === 'unknown' ? 1 : 0,
  }
}

function iconOf(van: Van, headingDegrees: number | null): MarkerIcon {
  if (van.state === 'silent' || van.state === 'provisional' || van.state === 'not-seen' || van.state === 'unknown') return van.state
  // Nobody expects to hear it: as quiet as one that was not seen.
  if (van.state === 'away' || van.state === 'unheard') return 'not-seen'
  return heardIcon({ motion: van.state === 'stopped' ? 'stopped' : 'moving', headingDegrees, doubtful: van.doubtful })
}

/** The image of a van that is heard. */
export function heardIcon(point: Pick<PanelPoint, 'motion' | 'headingDegrees' | 'doubtful'>): MarkerIcon {
  const shape = point.motion === 'stopped' ? 'stopped' : point.headingDegrees === null ? 'moving-unknown' : 'moving'
  return point.doubtful ? `doubtful-${shape}` : shape
}
