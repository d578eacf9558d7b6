import type { FeedView, MarkValue, PartitionFeed } from '@km0/contracts'

/** Without a heartbeat for longer than this, silence says nothing about vans (design, heartbeats). */
export const STALE_AFTER_MS = 60_000

/** How far each source partition has come, from `repartiment.marques`. Marks only move forward, by (epoch, offset). */
export class FeedState {
  readonly #marks = new Map<number, MarkValue>()

  /** True when the mark is news. */
  apply(mark: MarkValue): boolean {
    const known = this.#marks.get(mark.particio)
    if (known !== undefined && (mark.epoca < known.epoca || (mark.epoca === known.epoca && mark.offset <= known.offset))) return false
    this.#marks.set(mark.particio, mark)
    return true
  }

  /** Newest record timestamp of any partition: "now" of the player's clock. null before the first record. */
  newestRecordMs(): number | null {
    return newest([...this.#marks.values()].map((mark) => mark.darrer_registre_ms))
  }

  view(nowMs: number): FeedView {
    const partitions: PartitionFeed[] = [...this.#marks.values()]
      .sort((a, b) => a.particio - b.particio)
      .map((mark) => ({
        partition: mark.particio,
        watermarkMs: mark.marca_aigua_ms,
        progressMs: mark.progres_ms,
        newestHeartbeatMs: mark.darrer_batec_ms,
        newestRecordMs: mark.darrer_registre_ms,
      }))
    const heartbeatMs = newest(partitions.map((partition) => partition.newestHeartbeatMs))
    if (heartbeatMs === null) return { state: 'none', noDataSinceMs: null, partitions }
    if (nowMs - heartbeatMs > STALE_AFTER_MS) return { state: 'stale', noDataSinceMs: heartbeatMs, partitions }
    return { state: 'live', noDataSinceMs: null, partitions }
  }
}

function newest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? null : Math.max(...known)
}
