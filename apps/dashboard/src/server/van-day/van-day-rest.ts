import { isName, madridDay, type Period, type PositionsSettings, type Scope } from '@km0/contracts'
import { encodePacked, UNKNOWN_INT32 } from '@km0/contracts/packed-columns'
import { DEGREE_PARTS, type LakeTrouble, type PartitionProgress, type VanDayView, type VanTrackHeader } from '@km0/contracts/van-day-panel'
import type { Serving } from '@km0/serving'
import { dayNamed } from '../days/day-names.ts'
import { Refusal } from '../guard.ts'
import type { AnswerCache } from '../lake/answer-cache.ts'
import { type LakeReads, LakeTroubleError } from '../lake/lake-reads.ts'
import { goneSignal, sendZipped, zip } from '../lake/send-packed.ts'
import type { MaskingState } from '../masking/masking-state.ts'
import { json, type Routes, sessionOf } from '../rest.ts'
import { roomOf } from '../scope.ts'

/** A track is asked of the lake again after so long. */
const TRACK_FRESH_MS = 60_000
/** The same for the day that goes on, and for one that the lake could not give. */
const TRACK_FRESH_TODAY_MS = 10_000
/** Vans of a partition that are named. */
const NAMED_VANS = 5
/** A day of points, one in ten seconds. */
const STORED_POINTS = 9_000

export interface VanDayRestOptions {
  readonly serving: Pick<Serving, 'readVanDay' | 'readTrack'>
  readonly lake: LakeReads
  readonly cache: AnswerCache
  readonly state: Pick<MaskingState, 'feed' | 'trail' | 'nextOffsets' | 'newestOf' | 'trackFor'>
  /** Ends of the source partitions a moment ago; null when they are not known. */
  readonly endOffsets: () => ReadonlyMap<number, number> | null
  readonly rules: PositionsSettings
  readonly outageAfterMs: number
  /** Present time of the platform. */
  readonly nowMs: () => number
  readonly machineNowMs?: () => number
}

/** A van on one day: what the store and the panel know of it, and its track as the lake has it. */
export function vanDayRoutes(options: VanDayRestOptions): Routes {
  return new Map([
    [
      '/api/van-day',
      {
        GET: async (request, response, url) => {
          const { van, day } = vanAndDay(url, options.nowMs())
          json(response, 200, await viewOf(options, sessionOf(request).scope, van, day))
        },
      },
    ],
    [
      '/api/van-day/track',
      {
        GET: async (request, response, url) => {
          const { van, day } = vanAndDay(url, options.nowMs())
          const { scope } = sessionOf(request)
          await mustSee(options, scope, van, day)
          const signal = goneSignal(response)
          const isToday = day.endMs > options.nowMs()
          const key = `van|${roomOf(scope)}|${van}|${day.startMs}`
          try {
            const bytes = await options.cache.get(key, isToday ? TRACK_FRESH_TODAY_MS : TRACK_FRESH_MS, signal, (given) =>
              trackOf(options, scope, van, day, given).then((bytes) => zip(options.state.trackFor(scope, van, bytes))),
            )
            await sendZipped(request, response, bytes)
          } catch (error) {
            if (!signal.aborted) throw error
          }
        },
      },
    ],
  ])
}

/** `?van=&day=YYYY-MM-DD`; without a day the one that goes on. */
function vanAndDay(url: URL, nowMs: number): { readonly van: string; readonly day: Period } {
  const van = url.searchParams.get('van') ?? ''
  if (!isName(van)) throw new Refusal(400, 'which van?', `Ask for ${url.pathname}?van=NAME&day=YYYY-MM-DD.`)
  const name = url.searchParams.get('day')
  return { van, day: name === null ? madridDay(nowMs) : dayNamed(name) }
}

async function viewOf(options: VanDayRestOptions, scope: Scope, van: string, day: Period): Promise<VanDayView> {
  const rows = await options.serving.readVanDay(scope, van, day)
  if (rows === null) throw unknown(van)
  const nowMs = options.nowMs()
  const { rules } = options
  return {
    ...rows,
    nowMs,
    rules: {
      windowSizeMs: rules.windowSizeMs,
      slideMs: rules.slideMs,
      sessionGapMs: rules.sessionGapMs,
      maxSegmentMs: rules.maxSegmentMs,
      topSpeedMmPerMs: rules.topSpeedMmPerMs,
      delayMs: rules.delayMs,
      allowedLatenessMs: rules.allowedLatenessMs,
      stopDistanceMm: rules.stopDistanceMm,
      stopAfterMs: rules.stopAfterMs,
      outageAfterMs: options.outageAfterMs,
    },
    progress: rows.partition === null ? null : progressOf(options, scope, rows.partition),
    live: day.startMs <= nowMs && nowMs < day.endMs ? (options.state.trail(scope, van)?.points ?? []) : [],
  }
}

function progressOf(options: VanDayRestOptions, scope: Scope, partition: number): PartitionProgress | null {
  const machineNowMs = (options.machineNowMs ?? Date.now)()
  const feed = options.state.feed(machineNowMs).partitions.find((one) => one.partition === partition)
  if (feed === undefined) return null
  const end = options.endOffsets()?.get(partition)
  const next = options.state.nextOffsets().get(partition)
  return {
    feed,
    behindRecords: end === undefined || next === undefined ? null : Math.max(0, end - next),
    newestVans: options.state.newestOf(scope, partition, NAMED_VANS),
  }
}

async function mustSee({ serving }: VanDayRestOptions, scope: Scope, van: string, day: Period): Promise<void> {
  if (scope.kind === 'all') return
  if ((await serving.readVanDay(scope, van, day)) === null) throw unknown(van)
}

/** From the lake; where that cannot be read, what the store has, and why. */
async function trackOf(
  options: VanDayRestOptions,
  scope: Scope,
  van: string,
  day: Period,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await options.lake.vanDay({ van, fromMs: day.startMs, toMs: day.endMs }, signal)
  } catch (error) {
    if (!(error instanceof LakeTroubleError)) throw error
    return storedTrack(options, scope, van, day, error.trouble)
  }
}

async function storedTrack(
  { serving }: VanDayRestOptions,
  scope: Scope,
  van: string,
  day: Period,
  why: LakeTrouble,
): Promise<Uint8Array<ArrayBuffer>> {
  const points = await serving.readTrack(scope, van, { fromMs: day.startMs, toMs: day.endMs, maxPoints: STORED_POINTS })
  const header: VanTrackHeader = {
    van,
    fromMs: day.startMs,
    toMs: day.endMs,
    source: 'store',
    why,
    pointCount: points.length,
    late: [],
    refused: [],
    isCut: false,
  }
  return encodePacked(header, [
    Int32Array.from(points, ([, , ms]) => ms - day.startMs),
    Int32Array.from(points, ([, lat]) => Math.round(lat * DEGREE_PARTS)),
    Int32Array.from(points, ([lon]) => Math.round(lon * DEGREE_PARTS)),
    new Int32Array(points.length).fill(UNKNOWN_INT32),
  ])
}

function unknown(van: string): Refusal {
  return new Refusal(404, `nothing is known of ${van} on that day`, 'Use a van and a day as GET /api/days has them.')
}
