import type { Van } from '../van/prepare-fleet.ts'

export interface Counters {
  readonly moving: number
  readonly stopped: number
  /** Silent for three minutes or more, provisional ones included. */
  readonly noSignal: number
}

export function prepareCounters(fleet: readonly Van[]): Counters {
  const count = (...states: readonly Van['state'][]) => fleet.filter((van) => states.includes(van.state)).length
  return { moving: count('moving'), stopped: count('stopped'), noSignal: count('silent', 'provisional') }
}
