import type { ZonesView } from '@km0/contracts/map-panel'
import type { TrailPoint } from '@km0/contracts/panel'

/** How a point of a van was taken. */
export type Verdict = 'accepted' | 'late' | 'refused'

export interface MapPoint {
  readonly lon: number
  readonly lat: number
  readonly verdict: Verdict
}

/** What is drawn of the ways of vans, and below them. Every list of a way is of longitude, latitude and event time. */
export interface MapLines {
  /** Of the selected van, as it was known at the time. */
  readonly trail: readonly TrailPoint[]
  /** Stretches of it that came late. */
  readonly backlog: readonly (readonly TrailPoint[])[]
  /** Of the other vans. */
  readonly trails: readonly (readonly TrailPoint[])[]
  /** Single points of the selected van. */
  readonly points: readonly MapPoint[]
  /** Zones of markets. */
  readonly zones: ZonesView['features']
}

export const NO_LINES: MapLines = { trail: [], backlog: [], trails: [], points: [], zones: [] }

const place = ([lon, lat]: TrailPoint): [number, number] => [lon, lat]

export function lineFeatures(lines: readonly (readonly TrailPoint[])[]) {
  return {
    type: 'FeatureCollection' as const,
    features: lines
      .filter((line) => line.length > 1)
      .map((line) => ({
        type: 'Feature' as const,
        properties: {},
        geometry: { type: 'LineString' as const, coordinates: line.map(place) },
      })),
  }
}

export function pointFeatures(points: readonly MapPoint[]) {
  return {
    type: 'FeatureCollection' as const,
    features: points.map(({ lon, lat, verdict }) => ({
      type: 'Feature' as const,
      properties: { verdict },
      geometry: { type: 'Point' as const, coordinates: [lon, lat] },
    })),
  }
}

/** Zones, and their names: each stands once, in the middle of its box, so that a zone of many parts is not named many times. */
export function zoneFeatures(zones: MapLines['zones']) {
  const names = zones.map(({ properties, geometry }) => ({
    type: 'Feature' as const,
    properties: { name: properties.name },
    geometry: { type: 'Point' as const, coordinates: middleOf(geometry) },
  }))
  return { type: 'FeatureCollection' as const, features: [...zones, ...names] }
}

function middleOf(zone: MapLines['zones'][number]['geometry']): [number, number] {
  const rings = zone.type === 'Polygon' ? zone.coordinates : zone.coordinates.flat()
  let [west, south, east, north] = [180, 90, -180, -90]
  for (const [lon = 0, lat = 0] of rings.flat()) {
    west = Math.min(west, lon)
    east = Math.max(east, lon)
    south = Math.min(south, lat)
    north = Math.max(north, lat)
  }
  return [(west + east) / 2, (south + north) / 2]
}
