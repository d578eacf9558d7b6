import type { RecentPointsView, TrailPoint, TrailsView } from '@km0/contracts'
import { Refusal } from '../guard.ts'
import type { MaskingState } from '../masking/masking-state.ts'
import { json, type Routes, sessionOf } from '../rest.ts'
import { OnePerKey } from './one-per-key.ts'

/** Trails of more vans than this are a carpet. */
export const TRAILS_MAX_VANS = 400
/** Trails of all vans have one point in so long. */
export const TRAILS_STEP_MS = 10_000

export interface MapRestOptions {
  readonly state: Pick<MaskingState, 'trails' | 'isKnown' | 'mayPassVan' | 'partitionOf' | 'recentFor'>
  /** Present time of the platform. */
  readonly nowMs: () => number
  /** What arrived from a van; rejects while the log is away. */
  readonly recentPoints: (van: string, partition: number) => Promise<RecentPointsView>
}

/** What the map asks for beside what the socket tells: trails of all vans, single points of one. */
export function mapRoutes(options: MapRestOptions): Routes {
  const { state } = options
  // Ten people who look at one van read the log once.
  const reading = new OnePerKey<RecentPointsView>()
  return new Map([
    [
      '/api/trails',
      {
        GET: (request, response) => {
          const trails = [...state.trails(sessionOf(request).scope)].sort((a, b) => newestMs(b.points) - newestMs(a.points))
          const view: TrailsView = {
            nowMs: options.nowMs(),
            trails: trails.slice(0, TRAILS_MAX_VANS).map(({ van, points }) => ({ van, points: thinned(points) })),
            truncated: trails.length > TRAILS_MAX_VANS,
          }
          json(response, 200, view)
        },
      },
    ],
    [
      '/api/points',
      {
        GET: async (request, response, url) => {
          const van = url.searchParams.get('van')
          if (van === null || van === '') throw new Refusal(400, 'which van?', 'Ask for /api/points?van=NAME.')
          if (!state.isKnown(van) || !state.mayPassVan(sessionOf(request).scope, van))
            throw new Refusal(404, `no van ${van} is known`, 'Use the name as GET /api/panel has it.')
          const partition = state.partitionOf(van)
          if (partition === null) throw new Refusal(404, `no point of ${van} has ever arrived`, 'Ask again when it has been heard.')
          const view = await reading.of(van, () => options.recentPoints(van, partition))
          json(response, 200, state.recentFor(sessionOf(request).scope, view))
        },
      },
    ],
  ])
}

function newestMs(points: readonly TrailPoint[]): number {
  return points.at(-1)?.[2] ?? 0
}

/** One point in ten seconds, and the newest. */
export function thinned(points: readonly TrailPoint[]): TrailPoint[] {
  let nextMs = Number.NEGATIVE_INFINITY
  return points.filter((point, index) => {
    if (point[2] < nextMs && index < points.length - 1) return false
    nextMs = point[2] + TRAILS_STEP_MS
    return true
  })
}
