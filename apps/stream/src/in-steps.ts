import { setImmediate as turn } from 'node:timers/promises'

/** Heartbeats, requests and health are served in between. */
const LONGEST_STEP_MS = 10

/** Goes through steps to the end, and lets the event loop turn every few milliseconds. */
export async function inSteps(steps: Iterable<unknown>): Promise<void> {
  let sinceMs = performance.now()
  for (const _step of steps) {
    if (performance.now() - sinceMs < LONGEST_STEP_MS) continue
    await turn()
    sinceMs = performance.now()
  }
}
