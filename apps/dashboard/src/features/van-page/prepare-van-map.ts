import { metresBetween } from '@km0/contracts/metres-between'
import type { Marker } from '../map/prepare-markers.ts'
import type { MapPoint } from '../playback/place-map.ts'
import { lastAt, type PlaceThen, type Track } from '../playback/track-columns.ts'
import type { OddPoint } from './prepare-points.ts'
import type { SpanKind } from './prepare-timeline.ts'

/** What has just been driven is drawn over the track of the day. */
export const RECENT_MS = 15 * 60_000

/** The track between two moments as lines, broken where nothing came for longer than `gapMs`. */
export function linesOf(
  track: Track,
  gapMs: number,
  fromMs = Number.NEGATIVE_INFINITY,
  toMs = Number.POSITIVE_INFINITY,
): [number, number][][] {
  const lines: [number, number][][] = []
  let line: [number, number][] = []
  let beforeMs = Number.NEGATIVE_INFINITY
  for (let index = Math.max(0, lastAt(track.eventMs, fromMs)); index < track.count; index += 1) {
    const atMs = track.eventMs[index] ?? 0
    if (atMs > toMs) break
    if (atMs - beforeMs > gapMs) {
      line = []
      lines.push(line)
    }
    line.push([track.lon[index] ?? 0, track.lat[index] ?? 0])
    beforeMs = atMs
  }
  return lines
}

/** West, south, east, north; null without a point. */
export function boundsOf({ count, lat, lon }: Track): [number, number, number, number] | null {
  if (count === 0) return null
  const least = (of: Float64Array) => of.reduce((a, b) => Math.min(a, b))
  const most = (of: Float64Array) => of.reduce((a, b) => Math.max(a, b))
  return [least(lon), least(lat), most(lon), most(lat)]
}

export function mapPoints(points: readonly OddPoint[]): MapPoint[] {
  return points.flatMap(({ lat, lon, kind, isGuess }) =>
    lat === null || lon === null ? [] : [{ lat, lon, kind: isGuess ? 'guess' : kind }],
  )
}

/** The van where it was; none before its first point. */
export function vanMarker(van: string, name: string, place: PlaceThen | null, kind: SpanKind): Marker[] {
  if (place === null) return []
  const icon = kind === 'silent' ? 'silent' : kind === 'stopped' ? 'stopped' : place.headingDegrees === null ? 'moving-unknown' : 'moving'
  const { lat, lon, eventMs } = place
  return [{ van, lat, lon, eventMs, icon, headingDegrees: place.headingDegrees ?? 0, label: name, age: '', level: 0 }]
}

/** Kilometres an hour from the point before a moment to the one after it; null where there is no step. */
export function speedAt(track: Track, atMs: number, gapMs: number): number | null {
  const index = lastAt(track.eventMs, atMs)
  if (index < 0 || index + 1 >= track.count) return null
  const stepMs = (track.eventMs[index + 1] ?? 0) - (track.eventMs[index] ?? 0)
  if (stepMs <= 0 || stepMs > gapMs) return null
  const [a, b] = [index, index + 1].map((at) => ({ lat: track.lat[at] ?? 0, lon: track.lon[at] ?? 0 }))
  return a === undefined || b === undefined ? null : Math.round((metresBetween(a, b) / stepMs) * 3_600)
}
