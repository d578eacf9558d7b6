import { type BackfillRequest, madridDay, madridTimeOfDay, type NightFigures, type NightRun } from '@km0/contracts'

const DAY_MS = 86_400_000

export interface NightDay {
  readonly dayMs: number
  readonly dayEndMs: number
  /** When the schedule wants the day's run. */
  readonly dueMs: number
}

/**
 * Days whose run is due: of the last `days` that have ended those whose time has come, oldest first. Those that were missed while nothing ran are
 * among them. `minutes`: time of day in Madrid, after midnight.
 */
export function dueDays(nowMs: number, minutes: number, days: number): NightDay[] {
  const noonMs = madridDay(nowMs).startMs + DAY_MS / 2
  return Array.from({ length: days }, (_, index) => madridDay(noonMs - (days - index) * DAY_MS))
    .map(({ startMs, endMs }) => ({ dayMs: startMs, dayEndMs: endMs, dueMs: madridTimeOfDay(endMs, minutes) }))
    .filter(({ dueMs }) => dueMs <= nowMs)
}

/** What a night computes: its day whole, and the dirty hours of before, cut off where the day begins. */
export function nightRequests(day: Pick<NightRun, 'dayMs' | 'dayEndMs'>, dirty: readonly BackfillRequest[]): BackfillRequest[] {
  const before = dirty.flatMap((request) => {
    const toMs = Math.min(request.toMs, day.dayMs)
    return request.fromMs < toMs ? [{ ...request, toMs }] : []
  })
  const whole = { fromMs: day.dayMs, toMs: day.dayEndMs, owners: null }
  return [{ pipeline: 'positions', ...whole }, { pipeline: 'stock', ...whole }, ...before]
}

export interface NightLimits {
  /** Share of the served distance by which it may change without a person. */
  readonly maxChange: number
  /** Share of the served rows that may be missing. */
  readonly maxMissing: number
}

/** Why a version is not published without a person; empty when every check passes. */
export function failedChecks(figures: NightFigures, { maxChange, maxMissing }: NightLimits): string[] {
  const { servedRows, freshRows, servedMm, freshMm, lostVans } = figures
  const failed: string[] = []
  if (freshRows < servedRows * (1 - maxMissing)) failed.push(`it has ${freshRows} windows, served are ${servedRows}`)
  if (lostVans.length > 0) failed.push(`registered vans are lost: ${some(lostVans)}`)
  const change = servedMm === 0 ? 0 : Math.abs(freshMm - servedMm) / servedMm
  if (change > maxChange) failed.push(`the distance changes by ${percent(change)}, more than ${percent(maxChange)}`)
  return failed
}

/** What a person should be told of a run now: '' for nothing. */
export function newsOf(run: Pick<NightRun, 'state' | 'dueMs'>, nowMs: number, alarmAfterMs: number): '' | 'late' | 'held' | 'failed' {
  if (run.state === 'held' || run.state === 'failed') return run.state
  const isOpen = run.state === 'waiting' || run.state === 'running'
  return isOpen && nowMs - run.dueMs > alarmAfterMs ? 'late' : ''
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`
const some = (names: readonly string[]) =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 5).join(', ')} and ${names.length - 5} more`
