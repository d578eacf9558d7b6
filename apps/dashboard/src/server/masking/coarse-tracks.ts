import type { RecentPointsView } from '@km0/contracts'
import { gridCentre } from '@km0/contracts/grid'
import { decodePacked, encodePacked } from '@km0/contracts/packed-columns'
import { DEGREE_PARTS, type ReplayHourHeader, type VanTrackHeader } from '@km0/contracts/van-day-panel'

/** Whether a van was off shift at an instant. */
export type IsOff = (van: string, atMs: number) => boolean

const NO_PLACE = -1

/** A van's day (packed columns), its points off shift on a grid, those too that were late or refused. */
export function coarseTrack(bytes: Uint8Array<ArrayBuffer>, van: string, isOff: IsOff, gridM: number): Uint8Array<ArrayBuffer> {
  const { header, columns } = unpacked<VanTrackHeader>(bytes)
  const isCoarse = Uint8Array.from(columns[0] ?? [], (ms) => Number(isOff(van, header.fromMs + ms)))
  const list = <Point extends Place>(points: readonly Point[]) => points.map((point) => coarsePlace(point, van, isOff, gridM))
  return encodePacked({ ...header, late: list(header.late), refused: list(header.refused) }, onGrid(columns, isCoarse, gridM))
}

/** An hour of the replay (packed columns), points off shift on a grid, without the name of the place. */
export function coarseReplay(bytes: Uint8Array<ArrayBuffer>, isOff: IsOff, gridM: number): Uint8Array<ArrayBuffer> {
  const { header, columns } = unpacked<ReplayHourHeader>(bytes)
  const isCoarse = new Uint8Array(columns[0]?.length ?? 0)
  let row = 0
  for (const { van, rows } of header.vans) {
    for (const end = row + rows; row < end; row += 1) isCoarse[row] = Number(isOff(van, header.fromMs + (columns[0]?.[row] ?? 0)))
  }
  const [ms, lat, lon, place] = onGrid(columns, isCoarse, gridM)
  if (ms === undefined || lat === undefined || lon === undefined || place === undefined) return bytes
  return encodePacked(header, [ms, lat, lon, place.map((index, at) => (isCoarse[at] === 1 ? NO_PLACE : index))])
}

/** What arrived from a van lately, its points off shift on a grid. */
export function coarseRecent(view: RecentPointsView, isOff: IsOff, gridM: number): RecentPointsView {
  return { ...view, points: view.points.map((point) => coarsePlace(point, view.van, isOff, gridM)) }
}

interface Place {
  readonly lat: number | null
  readonly lon: number | null
  /** null: by its arrival. */
  readonly eventMs: number | null
  readonly arrivalMs: number | null
}

function coarsePlace<Point extends Place>(point: Point, van: string, isOff: IsOff, gridM: number): Point {
  if (point.lat === null || point.lon === null || !isOff(van, point.eventMs ?? point.arrivalMs ?? 0)) return point
  const [lat, lon] = gridCentre(point.lat, point.lon, gridM)
  return { ...point, lat, lon }
}

/** Latitude and longitude are the second and third column. */
function onGrid(columns: readonly Int32Array[], isCoarse: Uint8Array, gridM: number): Int32Array[] {
  const [ms = new Int32Array(), lats = new Int32Array(), lons = new Int32Array(), ...rest] = columns
  const [lat, lon] = [Int32Array.from(lats), Int32Array.from(lons)]
  for (const [row, coarse] of isCoarse.entries()) {
    if (coarse === 0) continue
    const [rowLat, columnLon] = gridCentre((lats[row] ?? 0) / DEGREE_PARTS, (lons[row] ?? 0) / DEGREE_PARTS, gridM)
    lat[row] = Math.round(rowLat * DEGREE_PARTS)
    lon[row] = Math.round(columnLon * DEGREE_PARTS)
  }
  return [ms, lat, lon, ...rest]
}

/** From bytes that may lie anywhere in their buffer. */
function unpacked<Header>(bytes: Uint8Array<ArrayBuffer>) {
  return decodePacked<Header>(Uint8Array.from(bytes).buffer)
}
