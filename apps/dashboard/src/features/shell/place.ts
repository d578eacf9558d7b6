import type { VanState } from '../van/prepare-fleet.ts'

/** On a phone one of these at a time. */
export const VIEWS = ['map', 'no-signal', 'distances'] as const
export type View = (typeof VIEWS)[number]

/** `trails`: the last 15 minutes of every van; `points`: each point of the selected van; `zones`: of the markets; `singles`: no vans as a number. */
export const MAP_LAYERS = ['trails', 'points', 'zones', 'singles'] as const
export type MapLayer = (typeof MAP_LAYERS)[number]

/** States that can be left out of the map. */
export const HIDEABLE = ['moving', 'stopped', 'provisional', 'silent', 'not-seen', 'away', 'unknown'] as const satisfies readonly VanState[]
export type Hideable = (typeof HIDEABLE)[number]

/** What is in view. */
export interface Camera {
  readonly lon: number
  readonly lat: number
  readonly zoom: number
}

/** All that a link to the panel tells: whoever opens it sees the same. */
export interface Place {
  readonly van: string | null
  readonly view: View
  readonly hidden: readonly Hideable[]
  /** Only vans of this depot are on the map. */
  readonly depot: string | null
  readonly layers: readonly MapLayer[]
  readonly follow: boolean
  /** null: the whole province, or the van. */
  readonly camera: Camera | null
}

export const HOME_PLACE: Place = { van: null, view: 'map', hidden: [], depot: null, layers: [], follow: false, camera: null }

/** The place that an address names. What it does not understand is left out. */
export function readPlace(search: string): Place {
  const given = new URLSearchParams(search)
  const text = (name: string) => given.get(name) || null
  const some = <Name extends string>(name: string, allowed: readonly Name[]) => {
    const named = new Set(given.get(name)?.split(','))
    return allowed.filter((one) => named.has(one))
  }
  const van = text('van')
  return {
    van,
    view: some('view', VIEWS)[0] ?? 'map',
    hidden: some('hide', HIDEABLE),
    depot: text('depot'),
    layers: some('layers', MAP_LAYERS),
    follow: van !== null && given.get('follow') === '1',
    camera: readCamera(given.get('map')),
  }
}

/** The address of a place, `''` for home; parameters that are none of ours stay. */
export function writePlace(place: Place, search: string): string {
  const given = new URLSearchParams(search)
  // What is ours stands behind what is not, always in the same order.
  for (const name of ['van', 'view', 'hide', 'depot', 'layers', 'follow', 'map']) given.delete(name)
  const set = (name: string, value: string | null) => {
    if (value !== null && value !== '') given.append(name, value)
  }
  set('van', place.van)
  set('view', place.view === 'map' ? null : place.view)
  set('hide', place.hidden.join(','))
  set('depot', place.depot)
  set('layers', place.layers.join(','))
  set('follow', place.follow && place.van !== null ? '1' : null)
  set('map', place.camera === null ? null : writeCamera(place.camera))
  // Commas and slashes may stand in a query as they are, and people read addresses.
  const text = given.toString().replaceAll('%2C', ',').replaceAll('%2F', '/')
  return text === '' ? '' : `?${text}`
}

/** `zoom/latitude/longitude`, as maps write it. */
function writeCamera({ zoom, lat, lon }: Camera): string {
  return `${zoom.toFixed(2)}/${lat.toFixed(5)}/${lon.toFixed(5)}`
}

function readCamera(text: string | null): Camera | null {
  const parts = (text ?? '').split('/')
  const [zoom = Number.NaN, lat = Number.NaN, lon = Number.NaN] = parts.map((part) => (part === '' ? Number.NaN : Number(part)))
  const isPlace = parts.length === 3 && zoom >= 0 && zoom <= 24 && Math.abs(lat) <= 85 && Math.abs(lon) <= 180
  return isPlace ? { zoom, lat, lon } : null
}
