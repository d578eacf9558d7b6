import type { FeedView, OutageCause, PanelPoint } from '@km0/contracts/panel'

/**
 * `live`: all is well. `lost`: this browser has no line to the panel. `stale`: the panel itself hears nothing. `partly`: it hears nothing from
 * some partitions. `none`: nothing has ever arrived. `sinceMs`: platform time from which nothing is known.
 */
export interface FeedStatus {
  readonly kind: 'live' | 'lost' | 'stale' | 'partly' | 'none'
  readonly sinceMs: number | null
  /** Why, as far as the panel knows; null while live, and while the panel itself is not heard. */
  readonly cause: OutageCause | null
  /** Which are not heard; null: all, or none is missing. */
  readonly partitions: readonly number[] | null
  /** How old the newest position is; null when there is none. */
  readonly newestPointAgeMs: number | null
}

export function prepareFeed(given: {
  readonly feed: FeedView
  readonly points: ReadonlyMap<string, PanelPoint>
  readonly connected: boolean
  /** Platform time of the newest message from the panel. */
  readonly serverNowMs: number
  readonly nowMs: number
}): FeedStatus {
  let newestMs: number | null = null
  for (const point of given.points.values()) if (newestMs === null || point.arrivalMs > newestMs) newestMs = point.arrivalMs
  const newestPointAgeMs = newestMs === null ? null : Math.max(0, given.nowMs - newestMs)
  const well = { sinceMs: null, cause: null, partitions: null, newestPointAgeMs }
  if (!given.connected) return { ...well, kind: 'lost', sinceMs: given.serverNowMs }
  const { state, trouble } = given.feed
  if (state === 'none') return { ...well, kind: 'none' }
  if (trouble === null) return { ...well, kind: 'live' }
  return { ...trouble, kind: trouble.partitions === null ? 'stale' : 'partly', newestPointAgeMs }
}
