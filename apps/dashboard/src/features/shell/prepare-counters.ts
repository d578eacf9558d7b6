import { isHidden } from '../no-signal/prepare-no-signal.ts'
import type { Van } from '../van/prepare-fleet.ts'

export interface Counters {
  readonly moving: number
  readonly stopped: number
  /** Silent for three minutes or more, provisional ones included; of vans that we can hear and that nobody has muted. */
  readonly noSignal: number
  /** Hidden by an outage of ours. */
  readonly unknown: number
}

export function prepareCounters(fleet: readonly Van[]): Counters {
  const count = (state: Van['state']) => fleet.filter((van) => van.state === state).length
  const silent = fleet.filter((van) => (van.state === 'silent' || van.state === 'provisional') && van.mute === null)
  const hidden = silent.filter(isHidden).length
  return { moving: count('moving'), stopped: count('stopped'), noSignal: silent.length - hidden, unknown: count('unknown') + hidden }
}
