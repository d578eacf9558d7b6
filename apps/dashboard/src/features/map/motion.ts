import type { Marker } from './prepare-markers.ts'

/** How long a marker glides to its new place. */
export const GLIDE_MS = 900
/** A longer step than this is not driven through: the marker is put there. */
export const GLIDE_MAX_KM = 2

interface Glide {
  readonly fromLon: number
  readonly fromLat: number
  readonly startMs: number
}

/**
 * Where markers are drawn between two positions. Told the newest markers, it says where each is at a time; it never runs ahead of what is
 * known. Keeps one entry a van.
 */
export class Motion {
  readonly #glides = new Map<string, Glide>()
  #markers: readonly Marker[] = []

  /**
   * True when something will move, so that frames are worth drawing. A shorter step than `visibleKm` is not worth them: seen from afar a
   * van moves less than a pixel a second. Infinity puts everything in its place at once.
   */
  setMarkers(markers: readonly Marker[], nowMs: number, visibleKm: number): boolean {
    const before = new Map(this.#markers.map((marker) => [marker.van, marker]))
    let moving = false
    for (const marker of markers) {
      const old = before.get(marker.van)
      if (old === undefined || (old.lon === marker.lon && old.lat === marker.lat)) continue
      const [fromLon, fromLat] = this.#at(old, nowMs)
      const stepKm = kilometres(fromLon, fromLat, marker.lon, marker.lat)
      if (stepKm >= visibleKm && stepKm <= GLIDE_MAX_KM) {
        this.#glides.set(marker.van, { fromLon, fromLat, startMs: nowMs })
        moving = true
      } else this.#glides.delete(marker.van)
    }
    const names = new Set(markers.map((marker) => marker.van))
    for (const van of this.#glides.keys()) if (!names.has(van)) this.#glides.delete(van)
    this.#markers = markers
    return moving
  }

  /** Markers at their places of this moment, and whether any is still on its way. */
  frame(nowMs: number): { readonly markers: readonly Marker[]; readonly moving: boolean } {
    const markers = this.#markers.map((marker) => {
      if (!this.#glides.has(marker.van)) return marker
      const [lon, lat] = this.#at(marker, nowMs)
      return { ...marker, lon, lat }
    })
    return { markers, moving: this.#glides.size > 0 }
  }

  #at(marker: Marker, nowMs: number): readonly [number, number] {
    const glide = this.#glides.get(marker.van)
    if (glide === undefined) return [marker.lon, marker.lat]
    const part = (nowMs - glide.startMs) / GLIDE_MS
    if (part >= 1) {
      this.#glides.delete(marker.van)
      return [marker.lon, marker.lat]
    }
    const eased = 1 - (1 - Math.max(0, part)) ** 3
    return [glide.fromLon + (marker.lon - glide.fromLon) * eased, glide.fromLat + (marker.lat - glide.fromLat) * eased]
  }
}

function kilometres(lonA: number, latA: number, lonB: number, latB: number): number {
  return Math.hypot((lonA - lonB) * Math.cos((latA * Math.PI) / 180), latA - latB) * 111.2
}
