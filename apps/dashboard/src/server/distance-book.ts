import type { DistanceValue, SourcePosition } from '@km0/contracts'
import { isAfter } from './is-after.ts'

/** Windows that ended longer than this before the newest one are forgotten: a sparkline shows 30 minutes. */
export const DISTANCES_KEPT_MS = 35 * 60_000

interface KnownDistance {
  readonly value: DistanceValue
  readonly source: SourcePosition | null
}

/** The newest windows of each van. A row moves forward by revision, then by (epoch, offset); reading it twice changes nothing. */
export class DistanceBook {
  readonly #byVan = new Map<string, Map<number, KnownDistance>>()
  readonly #dirty = new Map<string, Set<number>>()
  #newestMs = 0

  /** False when it is no news. */
  apply(value: DistanceValue, source: SourcePosition | null): boolean {
    if (value.fi_ms < this.#newestMs - DISTANCES_KEPT_MS) return false
    let rows = this.#byVan.get(value.repartidor)
    const known = rows?.get(value.fi_ms)
    if (known !== undefined) {
      const step = (value.revisio ?? 0) - (known.value.revisio ?? 0)
      if (step < 0 || (step === 0 && !isAfter(source, known.source))) return false
    }
    if (rows === undefined) {
      rows = new Map()
      this.#byVan.set(value.repartidor, rows)
    }
    rows.set(value.fi_ms, { value, source })
    const dirty = this.#dirty.get(value.repartidor)
    if (dirty === undefined) this.#dirty.set(value.repartidor, new Set([value.fi_ms]))
    else dirty.add(value.fi_ms)
    if (value.fi_ms > this.#newestMs) {
      this.#newestMs = value.fi_ms
      this.#forgetOld()
    }
    return true
  }

  /** Every window of the vans that pass. */
  values(pass: (van: string) => boolean): DistanceValue[] {
    return [...this.#byVan].filter(([van]) => pass(van)).flatMap(([, rows]) => [...rows.values()].map(({ value }) => value))
  }

  /** Those that changed since the last call. */
  takeDirty(): (readonly [van: string, windowEndMs: number])[] {
    const dirty = [...this.#dirty].flatMap(([van, ends]) => [...ends].map((endMs) => [van, endMs] as const))
    this.#dirty.clear()
    return dirty
  }

  /** undefined when it was forgotten. */
  value(van: string, windowEndMs: number): DistanceValue | undefined {
    return this.#byVan.get(van)?.get(windowEndMs)?.value
  }

  #forgetOld(): void {
    for (const [van, rows] of this.#byVan) {
      for (const endMs of rows.keys()) if (endMs < this.#newestMs - DISTANCES_KEPT_MS) rows.delete(endMs)
      if (rows.size === 0) this.#byVan.delete(van)
    }
  }
}
