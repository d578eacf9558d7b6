import { metresBetween } from '@km0/contracts/metres-between'
import type { VanDayRules, VanDayView, VanDayWindow } from '@km0/contracts/van-day-panel'
import { lastAt, type Track } from '../playback/track-columns.ts'

const MM_PER_KM = 1e6

/** A window that has not closed: what its points say so far. */
export interface OpenWindow {
  readonly startMs: number
  readonly endMs: number
  readonly distanceMm: number
  readonly positions: number
  readonly jumps: number
}

/** What the chart draws: one entry for every end of a window of the day until now. Kilometres; null is a gap. */
export interface WindowSeries {
  readonly endMs: readonly number[]
  readonly closed: readonly (number | null)[]
  readonly open: readonly (number | null)[]
  readonly windows: ReadonlyMap<number, VanDayWindow>
  readonly openWindows: readonly OpenWindow[]
}

/**
 * Windows of a day as series. A window without a point has no row, and is a gap, as is one that is missing. Windows that have begun and not closed
 * (end after the watermark) are told apart, from the points that are there.
 */
export function prepareWindows(view: Pick<VanDayView, 'day' | 'windows' | 'rules' | 'progress' | 'nowMs'>, track: Track): WindowSeries {
  const { day, rules, nowMs } = view
  const watermarkMs = view.progress?.feed.watermarkMs ?? Number.NEGATIVE_INFINITY
  const windows = new Map(view.windows.map((window) => [window.endMs, window]))
  const endMs: number[] = []
  const first = Math.floor(day.startMs / rules.slideMs) * rules.slideMs + rules.slideMs
  for (let end = first; end <= day.endMs && end - rules.windowSizeMs < nowMs; end += rules.slideMs) endMs.push(end)
  const openWindows = endMs
    .filter((end) => end > watermarkMs && !windows.has(end))
    .map((end) => provisional(track, end - rules.windowSizeMs, end, rules))
    .filter(({ positions }) => positions > 0)
  const openByEnd = new Map(openWindows.map((window) => [window.endMs, window]))
  const km = (mm: number | undefined) => (mm === undefined ? null : mm / MM_PER_KM)
  return {
    endMs,
    closed: endMs.map((end) => km(windows.get(end)?.distanceMm)),
    open: endMs.map((end) => km(openByEnd.get(end)?.distanceMm)),
    windows,
    openWindows,
  }
}

/** Section 4 of the semantics over the points that are known, in metres on a plane: near enough for what is not final. */
export function provisional(
  track: Track,
  startMs: number,
  endMs: number,
  rules: Pick<VanDayRules, 'maxSegmentMs' | 'topSpeedMmPerMs'>,
): OpenWindow {
  let [distanceMm, positions, jumps] = [0, 0, 0]
  for (let index = lastAt(track.eventMs, startMs - 1) + 1; index < track.count && (track.eventMs[index] ?? 0) < endMs; index += 1) {
    positions += 1
    if (index === 0) continue
    const stepMs = (track.eventMs[index] ?? 0) - (track.eventMs[index - 1] ?? 0)
    if (rules.maxSegmentMs > 0 && stepMs > rules.maxSegmentMs) continue
    const [here, before] = [index, index - 1].map((at) => ({ lat: track.lat[at] ?? 0, lon: track.lon[at] ?? 0 }))
    const mm = here === undefined || before === undefined ? 0 : Math.round(metresBetween(before, here) * 1_000)
    if (rules.topSpeedMmPerMs > 0 && mm > rules.topSpeedMmPerMs * stepMs) jumps += 1
    else distanceMm += mm
  }
  return { startMs, endMs, distanceMm, positions, jumps }
}
