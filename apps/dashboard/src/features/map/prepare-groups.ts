import type { Marker } from './prepare-markers.ts'

/** So many vans that are heard, in one square of the screen, are drawn as one number. */
export const GROUP_MIN_VANS = 8
export const GROUP_CELL_PX = 44
/** Nearer than this every van is drawn: two that stand side by side can be told apart. */
export const GROUP_BELOW_ZOOM = 13
const TILE_PX = 512

export interface VanGroup {
  readonly lon: number
  readonly lat: number
  readonly count: number
  /** Of them. */
  readonly moving: number
}

export interface Groups {
  readonly groups: readonly VanGroup[]
  /** Vans that are drawn in a group. */
  readonly grouped: ReadonlySet<string>
}

export const NO_GROUPS: Groups = { groups: [], grouped: new Set() }

/** Zoom in steps of a half, so that a view that is being zoomed does not group anew at each frame. */
export function groupZoom(zoom: number): number {
  return Math.round(zoom * 2) / 2
}

/**
 * What is too dense to be seen van by van at a zoom, as numbers. Who needs somebody's eyes (no signal, old news, doubtful, selected) is never
 * hidden in one. A group stands in the middle of its vans.
 */
export function prepareGroups(markers: readonly Marker[], zoom: number, selected: string | null): Groups {
  if (zoom >= GROUP_BELOW_ZOOM) return NO_GROUPS
  const cells = new Map<number, Marker[]>()
  const across = (TILE_PX * 2 ** groupZoom(zoom)) / GROUP_CELL_PX
  for (const marker of markers) {
    if (marker.level !== 0 || marker.van === selected || marker.icon.startsWith('doubtful')) continue
    const key = Math.floor(mercatorX(marker.lon) * across) * 4_194_304 + Math.floor(mercatorY(marker.lat) * across)
    const cell = cells.get(key)
    if (cell === undefined) cells.set(key, [marker])
    else cell.push(marker)
  }
  const groups: VanGroup[] = []
  const grouped = new Set<string>()
  for (const cell of cells.values()) {
    if (cell.length < GROUP_MIN_VANS) continue
    let [lon, lat, moving] = [0, 0, 0]
    for (const marker of cell) {
      lon += marker.lon
      lat += marker.lat
      if (marker.icon !== 'stopped') moving += 1
      grouped.add(marker.van)
    }
    groups.push({ lon: lon / cell.length, lat: lat / cell.length, count: cell.length, moving })
  }
  return { groups, grouped }
}

function mercatorX(lon: number): number {
  return (lon + 180) / 360
}

function mercatorY(lat: number): number {
  return 0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)
}
