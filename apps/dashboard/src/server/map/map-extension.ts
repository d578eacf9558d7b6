import { isAddress } from '../../features/map/own-map-settings.ts'
import type { MaskingState } from '../masking/masking-state.ts'
import type { PanelExtension } from '../panel-server.ts'
import { mapRoutes } from './map-rest.ts'
import { ownTilesRoutes } from './own-tiles.ts'
import { type PointsLog, readRecentPoints } from './recent-points.ts'

/** What the map asks the server for, and the customer's tiles where they are a file here. */
export function mapExtension(options: {
  readonly state: MaskingState
  readonly log: PointsLog
  readonly nowMs: () => number
  /** Address or path; null for none. */
  readonly tiles: string | null
}): PanelExtension {
  const { state, log, nowMs, tiles } = options
  const routes = mapRoutes({ state, nowMs, recentPoints: (van, partition) => readRecentPoints(log, van, partition, nowMs()) })
  return { routes: new Map([...routes, ...(tiles === null || isAddress(tiles) ? [] : ownTilesRoutes(tiles))]) }
}
