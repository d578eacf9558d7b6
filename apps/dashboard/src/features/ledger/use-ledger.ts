'use client'

import type { LedgerView } from '@km0/contracts/ledger-panel'
import { type Polled, usePolled } from '../shell/use-polled.ts'
import { openRuns } from './prepare-ledger.ts'

const BUSY_EVERY_MS = 1_500
const QUIET_EVERY_MS = 15_000

const everyMs = (view: LedgerView | null) => (view !== null && openRuns(view.runs).length > 0 ? BUSY_EVERY_MS : QUIET_EVERY_MS)

export interface LiveLedger {
  /** All runs, with the newest ledger; asked for often while one is in work. */
  readonly list: Polled<LedgerView>
  /** What is shown: the chosen run's, else the newest; null while it is not known, or there is none. */
  readonly shown: LedgerView['shown']
}

/** Runs of the ledger, and the report of the one that is chosen (null: the newest). */
export function useLedger(chosen: number | null): LiveLedger {
  const list = usePolled<LedgerView>('/api/ledger', everyMs)
  const one = usePolled<LedgerView>(chosen === null ? null : `/api/ledger?run=${chosen}`, () => QUIET_EVERY_MS)
  return { list, shown: (chosen === null ? list.view?.shown : one.view?.shown) ?? null }
}
