import type { DispatchView, SilenceEpisode } from '@km0/contracts/dispatch'
import { compareNames, type Van } from '../van/prepare-fleet.ts'

/** What late points say of a silence: how long it was taken for then, and the longest stretch without a point as it is known now. */
export interface Correction {
  readonly thenMs: number
  readonly nowMs: number
  readonly points: number
}

/** null while nothing new is known. `nowMs`: the end of one that lasts. */
export function correctionOf(episode: SilenceEpisode | undefined, nowMs: number): Correction | null {
  if (episode === undefined || episode.latePoints === 0) return null
  return { thenMs: (episode.endedMs ?? nowMs) - episode.sinceMs, nowMs: episode.longestGapMs, points: episode.latePoints }
}

/** A van that is heard again, with the length of its silence. */
export interface ReturnedRow {
  readonly key: string
  readonly van: Van
  readonly sinceMs: number
  readonly endedMs: number
  readonly durationMs: number
  readonly correction: Correction | null
  /** From 1, just now, to 0, when it leaves the list. */
  readonly fresh: number
}

/** Vans that were heard again within the time that they are shown, newest first. Silences of ours are none of theirs. */
export function prepareReturned(fleet: readonly Van[], dispatch: DispatchView, nowMs: number): ReturnedRow[] {
  const { returnedShownMs } = dispatch.limits
  const vans = new Map(fleet.map((van) => [van.van, van]))
  const rows = dispatch.episodes.flatMap((episode): ReturnedRow[] => {
    const van = vans.get(episode.van)
    const { sinceMs, endedMs } = episode
    if (van === undefined || van.mute !== null || endedMs === null || episode.overOutage) return []
    const agoMs = nowMs - endedMs
    if (agoMs < 0 || agoMs >= returnedShownMs || (van.state !== 'moving' && van.state !== 'stopped')) return []
    const correction = correctionOf(episode, nowMs)
    return [{ key: van.van, van, sinceMs, endedMs, durationMs: endedMs - sinceMs, correction, fresh: 1 - agoMs / returnedShownMs }]
  })
  rows.sort((a, b) => b.endedMs - a.endedMs || compareNames(a.van.name, b.van.name))
  return rows.filter((row, index) => rows.findIndex(({ key }) => key === row.key) === index)
}
