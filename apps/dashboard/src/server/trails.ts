import type { TrailPoint } from '@km0/contracts'

/** How much of each van's way is kept. */
export const TRAIL_MS = 15 * 60_000
/** A van at 1 Hz fills it; more points a trail than this drop the oldest. */
export const TRAIL_MAX_POINTS = 1_000

/** The last 15 minutes of each van, in memory: points come in by event time, never backwards. */
export class Trails {
  readonly #byVan = new Map<string, TrailPoint[]>()

  add(van: string, point: TrailPoint): void {
    let trail = this.#byVan.get(van)
    if (trail === undefined) {
      trail = []
      this.#byVan.set(van, trail)
    }
    const last = trail.at(-1)
    if (last !== undefined && point[2] <= last[2]) return
    trail.push(point)
    let drop = Math.max(0, trail.length - TRAIL_MAX_POINTS)
    while ((trail[drop]?.[2] ?? Number.POSITIVE_INFINITY) < point[2] - TRAIL_MS) drop += 1
    if (drop > 0) trail.splice(0, drop)
  }

  /** Oldest first; empty for a van that was not heard since the panel's server started. */
  of(van: string): readonly TrailPoint[] {
    return this.#byVan.get(van) ?? []
  }
}
