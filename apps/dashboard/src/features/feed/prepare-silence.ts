import type { OutageView } from '@km0/contracts/panel'
import type { PanelModel } from './panel-model.ts'
import type { FeedStatus } from './prepare-feed.ts'

/** A stretch of time in which a partition was not heard; `toMs` null while it lasts. */
export interface DeafSpan {
  readonly fromMs: number
  readonly toMs: number | null
}

export interface Silence {
  /** How long nothing has come while we could hear. */
  readonly silenceMs: number
  /** Until when we could hear: now, or the beginning of the outage that lasts. */
  readonly knownUntilMs: number
  /** The newest outage of ours since the van was heard last; null when there was none. */
  readonly outage: DeafSpan | null
}

/**
 * How long a van has been silent, as far as anybody can know. Time in which we could not hear does not count. Who had been silent for
 * `episodeAfterMs` before an outage goes on from there when it is over; whoever had not begins anew at its end. `spans`: of its partition, by
 * beginning.
 */
export function silenceOf(lastMs: number, nowMs: number, spans: readonly DeafSpan[], episodeAfterMs: number): Silence {
  let silenceMs = 0
  let heardMs = lastMs
  let outage: DeafSpan | null = null
  for (const span of spans) {
    if (span.fromMs >= nowMs) break
    if (span.toMs !== null && span.toMs <= heardMs) continue
    outage = span
    silenceMs += Math.max(0, span.fromMs - heardMs)
    if (span.toMs === null || span.toMs > nowMs) return { silenceMs, knownUntilMs: span.fromMs, outage }
    if (silenceMs < episodeAfterMs) silenceMs = 0
    heardMs = span.toMs
  }
  return { silenceMs: silenceMs + Math.max(0, nowMs - heardMs), knownUntilMs: nowMs, outage }
}

/** The stretches in which each partition was not heard, by beginning; `partition` null: of a van whose partition is not known. */
export class DeafSpans {
  readonly #model: PanelModel
  readonly #status: FeedStatus
  readonly #byPartition = new Map<number | null, readonly DeafSpan[]>()

  constructor(model: PanelModel, status: FeedStatus) {
    this.#model = model
    this.#status = status
  }

  of(partition: number | null): readonly DeafSpan[] {
    let spans = this.#byPartition.get(partition)
    if (spans === undefined) {
      spans = [...over(this.#model, partition), ...this.#lasting(partition)]
      this.#byPartition.set(partition, spans)
    }
    return spans
  }

  #lasting(partition: number | null): DeafSpan[] {
    const { kind, sinceMs } = this.#status
    if (kind === 'none') return [{ fromMs: 0, toMs: null }]
    const { trouble, partitions } = this.#model.feed
    const inTrouble = trouble !== null && (trouble.partitions === null || (partition !== null && trouble.partitions.includes(partition)))
    if (inTrouble) {
      const heartbeatMs = partitions.find((known) => known.partition === partition)?.newestHeartbeatMs
      return [{ fromMs: heartbeatMs ?? trouble.sinceMs, toMs: null }]
    }
    // The line of this browser is cut: what the panel knows since is not known here.
    return kind === 'lost' && sinceMs !== null ? [{ fromMs: sinceMs, toMs: null }] : []
  }
}

/** Outages of a partition that are over. Without a partition, those that every one of them was in. */
function over({ outages, feed }: PanelModel, partition: number | null): DeafSpan[] {
  if (partition !== null) return outages.filter((outage) => outage.partition === partition)
  const of = new Map<number, OutageView[]>()
  for (const outage of outages) of.set(outage.partition, [...(of.get(outage.partition) ?? []), outage])
  const [first = [], ...others] = [...of.values()]
  if (of.size < feed.partitions.length) return []
  return first.filter((outage) => others.every((rest) => rest.some((other) => other.fromMs < outage.toMs && other.toMs > outage.fromMs)))
}
