import type { Zone } from './dispatch.ts'
import type { TrailPoint } from './panel.ts'

/** What the map of the panel asks for beside the snapshot. */

/** How a point was taken. `late`: some or all windows that it belongs to had closed; live results miss it there. */
export type PointVerdict = 'accepted' | 'late' | 'refused'

export interface RecentPoint {
  /** null: it names no place on earth. */
  readonly lon: number | null
  readonly lat: number | null
  readonly eventMs: number
  readonly arrivalMs: number
  readonly verdict: PointVerdict
  /** Of what is late or refused, as the log calls it (`tard`, `parcial`, `invalid`, `futur`, `antic`); null for what is accepted. */
  readonly reason: string | null
}

/** Answer of `GET /api/points?van=`: what arrived from a van in the last minutes, oldest event time first. */
export interface RecentPointsView {
  readonly van: string
  readonly nowMs: number
  /** Arrivals from here on. */
  readonly fromMs: number
  readonly points: readonly RecentPoint[]
  /** There were more; the newest are told. */
  readonly truncated: boolean
}

/** Answer of `GET /api/trails`: the last 15 minutes of every van, thinned. */
export interface TrailsView {
  readonly nowMs: number
  readonly trails: readonly { readonly van: string; readonly points: readonly TrailPoint[] }[]
  /** There are too many vans; those heard last are told. */
  readonly truncated: boolean
}

/** Answer of GET /api/zones.geojson: the zones of the markets that a scope may see, as a FeatureCollection (RFC 7946). */
export interface ZonesView {
  readonly type: 'FeatureCollection'
  readonly nowMs: number
  readonly features: readonly {
    readonly type: 'Feature'
    readonly properties: { readonly market: string; readonly name: string }
    readonly geometry: Zone
  }[]
}
