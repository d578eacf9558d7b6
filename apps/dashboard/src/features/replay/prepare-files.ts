import { type ExportTable, isoTime } from '../data-out/table-files.ts'
import type { ReplayMoment } from './prepare-replay.ts'

/** Where everybody was at a moment. */
export function momentTable({ vans }: ReplayMoment, atMs: number): ExportTable {
  return {
    columns: ['van', 'name', 'at_time', 'state', 'lat', 'lon', 'place', 'event_time', 'event_ms', 'heading_degrees'],
    rows: vans.map(({ van, name, state, lat, lon, place, eventMs, headingDegrees }) => [
      ...[van, name, isoTime(atMs), state, lat, lon, place, isoTime(eventMs), eventMs, headingDegrees],
    ]),
  }
}
