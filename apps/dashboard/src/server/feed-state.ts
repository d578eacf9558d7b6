import {
  DEFAULT_OUTAGE_AFTER_MS,
  type FeedTrouble,
  type FeedView,
  type MarkValue,
  type OutageCause,
  type PartitionFeed,
} from '@km0/contracts'

/** Finds why nothing comes from these partitions; `whole`: from none. */
export type FindCause = (partitions: readonly number[], whole: boolean) => OutageCause

/** An outage of all ends with one partition after the other, up to so long: those that are still in it are not stuck. Longer than from one heartbeat to the next. */
const ENDING_MS = 15_000
const UNKNOWN: FindCause = (_partitions, whole) => (whole ? 'unknown' : 'partition')

/** How far each source partition has come, from `repartiment.marques`. Marks only move forward, by (epoch, offset). */
export class FeedState {
  readonly #outageAfterMs: number
  readonly #marks = new Map<number, MarkValue>()
  /** When all were in an outage last. */
  #wholeAtMs: number | null = null

  constructor(outageAfterMs = DEFAULT_OUTAGE_AFTER_MS) {
    this.#outageAfterMs = outageAfterMs
  }

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

  /** Next offset that the stream job reads, by partition. */
  nextOffsets(): Map<number, number> {
    return new Map([...this.#marks.values()].map((mark) => [mark.particio, mark.offset]))
  }

  view(nowMs: number, findCause: FindCause = UNKNOWN): FeedView {
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
    if (heartbeatMs === null) return { state: 'none', noDataSinceMs: null, trouble: null, partitions }
    const trouble = this.#trouble(partitions, nowMs, findCause)
    if (nowMs - heartbeatMs > this.#outageAfterMs) return { state: 'stale', noDataSinceMs: heartbeatMs, trouble, partitions }
    return { state: 'live', noDataSinceMs: null, trouble, partitions }
  }

  /** The outage that lasts, told as one however many partitions are in it; null when there is none. */
  #trouble(partitions: readonly PartitionFeed[], nowMs: number, findCause: FindCause): FeedTrouble | null {
    const deaf = partitions.filter(({ newestHeartbeatMs: ms }) => ms !== null && nowMs - ms > this.#outageAfterMs)
    const sinceMs = newest(deaf.map((partition) => partition.newestHeartbeatMs))
    if (sinceMs === null) return null
    const names = deaf.map(({ partition }) => partition)
    const whole = deaf.length === partitions.filter(({ newestHeartbeatMs }) => newestHeartbeatMs !== null).length
    if (whole) this.#wholeAtMs = nowMs
    const ending = !whole && this.#wholeAtMs !== null && nowMs - this.#wholeAtMs < ENDING_MS
    return { cause: findCause(names, whole || ending), sinceMs, partitions: whole ? null : names }
  }
}

function newest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null)
  return known.length === 0 ? null : Math.max(...known)
}
