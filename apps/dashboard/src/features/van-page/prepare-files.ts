import type { VanDayView } from '@km0/contracts/van-day-panel'
import { type ExportTable, isoTime } from '../data-out/table-files.ts'
import type { WindowSeries } from './prepare-windows.ts'

/** The chart of windows as a table: each end of the day until now, those that are missing or open told as such. */
export function windowsTable({ van }: Pick<VanDayView, 'van'>, series: WindowSeries, windowSizeMs: number): ExportTable {
  const open = new Map(series.openWindows.map((window) => [window.endMs, window]))
  return {
    columns: [
      ...['van', 'window_start_time', 'window_end_time', 'window_end_ms', 'state', 'distance_mm', 'positions', 'jumps'],
      ...['displacement_mm', 'version'],
    ],
    rows: series.endMs.map((endMs) => {
      const closed = series.windows.get(endMs)
      const window = closed ?? open.get(endMs)
      return [
        ...[van.van, isoTime(endMs - windowSizeMs), isoTime(endMs), endMs],
        closed === undefined ? (window === undefined ? 'missing' : 'open') : 'closed',
        ...[window?.distanceMm ?? null, window?.positions ?? null, window?.jumps ?? null],
        ...[closed?.displacementMm ?? null, closed?.version ?? null],
      ]
    }),
  }
}
