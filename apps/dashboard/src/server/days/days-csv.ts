import type { DaysView } from '@km0/contracts'
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

/**
 * The days as CSV (RFC 4180, UTF-8), a line a van and day that holds a row. A text that a spreadsheet would run as a formula is led by an
 * apostrophe.
 */
export function daysCsv(view: DaysView): string {
  const days = new Map(view.days.map((day) => [day.startMs, nameOfDay(day)]))
  const vans = new Map(view.vans.map((van) => [van.van, van]))
  const late = new Map(view.late.map(({ van, dayMs, tard, parcial }) => [`${van}|${dayMs}`, tard + parcial]))
  const lines = view.cells.map((cell) => {
    const van = vans.get(cell.van)
    return [
      ...[cell.van, van?.name ?? '', van?.plate ?? '', van?.depot ?? '', days.get(cell.dayMs) ?? ''].map(field),
      ...[(cell.distanceMm / 1e6).toFixed(3), cell.distanceMm, cell.positions, cell.jumps],
      ...[cell.jumpsMm ?? '', cell.gaps ?? '', cell.gapsMm ?? '', late.get(`${cell.van}|${cell.dayMs}`) ?? 0],
      field([...cell.versions.map(String), ...(cell.isLive ? ['live'] : [])].join(' ')),
    ].join(',')
  })
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`
}

function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
