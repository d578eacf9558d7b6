import type { LakeTrackPoint } from '@km0/contracts/backfill'
import type { BackfillTrackView } from '@km0/contracts/backfill-panel'

/** A GeoJSON feature, as the map takes it. */
export interface Shape {
  readonly type: 'Feature'
  readonly properties: Record<string, never>
  readonly geometry:
    | { readonly type: 'MultiLineString'; readonly coordinates: number[][][] }
    | { readonly type: 'MultiPoint'; readonly coordinates: number[][] }
}

export interface TrackShapes {
  readonly before: Shape
  readonly after: Shape
  /** Points that only the new track has. */
  readonly late: Shape
  /** West, south, east, north; null without a point. */
  readonly bounds: [number, number, number, number] | null
}

/** A pause longer than this is no movement that anybody saw: the line is broken there. */
const GAP_MS = 180_000

/** What is drawn of an old and a new track. */
export function trackShapes({ before, after }: Pick<BackfillTrackView, 'before' | 'after'>): TrackShapes {
  const had = new Set(before.map(({ eventMs }) => eventMs))
  const late = after.filter(({ eventMs }) => !had.has(eventMs)).map(({ lon, lat }) => [lon, lat])
  return {
    before: lineOf(before),
    after: lineOf(after),
    late: feature({ type: 'MultiPoint', coordinates: late }),
    bounds: boundsOf([...before, ...after]),
  }
}

function lineOf(points: readonly LakeTrackPoint[]): Shape {
  const lines: number[][][] = []
  let line: number[][] = []
  let beforeMs = Number.NEGATIVE_INFINITY
  for (const { lon, lat, eventMs } of points) {
    if (eventMs - beforeMs > GAP_MS) {
      line = []
      lines.push(line)
    }
    line.push([lon, lat])
    beforeMs = eventMs
  }
  return feature({ type: 'MultiLineString', coordinates: lines.filter((of) => of.length > 1) })
}

function boundsOf(points: readonly LakeTrackPoint[]): TrackShapes['bounds'] {
  if (points.length === 0) return null
  const lons = points.map(({ lon }) => lon)
  const lats = points.map(({ lat }) => lat)
  const least = (of: number[]) => of.reduce((a, b) => Math.min(a, b))
  const most = (of: number[]) => of.reduce((a, b) => Math.max(a, b))
  return [least(lons), least(lats), most(lons), most(lats)]
}

const feature = (geometry: Shape['geometry']): Shape => ({ type: 'Feature', properties: {}, geometry })
