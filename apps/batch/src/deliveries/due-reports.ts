import { madridDay, madridTimeOfDay, type Period } from '@km0/contracts'

const DAY_MS = 86_400_000

/**
 * Days whose report is due at `nowMs`: of the last `days` that have ended those whose time of day has come since the schedule was made, oldest
 * first. Those that were missed while nothing ran are among them; each is sent once, by its key.
 */
export function dueReports(
  schedule: { readonly reportMinutes: number; readonly createdAtMs: number },
  nowMs: number,
  days: number,
): Period[] {
  // Noon is in the same day whatever the clocks did in the night.
  const noonMs = madridDay(nowMs).startMs + DAY_MS / 2
  return Array.from({ length: days }, (_, index) => madridDay(noonMs - (days - index) * DAY_MS)).filter(({ endMs }) => {
    const dueMs = madridTimeOfDay(endMs, schedule.reportMinutes)
    return dueMs <= nowMs && dueMs >= schedule.createdAtMs
  })
}
