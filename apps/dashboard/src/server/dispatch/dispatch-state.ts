import {
  DEFAULT_DISPATCH_LIMITS,
  type Depot,
  type DispatchLimits,
  type DispatchView,
  type Market,
  type MuteView,
  type Shift,
  type SilenceEpisode,
  type UsualDistance,
  type Zone,
} from '@km0/contracts'
import whichPolygon from 'which-polygon'

/** What is stored of dispatch, of all vans. */
export interface DispatchFacts {
  readonly markets: readonly Market[]
  readonly shifts: readonly Shift[]
  readonly mutes: readonly MuteView[]
  readonly episodes: readonly SilenceEpisode[]
  readonly usual: { readonly fromMs: number; readonly toMs: number; readonly vans: readonly UsualDistance[] } | null
}

const NOTHING: DispatchFacts = { markets: [], shifts: [], mutes: [], episodes: [], usual: null }

type Inside = (lon: number, lat: number) => boolean

/** Dispatch in memory: what is stored, and who is outside the zones of their markets. */
export class DispatchState {
  readonly #limits: DispatchLimits
  #facts = NOTHING
  #text = JSON.stringify(NOTHING)
  #zones = new Map<string, Zone>()
  /** By depot; null: one of its markets has no zone, so nobody can say. */
  readonly #inside = new Map<string, Inside | null>()
  readonly #outside = new Set<string>()
  #dirty = false

  constructor(limits: DispatchLimits = DEFAULT_DISPATCH_LIMITS) {
    this.#limits = limits
  }

  /** False when it is no news. */
  apply(facts: DispatchFacts): boolean {
    const { markets, shifts, mutes, episodes, usual } = facts
    const text = JSON.stringify({ markets, shifts, mutes, episodes, usual })
    if (text === this.#text) return false
    this.#text = text
    this.#facts = { markets, shifts, mutes, episodes, usual }
    this.#zones = new Map(markets.flatMap(({ id, zone }) => (zone === null ? [] : [[id, zone] as const])))
    this.forgetDepots()
    this.#dirty = true
    return true
  }

  /** Depots or zones may be others: who is outside must be told anew. */
  forgetDepots(): void {
    this.#inside.clear()
  }

  /** Where a van is now. `depot`: its own, undefined when it has none. */
  locate(van: string, depot: Depot | undefined, lon: number, lat: number): void {
    const inside = depot === undefined || this.#zones.size === 0 ? null : this.#insideOf(depot)
    const was = this.#outside.has(van)
    const is = inside !== null && !inside(lon, lat)
    if (was === is) return
    if (is) this.#outside.add(van)
    else this.#outside.delete(van)
    this.#dirty = true
  }

  /** What a scope may see. Usual distances, silences and mutes are of its vans and depots alone. */
  view(passVan: (van: string) => boolean, passDepot: (depotId: string) => boolean): DispatchView {
    const { shifts, mutes, episodes, usual } = this.#facts
    return {
      limits: this.#limits,
      shifts: shifts.filter(({ depotId }) => passDepot(depotId)),
      mutes: mutes.filter(({ kind, subject }) => (kind === 'van' ? passVan(subject) : passDepot(subject))),
      usual: usual === null ? null : { ...usual, vans: usual.vans.filter(({ van }) => passVan(van)) },
      episodes: episodes.filter(({ van }) => passVan(van)),
      outside: [...this.#outside].filter(passVan).sort(),
    }
  }

  /** Whether anything changed since the last call. */
  takeDirty(): boolean {
    const dirty = this.#dirty
    this.#dirty = false
    return dirty
  }

  #insideOf(depot: Depot): Inside | null {
    let inside = this.#inside.get(depot.id)
    if (inside === undefined) {
      inside = insideOf(depot, this.#zones)
      this.#inside.set(depot.id, inside)
    }
    return inside
  }
}

/** Whether a place lies in a zone of the depot's markets; null when one of them has none, or it has no market. */
function insideOf(depot: Depot, zones: ReadonlyMap<string, Zone>): Inside | null {
  const own = depot.markets.map((market) => zones.get(market))
  if (own.length === 0 || own.some((zone) => zone === undefined)) return null
  const features = (own as Zone[]).map((geometry) => ({ type: 'Feature' as const, properties: {}, geometry }))
  const find = whichPolygon({ type: 'FeatureCollection', features } as unknown as Parameters<typeof whichPolygon>[0])
  return (lon, lat) => find([lon, lat]) != null
}
