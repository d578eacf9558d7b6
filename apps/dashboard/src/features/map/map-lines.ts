import type { TrailPoint } from '@km0/contracts/panel'

/** How a point of a van was taken. */
export type Verdict = 'accepted' | 'late' | 'refused'

export interface MapPoint {
  readonly lon: number
  readonly lat: number
  readonly verdict: Verdict
}

/** What is drawn of the ways of vans. Every list is of longitude, latitude and event time. */
export interface MapLines {
  /** Of the selected van, as it was known at the time. */
  readonly trail: readonly TrailPoint[]
  /** Stretches of it that came late. */
  readonly backlog: readonly (readonly TrailPoint[])[]
  /** Of the other vans. */
  readonly trails: readonly (readonly TrailPoint[])[]
  /** Single points of the selected van. */
  readonly points: readonly MapPoint[]
}

export const NO_LINES: MapLines = { trail: [], backlog: [], trails: [], points: [] }

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
