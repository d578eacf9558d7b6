import type { Move } from '../feed/batch-feed.ts'
import { heardIcon, type Marker } from './prepare-markers.ts'

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
 * Where markers are drawn. Told the markers of each second and what has moved between two of them, it says where each is at a time; it never
 * runs ahead of what is known, and no marker goes back to an older point. Keeps one entry a van.
 */
export class Motion {
  readonly #glides = new Map<string, Glide>()
  /** What is newer than the markers that were told. */
  readonly #moves = new Map<string, Move>()
  #markers: Marker[] = []
  #places = new Map<string, number>()

  /**
   * True when something will move, so that frames are worth drawing. A shorter step than `visibleKm` is not worth them: seen from afar a
   * van moves less than a pixel a second. Infinity puts everything in its place at once.
   */
  setMarkers(markers: readonly Marker[], nowMs: number, visibleKm: number): boolean {
    const before = this.#markers
    const places = this.#places
    this.#places = new Map(markers.map((marker, place) => [marker.van, place]))
    this.#markers = markers.map((marker) => this.#newest(marker))
    let moving = false
    for (const marker of this.#markers) {
      const place = places.get(marker.van)
      const old = place === undefined ? undefined : before[place]
      if (old !== undefined && this.#step(old, marker, nowMs, visibleKm)) moving = true
    }
    for (const known of [this.#glides, this.#moves]) for (const van of known.keys()) if (!this.#places.has(van)) known.delete(van)
    return moving
  }

  /**
   * The same for vans that have moved since. A van without a marker, and a point that is no news, change nothing. `seen`: somebody would see it, by a
   * step of half a pixel (`pixelKm`) or another image; the rest can wait for the next second.
   */
  move(moves: readonly Move[], nowMs: number, visibleKm: number, pixelKm: number): { readonly moving: boolean; readonly seen: boolean } {
    let moving = false
    let seen = false
    for (const move of moves) {
      const place = this.#places.get(move.van)
      const old = place === undefined ? undefined : this.#markers[place]
      if (place === undefined || old === undefined || move.eventMs < old.eventMs) continue
      this.#moves.set(move.van, move)
      const next = moved(old, move)
      this.#markers[place] = next
      if (this.#step(old, next, nowMs, visibleKm)) moving = true
      seen ||= next.icon !== old.icon || next.level !== old.level || kilometres(old.lon, old.lat, next.lon, next.lat) >= pixelKm / 2
    }
    return { moving, seen }
  }

  /** Whatever moves told counts no more: the markers that come next know it all. */
  forget(): void {
    this.#moves.clear()
  }

  /** Markers where they will be when all have arrived. */
  get targets(): readonly Marker[] {
    return this.#markers
  }

  /** Markers at their places of this moment, and whether any is still on its way. */
  frame(nowMs: number): { readonly markers: readonly Marker[]; readonly moving: boolean } {
    if (this.#glides.size === 0) return { markers: [...this.#markers], moving: false }
    const markers = this.#markers.map((marker) => {
      if (!this.#glides.has(marker.van)) return marker
      const [lon, lat] = this.#at(marker, nowMs)
      return { ...marker, lon, lat }
    })
    return { markers, moving: this.#glides.size > 0 }
  }

  #newest(marker: Marker): Marker {
    const move = this.#moves.get(marker.van)
    if (move === undefined) return marker
    if (move.eventMs > marker.eventMs) return moved(marker, move)
    this.#moves.delete(marker.van)
    return marker
  }

  #step(old: Marker, marker: Marker, nowMs: number, visibleKm: number): boolean {
    if (old.lon === marker.lon && old.lat === marker.lat) return false
    const [fromLon, fromLat] = this.#at(old, nowMs)
    const stepKm = kilometres(fromLon, fromLat, marker.lon, marker.lat)
    if (stepKm >= visibleKm && stepKm <= GLIDE_MAX_KM) {
      this.#glides.set(marker.van, { fromLon, fromLat, startMs: nowMs })
      return true
    }
    this.#glides.delete(marker.van)
    return false
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

/** Whoever sends a position is heard, whatever was thought before. */
function moved(marker: Marker, move: Move): Marker {
  return {
    ...marker,
    lon: move.lon,
    lat: move.lat,
    eventMs: move.eventMs,
    icon: heardIcon(move),
    headingDegrees: move.headingDegrees ?? 0,
    level: 0,
    age: '',
  }
}

function kilometres(lonA: number, latA: number, lonB: number, latB: number): number {
  return Math.hypot((lonA - lonB) * Math.cos((latA * Math.PI) / 180), latA - latB) * 111.2
}
