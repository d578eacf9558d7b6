/** What the page of operations shows. Times are ms since 1970, null: not known. */

export type ServiceStatus = 'ok' | 'degraded' | 'down' | 'silent'

/** A program of the platform, or a service that the panel itself stands on. */
export interface ServiceView {
  readonly name: string
  /** `silent`: it does not answer. */
  readonly status: ServiceStatus
  /** What is not well with it, in its own words (English), worst first. */
  readonly parts: readonly { readonly name: string; readonly status: ServiceStatus; readonly detail: string | null }[]
  readonly memoryBytes: number | null
  readonly startedAtMs: number | null
  /** Share of the last 30 s in which results waited for whoever takes them. */
  readonly backpressure: number | null
}

export interface PartitionView {
  readonly partition: number
  readonly nextOffset: number
  readonly lagRecords: number | null
  /** Present time less the newest event time applied. */
  readonly lagMs: number | null
  readonly watermarkMs: number | null
  /** By how much more the watermark is behind now than `DRIFT_OVER_MS` ago; near 0 while all is well. */
  readonly driftMs: number | null
  readonly recordsPerS: number | null
  readonly heartbeatMs: number | null
  readonly checkpointAgeMs: number | null
  readonly checkpointBytes: number | null
  /** Share of the last 30 s that the program which has the partition waited for the log. */
  readonly backpressure: number | null
}

/** Over so long the drift of watermarks and the rate are measured. */
export const DRIFT_OVER_MS = 300_000

/** A delay that could be set instead. */
export interface OtherDelay {
  readonly delayMs: number
  /** Share of the points that it would cover. */
  readonly share: number
}

/** How late positions arrived. */
export interface LatenessView {
  /** `day`: measured over the lake. `start`: without one, what the bridges have counted since they began. */
  readonly since: 'day' | 'start'
  /** By hour of arrival, `[fromMs, toMs)`. */
  readonly fromMs: number
  readonly toMs: number
  readonly measuredAtMs: number
  readonly points: number
  /** Each at most so late; null: later than a day. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
  readonly p999Ms: number | null
  /** The delay that is set, and the share of the points that it covers; null while it is not known. */
  readonly set: OtherDelay | null
  readonly others: readonly OtherDelay[]
  /** The shortest delay after which at most the target share of the points comes; null: not even a day. */
  readonly proposed: { readonly targetShare: number; readonly delay: OtherDelay | null }
  /** Of all points: later than the delay; reported as late in part, and as late. */
  readonly afterShare: number | null
  readonly partlyLateShare: number
  readonly lateShare: number
}

/** How a program says that its checkpoints lie where one machine sees them. */
export const CHECKPOINTS_LOCAL = 'checkpoints are in a folder'

export interface OperationsView {
  readonly nowMs: number
  /** Time of the platform. */
  readonly platformNowMs: number
  readonly services: readonly ServiceView[]
  readonly partitions: readonly PartitionView[]
  /** null: nothing was measured yet, which needs the lake and a batch worker. */
  readonly lateness: LatenessView | null
  /** Refused messages by reason, most first: of the day that the lateness is of, or since the programs began. */
  readonly refused: { readonly since: 'day' | 'start'; readonly rows: readonly { readonly reason: string; readonly count: number }[] }
  /** The newest ledger that is done. */
  readonly ledger: { readonly unnamed: number; readonly fromMs: number; readonly toMs: number; readonly endedAtMs: number } | null
  /** Where checkpoints lie; `local`: only one machine sees it. */
  readonly checkpoints: { readonly local: boolean; readonly place: string } | null
}
