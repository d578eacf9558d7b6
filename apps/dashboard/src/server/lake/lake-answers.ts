import { encodePacked, UNKNOWN_INT32 } from '@km0/contracts/packed-columns'
import { DEGREE_PARTS, REPLAY_LOOK_BACK_MS, type ReplayHourHeader, type VanTrackHeader } from '@km0/contracts/van-day-panel'
import { type Lake, readSamples, readVanLate, readVanRefused, readVanTrack } from '@km0/lake'
import type { PlaceOf } from '../places.ts'
import type { ReadLimits } from './lake-environment.ts'
import type { ReplayQuery, VanDayQuery } from './lake-reads.ts'

/** Late and refused points of one answer at most. */
const LISTED_AT_MOST = 2_000
const HOUR_MS = 3_600_000
/** Vans that are expected when the number is not known: the sample is chosen so that their points fit. */
const FEWEST_VANS = 200

/** What an answer is made with. */
export interface AnswerContext {
  readonly lake: Lake
  readonly limits: ReadLimits
  readonly placeOf: PlaceOf
  readonly signal: AbortSignal
}

/** Track, late and refused points of a van, thinned evenly to the limit. */
export async function answerVanDay({ lake, limits, signal }: AnswerContext, query: VanDayQuery): Promise<Uint8Array<ArrayBuffer>> {
  const track = await readVanTrack(lake, query, signal)
  const late = await readVanLate(lake, query, LISTED_AT_MOST + 1, signal)
  const refused = await readVanRefused(lake, query, LISTED_AT_MOST + 1, signal)
  const header: VanTrackHeader = {
    ...query,
    source: 'lake',
    why: null,
    pointCount: track.rowCount,
    late: late.slice(0, LISTED_AT_MOST),
    refused: refused.slice(0, LISTED_AT_MOST),
    isCut: late.length > LISTED_AT_MOST || refused.length > LISTED_AT_MOST,
  }
  const kept = evenly(track.rowCount, limits.points)
  const column = (of: (row: number) => number) => Int32Array.from(kept, (row) => of(row))
  return encodePacked(header, [
    column((row) => (track.eventMs[row] ?? 0) - query.fromMs),
    column((row) => degrees(track.lat[row] ?? 0)),
    column((row) => degrees(track.lon[row] ?? 0)),
    column((row) => delay(track.delayMs[row] ?? Number.NaN)),
  ])
}

/** Where everybody was, thinned so that the points of the vans fit the limit. */
export async function answerReplay({ lake, limits, placeOf, signal }: AnswerContext, query: ReplayQuery): Promise<Uint8Array<ArrayBuffer>> {
  const { fromMs, toMs, vans } = query
  const sampleMs = sampleFor(limits, vans?.length ?? FEWEST_VANS, toMs - fromMs)
  const read = (ms: number) => readSamples(lake, { ...query, sampleMs: ms, lookBackMs: REPLAY_LOOK_BACK_MS }, signal)
  let used = sampleMs
  let samples = await read(used)
  if (samples.eventMs.length > limits.points) {
    used = Math.ceil((sampleMs * samples.eventMs.length) / limits.points / 1_000) * 1_000
    samples = await read(used)
  }
  const places = new Map<string, number>()
  const placeIndex = (row: number) => {
    const name = placeOf(samples.lat[row] ?? 0, samples.lon[row] ?? 0)
    if (name === null) return -1
    const known = places.get(name) ?? places.size
    places.set(name, known)
    return known
  }
  const rows = samples.eventMs
  const columns = [
    Int32Array.from(rows, (ms) => ms - fromMs),
    Int32Array.from(samples.lat, degrees),
    Int32Array.from(samples.lon, degrees),
    Int32Array.from(rows, (_, row) => placeIndex(row)),
  ]
  const header: ReplayHourHeader = { fromMs, toMs, sampleMs: used, vans: samples.vans, places: [...places.keys()] }
  return encodePacked(header, columns)
}

/** The sample of the setting, or a longer one, in whole seconds, with which so many vans fit the limit. */
export function sampleFor(limits: ReadLimits, vans: number, spanMs: number = HOUR_MS): number {
  const least = (spanMs * Math.max(1, vans)) / limits.points
  return Math.max(limits.sampleMs, Math.ceil(least / 1_000) * 1_000)
}

/** Which of `count` rows are kept, the first and the last among them. */
export function evenly(count: number, atMost: number): number[] {
  if (count <= atMost) return Array.from({ length: count }, (_, row) => row)
  const step = (count - 1) / Math.max(1, atMost - 1)
  return Array.from({ length: atMost }, (_, index) => Math.round(index * step))
}

const degrees = (value: number) => Math.round(value * DEGREE_PARTS)
const delay = (ms: number) => (Number.isNaN(ms) ? UNKNOWN_INT32 : Math.max(-2_000_000_000, Math.min(2_000_000_000, ms)))
