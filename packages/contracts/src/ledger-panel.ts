import type { LedgerReport } from './ledger.ts'

/** Ledgers on the panel: runs that people or the clock have asked for, each done by a batch worker. */

export type LedgerRunState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled'

export interface LedgerRunView {
  readonly id: number
  readonly fromMs: number
  readonly toMs: number
  /** `hourly`: asked for by the clock, a full hour each. */
  readonly reason: 'hourly' | 'asked'
  readonly actorName: string | null
  readonly askedAtMs: number
  readonly state: LedgerRunState
  /** 0 to 1, of the records that are to be read. */
  readonly progress: number
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
  /** Why it failed. */
  readonly detail: string | null
  /** null until it is done. */
  readonly unnamed: number | null
}

/** Answer of GET /api/ledger. */
export interface LedgerView {
  /** Machine's clock of the server. */
  readonly nowMs: number
  /** Present time of the platform: that of the player in play mode. A span ends here at the latest. */
  readonly platformNowMs: number
  /** Newest first. */
  readonly runs: readonly LedgerRunView[]
  /** Of the run that was asked for, else of the newest one that is done; null when there is none. */
  readonly shown: { readonly run: LedgerRunView; readonly report: LedgerReport } | null
}

/** Longest span that may be asked for on the panel: some 5 million records. */
export const LEDGER_MAX_SPAN_MS = 48 * 3_600_000
