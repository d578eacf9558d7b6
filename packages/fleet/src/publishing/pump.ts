import { setTimeout as sleep } from 'node:timers/promises'
import type { Outgoing } from '../messages/outgoing.ts'
import { dueMs, hasMet, type Pace } from './pace.ts'
import type { PublishWindow } from './window.ts'

export interface PumpSettings {
  readonly pace: Pace
  readonly window: PublishWindow
  readonly signal: AbortSignal
  /** What is due for longer is not published any more: the machine slept, or the broker was away. */
  readonly maxBehindMs: number
  readonly onPublished: (message: Outgoing, behindMs: number) => void
  /** Called once, when the simulated clock has met the machine's. */
  readonly onMet: () => void
}

export interface PumpResult {
  /** Messages left out because they were due for too long. */
  readonly skipped: number
}

/** Publishes each message when it is due, in order; ends with the messages or when `signal` aborts. */
export async function pump(messages: Iterable<Outgoing>, settings: PumpSettings): Promise<PumpResult> {
  const { pace, window, signal } = settings
  let met = false
  let skipped = 0
  for (const message of messages) {
    const due = dueMs(pace, message.arrivalMs)
    const waitMs = due - Date.now()
    if (waitMs > 0) await pause(waitMs, signal)
    if (signal.aborted) break
    if (-waitMs > settings.maxBehindMs) {
      skipped += 1
      continue
    }
    if (!met && hasMet(pace, message.arrivalMs)) {
      met = true
      settings.onMet()
    }
    if (!(await window.push(message, signal))) break
    settings.onPublished(message, Math.max(0, -waitMs))
  }
  return { skipped }
}

async function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  await sleep(waitMs, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}
