/** Rule 2 of section 3: `futur` or `antic` when the event time cannot be true at that arrival time, else null. */
export function offTheClock(eventMs: number, arrivalMs: number, maxFutureMs: number, maxAgeMs: number): 'futur' | 'antic' | null {
  if (eventMs > arrivalMs + maxFutureMs) return 'futur'
  return eventMs < arrivalMs - maxAgeMs ? 'antic' : null
}
