import { csvText, type DaysView, type Period } from '@km0/contracts'
import type { DataOut } from '@km0/serving'

const COLUMNS = [
  ...[
    'van',
    'name',
    'plate',
    'depot',
    'day',
    'distance_km',
    'positions',
    'jumps',
    'late_points_not_in',
    'silences',
    'silent_minutes',
    'versions',
  ],
] as const

/** `YYYY-MM-DD` of a day of Europe/Madrid. */
export function nameOfDay(day: Period): string {
  return new Date((day.startMs + day.endMs) / 2).toISOString().slice(0, 10)
}

/** One day, a line a van that is registered or was heard. Kilometres with a point; silences are those that no outage of ours overlaps. */
export function dailyReport(view: Omit<DaysView, 'nowMs'>, silences: Awaited<ReturnType<DataOut['readDaySilences']>>, day: Period): string {
  const cells = new Map(view.cells.map((cell) => [cell.van, cell]))
  const late = new Map(view.late.map(({ van, tard, parcial }) => [van, tard + parcial]))
  const silent = new Map(silences.map((row) => [row.van, row]))
  const rows = view.vans.map(({ van, name, plate, depot }) => {
    const cell = cells.get(van)
    return [
      ...[van, name, plate, depot, nameOfDay(day)],
      ...[((cell?.distanceMm ?? 0) / 1e6).toFixed(3), cell?.positions ?? 0, cell?.jumps ?? 0, late.get(van) ?? 0],
      ...[silent.get(van)?.silences ?? 0, Math.round((silent.get(van)?.silentMs ?? 0) / 60_000)],
      [...(cell?.versions ?? []).map(String), ...(cell?.isLive === true ? ['live'] : [])].join(' '),
    ]
  })
  return csvText(COLUMNS, rows)
}
