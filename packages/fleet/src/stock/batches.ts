import { setTimeout as sleep } from 'node:timers/promises'
import { dueMs, type Pace } from '../publishing/pace.ts'
import type { StockRecord } from './stock-stream.ts'

export interface BatchSettings {
  readonly pace: Pace
  readonly signal: AbortSignal
  /** Records in one request at most. */
  readonly maxRecords: number
  /** What becomes due within this time goes into one request. */
  readonly lingerMs: number
}

/** Puts records together as they become due; ends with the records or when `signal` aborts. No batch is empty. */
export async function* dueBatches(records: Iterable<StockRecord>, settings: BatchSettings): AsyncGenerator<readonly StockRecord[], void> {
  const { pace, signal } = settings
  let batch: StockRecord[] = []
  for (const record of records) {
    const due = dueMs(pace, record.arrivalMs)
    if (batch.length >= settings.maxRecords || (due > Date.now() && batch.length > 0)) {
      yield batch
      batch = []
    }
    const waitMs = due - Date.now()
    // Waking for each record would make a request of each.
    if (waitMs > 0) await pause(Math.max(waitMs, settings.lingerMs), signal)
    if (signal.aborted) return
    batch.push(record)
  }
  if (batch.length > 0) yield batch
}

async function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  await sleep(waitMs, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}
