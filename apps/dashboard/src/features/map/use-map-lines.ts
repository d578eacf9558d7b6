'use client'

import type { RecentPoint, RecentPointsView, TrailsView, ZonesView } from '@km0/contracts/map-panel'
import type { PanelPoint } from '@km0/contracts/panel'
import { useMemo } from 'react'
import type { MapLayer } from '../shell/place.ts'
import { type Line, usePolled } from '../shell/use-polled.ts'
import type { MapLines } from './map-lines.ts'
import { backlogOf, mapPoints, trailPieces } from './prepare-trail.ts'
import { useTrail } from './use-trail.ts'

/** Somebody looks at single points: what is new is wanted soon. Otherwise only what came late is. */
const POINTS_EVERY_MS = 5_000
const BACKLOG_EVERY_MS = 30_000
const TRAILS_EVERY_MS = 15_000
/** Zones change with the register. */
const ZONES_EVERY_MS = 60_000
const NONE: readonly never[] = []

export interface RecentPoints {
  readonly line: Line
  readonly points: readonly RecentPoint[]
  readonly truncated: boolean
  readonly ageMs: number
}

const NO_ZONES: ZonesView['features'] = []

/** What is drawn of ways: of the selected van always, of all vans and of single points where they are asked for. */
export function useMapLines(
  van: string | null,
  point: PanelPoint | null,
  layers: readonly MapLayer[],
): { readonly lines: MapLines; readonly recent: RecentPoints; readonly zonesLine: Line } {
  const trail = useTrail(van, point)
  const withPoints = layers.includes('points')
  const recent = usePolled<RecentPointsView>(van === null || point === null ? null : `/api/points?van=${encodeURIComponent(van)}`, () =>
    withPoints ? POINTS_EVERY_MS : BACKLOG_EVERY_MS,
  )
  const all = usePolled<TrailsView>(layers.includes('trails') ? '/api/trails' : null, () => TRAILS_EVERY_MS)
  const zoned = usePolled<ZonesView>(layers.includes('zones') ? '/api/zones.geojson' : null, () => ZONES_EVERY_MS)
  const zones = zoned.view?.features ?? NO_ZONES
  const points = recent.view?.points ?? NONE
  const pieces = useMemo(() => trailPieces(trail), [trail])
  const backlog = useMemo(() => backlogOf(points), [points])
  const singles = useMemo(() => (withPoints ? mapPoints(points) : NONE), [points, withPoints])
  const trails = useMemo(() => {
    const others = (all.view?.trails ?? NONE).filter((one) => one.van !== van).flatMap((one) => trailPieces(one.points))
    return [...others, ...pieces.slice(0, -1)]
  }, [all.view, pieces, van])
  const lines = useMemo(
    () => ({ trail: pieces.at(-1) ?? NONE, backlog, trails, points: singles, zones }),
    [pieces, backlog, trails, singles, zones],
  )
  const ageMs = recent.view === null ? 0 : recent.nowMs - recent.view.nowMs
  return { lines, recent: { line: recent.line, points, truncated: recent.view?.truncated ?? false, ageMs }, zonesLine: zoned.line }
}
