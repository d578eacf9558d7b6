import type { CsvCell, StockEpisodeView } from '@km0/contracts'
import { type ExportTable, isoTime } from '../../features/data-out/table-files.ts'
import { prepareDistances } from '../../features/distances/prepare-distances.ts'
import { prepareNoSignal } from '../../features/no-signal/prepare-no-signal.ts'
import type { Van } from '../../features/van/prepare-fleet.ts'
import type { Screen } from './screen.ts'

export { type ExportTable, geoJsonOf, isoTime } from '../../features/data-out/table-files.ts'

const VAN_COLUMNS = ['van', 'name', 'plate', 'depot', 'state', 'lat', 'lon', 'place', 'event_time', 'event_ms']
const vanCells = (van: Van): CsvCell[] => [
  ...[van.van, van.name, van.plate, van.depotId, van.state, van.point?.lat ?? null, van.point?.lon ?? null, van.place],
  ...[isoTime(van.point?.eventMs ?? null), van.point?.eventMs ?? null],
]

/** Every van, with its newest point. */
export function fleetTable({ fleet }: Screen): ExportTable {
  return {
    columns: [...VAN_COLUMNS, 'speed_km_h', 'heading_degrees', 'battery_percent', 'doubtful', 'silent_s'],
    rows: fleet.map((van) => [
      ...vanCells(van),
      ...[van.point?.speedMmPerS == null ? null : rounded((van.point.speedMmPerS * 3.6) / 1_000, 1), van.point?.headingDegrees ?? null],
      ...[van.point?.batteryPercent ?? null, String(van.doubtful), seconds(van.silenceMs)],
    ]),
  }
}

/** The list of vans without signal, oldest silence first. */
export function noSignalTable({ fleet, model, nowMs }: Screen): ExportTable {
  const { rows } = prepareNoSignal(fleet, model.acknowledgements, model.limits.nearDistanceMm, model.dispatch, nowMs)
  return {
    columns: [
      ...VAN_COLUMNS,
      'since_time',
      'since_ms',
      'silent_s',
      'near_silent',
      'hidden_by_outage',
      'acknowledged_by',
      'acknowledged_time',
      'note',
    ],
    rows: rows.map((row) => [
      ...vanCells(row.van),
      ...[isoTime(row.lastMs), row.lastMs, seconds(row.durationMs), row.near, String(row.hidden)],
      ...[row.acknowledgement?.actor.name ?? null, isoTime(row.acknowledgement?.atMs ?? null), row.acknowledgement?.note ?? null],
    ]),
  }
}

/** The newest closed window of each van that has one. */
export function distancesTable({ fleet, model }: Screen): ExportTable {
  const { window, rows } = prepareDistances(fleet, model.distances, model.dispatch)
  return {
    columns: [...VAN_COLUMNS, 'window_start_time', 'window_end_time', 'window_end_ms', 'distance_m', 'distance_mm', 'jumps'],
    rows: rows.map(({ van, distanceMm, jumps }) => [
      ...vanCells(van),
      ...[isoTime(window?.startMs ?? null), isoTime(window?.endMs ?? null), window?.endMs ?? null],
      ...[distanceMm === null ? null : rounded(distanceMm / 1_000, 1), distanceMm, jumps],
    ]),
  }
}

/** Low stock that lasts or has ended within the day. */
export function stockTable(episodes: readonly StockEpisodeView[], market: string | null): ExportTable {
  return {
    columns: [
      'product',
      'market',
      'start_time',
      'start_ms',
      'end_time',
      'end_ms',
      'minimum',
      'threshold',
      'stock',
      'stock_time',
      'acknowledged_by',
      'note',
    ],
    rows: episodes
      .filter((episode) => market === null || episode.market === market)
      .map((episode) => [
        ...[episode.product, episode.market, isoTime(episode.startMs), episode.startMs, isoTime(episode.endMs), episode.endMs],
        ...[episode.minimum, episode.threshold, episode.stock, isoTime(episode.stockMs)],
        ...[episode.acknowledgement?.actor.name ?? null, episode.acknowledgement?.note ?? null],
      ]),
  }
}

const rounded = (value: number, digits: number) => Math.round(value * 10 ** digits) / 10 ** digits
const seconds = (ms: number | null) => (ms === null ? null : Math.round(ms / 1_000))
