import type { PanelPoint } from '@km0/contracts/panel'
import { decodeBatch } from '@km0/contracts/panel-batch'

/** A van that has just moved. */
export interface Move {
  readonly van: string
  readonly lat: number
  readonly lon: number
  readonly eventMs: number
  readonly headingDegrees: number | null
  readonly doubtful: boolean
  readonly motion: 'moving' | 'stopped'
}

export interface MoveListener {
  /** `sentMs`: clock of the server's machine when it sent them. */
  moved(moves: readonly Move[], sentMs: number): void
  /** A snapshot has come: whatever was told before counts no more. */
  forget(): void
}

/** Hands packed batches on to who draws them, without a render of the page. Knows which slot is which van from the model's points. */
export class BatchFeed {
  readonly #vans = new Map<number, string>()
  readonly #listeners = new Set<MoveListener>()
  #points: ReadonlyMap<string, PanelPoint> | null = null

  /** Of a snapshot: slots may be given anew. */
  begin(points: ReadonlyMap<string, PanelPoint>): void {
    this.#vans.clear()
    this.#points = null
    this.learn(points)
    for (const listener of this.#listeners) listener.forget()
  }

  learn(points: ReadonlyMap<string, PanelPoint>): void {
    if (points === this.#points) return
    this.#points = points
    // Vans are added, never taken away.
    if (points.size === this.#vans.size) return
    for (const point of points.values()) if (point.slot !== undefined) this.#vans.set(point.slot, point.van)
  }

  /** A batch as it came. A van that is not known yet comes with the next delta. */
  give(wire: ArrayBuffer | Uint8Array): void {
    if (this.#listeners.size === 0) return
    const { points, sentMs } = decodeBatch(wire)
    const moves = points.flatMap(({ slot, ...rest }) => {
      const van = this.#vans.get(slot)
      return van === undefined ? [] : [{ van, ...rest }]
    })
    for (const listener of this.#listeners) listener.moved(moves, sentMs)
  }

  /** Returns what ends it. */
  listen(listener: MoveListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
