import { type CsvOptions, csvText, type DaysView } from '@km0/contracts'
import { nameOfDay } from './day-names.ts'

const COLUMNS = [
  'van',
  'name',
  'plate',
  'depot',
  'day',
  'distance_km',
  'distance_mm',
  'positions',
  'jumps',
  'jumps_mm',
  'gaps',
  'gaps_mm',
  'late_points_not_in',
  'versions',
] as const

/** The days as CSV, a line a van and day that holds a row. */
export function daysCsv(view: DaysView, options: CsvOptions = {}): string {
  const days = new Map(view.days.map((day) => [day.startMs, nameOfDay(day)]))
  const vans = new Map(view.vans.map((van) => [van.van, van]))
  const late = new Map(view.late.map(({ van, dayMs, tard, parcial }) => [`${van}|${dayMs}`, tard + parcial]))
  const rows = view.cells.map((cell) => {
    const van = vans.get(cell.van)
    return [
      ...[cell.van, van?.name ?? '', van?.plate ?? '', van?.depot ?? '', days.get(cell.dayMs) ?? ''],
      ...[(cell.distanceMm / 1e6).toFixed(3), cell.distanceMm, cell.positions, cell.jumps],
      ...[cell.jumpsMm, cell.gaps, cell.gapsMm, late.get(`${cell.van}|${cell.dayMs}`) ?? 0],
      [...cell.versions.map(String), ...(cell.isLive ? ['live'] : [])].join(' '),
    ]
  })
  return csvText(COLUMNS, rows, options)
}
