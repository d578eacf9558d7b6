import type { FeedView, PanelPoint } from '@km0/contracts/panel'

/** Without a heartbeat for longer than this, silence says nothing. The server has the same rule; here it also holds while the line is cut. */
export const STALE_AFTER_MS = 60_000

/**
 * `live`: all is well. `lost`: this browser has no line to the panel. `stale`: the panel itself hears nothing. `none`: nothing has ever
 * arrived. `sinceMs`: platform time from which nothing is known.
 */
export interface FeedStatus {
  readonly kind: 'live' | 'lost' | 'stale' | 'none'
  readonly sinceMs: number | null
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
  if (!given.connected) return { kind: 'lost', sinceMs: given.serverNowMs, newestPointAgeMs }
  if (given.feed.state === 'none') return { kind: 'none', sinceMs: null, newestPointAgeMs }
  if (given.feed.state === 'stale') return { kind: 'stale', sinceMs: given.feed.noDataSinceMs, newestPointAgeMs }
  return { kind: 'live', sinceMs: null, newestPointAgeMs }
}

/**
 * Until when silence can be judged for the vans of a partition: now while its heartbeats arrive, else the time of its newest one. null: never.
 * Whoever sees nothing must not call anybody silent.
 */
export function knownUntilMs(feed: FeedView, status: FeedStatus, partition: number | null, nowMs: number): number | null {
  if (status.kind === 'none') return null
  if (status.kind !== 'live') return status.sinceMs === null ? null : Math.min(status.sinceMs, nowMs)
  const heartbeatMs = feed.partitions.find((known) => known.partition === partition)?.newestHeartbeatMs ?? null
  if (heartbeatMs === null || nowMs - heartbeatMs <= STALE_AFTER_MS) return nowMs
  return heartbeatMs
}
