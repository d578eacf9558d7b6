import { metresBetween } from '@km0/contracts/metres-between'
import { decodePacked, UNKNOWN_INT32 } from '@km0/contracts/packed-columns'
import { DEGREE_PARTS, type VanTrackHeader } from '@km0/contracts/van-day-panel'

const RADIANS = Math.PI / 180

/** Points in event order, one entry a column. */
export interface Track {
  readonly count: number
  readonly eventMs: Float64Array
  readonly lat: Float64Array
  readonly lon: Float64Array
  /** Arrival − event time; NaN where it is not known. */
  readonly delayMs: Float64Array
}

export interface Place {
  readonly lat: number
  readonly lon: number
}

/** Where somebody was at a moment, as far as points tell. */
export interface PlaceThen extends Place {
  /** Event time of the newest point at or before. */
  readonly eventMs: number
  readonly ageMs: number
  /** Whole degrees from north, from that point to the next; null where it does not move. */
  readonly headingDegrees: number | null
}

export const EMPTY_TRACK: Track = {
  count: 0,
  eventMs: new Float64Array(0),
  lat: new Float64Array(0),
  lon: new Float64Array(0),
  delayMs: new Float64Array(0),
}

export function readTrack(buffer: ArrayBuffer): { readonly header: VanTrackHeader; readonly track: Track } {
  const { header, columns } = decodePacked<VanTrackHeader>(buffer)
  const [event, lat, lon, delay] = columns as [Int32Array, Int32Array, Int32Array, Int32Array]
  return {
    header,
    track: {
      count: event.length,
      eventMs: Float64Array.from(event, (ms) => header.fromMs + ms),
      lat: Float64Array.from(lat, (parts) => parts / DEGREE_PARTS),
      lon: Float64Array.from(lon, (parts) => parts / DEGREE_PARTS),
      delayMs: Float64Array.from(delay, (ms) => (ms === UNKNOWN_INT32 ? Number.NaN : ms)),
    },
  }
}

/** The track with points after its end; of those what it has already is left out. */
export function extended(track: Track, points: readonly (readonly [lon: number, lat: number, eventMs: number])[]): Track {
  const endMs = track.eventMs[track.count - 1] ?? Number.NEGATIVE_INFINITY
  const more = points.filter(([, , ms]) => ms > endMs)
  if (more.length === 0) return track
  const joined = (column: Float64Array, of: (point: (typeof more)[number]) => number) => Float64Array.from([...column, ...more.map(of)])
  return {
    count: track.count + more.length,
    eventMs: joined(track.eventMs, ([, , ms]) => ms),
    lat: joined(track.lat, ([, lat]) => lat),
    lon: joined(track.lon, ([lon]) => lon),
    delayMs: joined(track.delayMs, () => Number.NaN),
  }
}

/** Index of the last point at or before a moment between two rows, −1 when there is none. */
export function lastAt(eventMs: Float64Array, atMs: number, first = 0, end = eventMs.length): number {
  let [low, high] = [first, end]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((eventMs[middle] ?? 0) <= atMs) low = middle + 1
    else high = middle
  }
  return low > first ? low - 1 : -1
}

/** Where it was: on the line between two points that are at most `gapMs` apart, else at the last one. null before the first point. */
export function placeAt(
  { eventMs, lat, lon }: Pick<Track, 'eventMs' | 'lat' | 'lon'>,
  atMs: number,
  gapMs: number,
  first = 0,
  end = eventMs.length,
): PlaceThen | null {
  const index = lastAt(eventMs, atMs, first, end)
  if (index < 0) return null
  const here = { lat: lat[index] ?? 0, lon: lon[index] ?? 0 }
  const thisMs = eventMs[index] ?? 0
  const known = { eventMs: thisMs, ageMs: atMs - thisMs }
  const next = index + 1
  const stepMs = next < end ? (eventMs[next] ?? 0) - thisMs : Number.POSITIVE_INFINITY
  if (stepMs > gapMs) return { ...here, ...known, headingDegrees: null }
  const there = { lat: lat[next] ?? 0, lon: lon[next] ?? 0 }
  const part = (atMs - thisMs) / stepMs
  return {
    lat: here.lat + (there.lat - here.lat) * part,
    lon: here.lon + (there.lon - here.lon) * part,
    ...known,
    headingDegrees: metresBetween(here, there) < 2 ? null : headingOf(here, there),
  }
}

function headingOf(from: Place, to: Place): number {
  const east = (to.lon - from.lon) * Math.cos(from.lat * RADIANS)
  return Math.round((Math.atan2(east, to.lat - from.lat) / RADIANS + 360) % 360)
}
