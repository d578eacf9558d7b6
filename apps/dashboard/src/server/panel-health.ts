import type { FeedView, HealthReport, OutageCause } from '@km0/contracts'
import type { SourceHealth } from './panel-source.ts'

/** The bridge holds its first heartbeat back for 30 s, and a broker may need as long to be back: before this a silent feed is no fault. */
export const QUIET_START_MS = 90_000

type Part = HealthReport['parts'][string]
const RANK = { ok: 0, degraded: 1, down: 2 } as const

/** The panel's health: as bad as its worst part. No van is named. */
export function panelHealth(given: {
  readonly source: Readonly<Record<string, SourceHealth>>
  readonly feed: FeedView
  readonly nowMs: number
  readonly uptimeMs: number
  readonly loaded: boolean
  readonly vansHeard: number
}): HealthReport {
  const parts: Record<string, Part> = {
    ...given.source,
    feed: feedPart(given.feed, given.nowMs, given.uptimeMs),
    panel: panelPart(given.loaded, given.vansHeard),
  }
  const status = Object.values(parts).reduce<HealthReport['status']>(
    (worst, part) => (RANK[part.status] > RANK[worst] ? part.status : worst),
    'ok',
  )
  return { status, parts, ready: given.loaded && given.vansHeard > 0 }
}

function feedPart(feed: FeedView, nowMs: number, uptimeMs: number): Part {
  const { trouble } = feed
  if (uptimeMs < QUIET_START_MS)
    return feed.state === 'live' ? { status: 'ok' } : { status: 'ok', detail: 'waiting for the first heartbeat' }
  if (feed.state === 'live' && trouble === null) return { status: 'ok' }
  if (trouble !== null && trouble.partitions !== null) {
    return { status: 'degraded', detail: `no heartbeat from partition ${trouble.partitions.join(', ')}: ${CAUSES[trouble.cause]}` }
  }
  const newestMs = Math.max(0, ...feed.partitions.map((partition) => partition.newestRecordMs ?? 0))
  if (nowMs - newestMs < QUIET_START_MS) return { status: 'ok', detail: 'records arrive, heartbeats are held back' }
  if (trouble === null) return { status: 'degraded', detail: 'nothing has ever arrived' }
  return { status: 'degraded', detail: `no data since ${new Date(trouble.sinceMs).toISOString()}: ${CAUSES[trouble.cause]}` }
}

const CAUSES: Readonly<Record<OutageCause, string>> = {
  broker: 'the bridge has no connection to the MQTT broker',
  bridge: 'the bridge does not answer',
  kafka: 'Kafka does not answer',
  stream: 'the stream job does not answer',
  behind: 'the stream job is behind',
  'catching-up': 'the bridge waits until what vans have saved up is in',
  partition: 'nobody says why',
  unknown: 'nobody says why',
}

function panelPart(loaded: boolean, vansHeard: number): Part {
  if (!loaded) return { status: 'degraded', detail: 'reading what is stored' }
  return { status: 'ok', detail: vansHeard === 0 ? 'waiting for the first position' : `${vansHeard} vans heard` }
}
