import { HIDEABLE, type Hideable, type Place } from '../shell/place.ts'
import type { Van } from '../van/prepare-fleet.ts'

/** Whether a van is on the map, as far as the filter goes. */
export function isShown(van: Pick<Van, 'state' | 'depotId'>, place: Pick<Place, 'hidden' | 'depot'>): boolean {
  if (place.depot !== null && van.depotId !== place.depot) return false
  return !place.hidden.some((state) => state === van.state)
}

/** The hidden states after one was switched. */
export function toggled<Name extends string>(names: readonly Name[], name: Name): readonly Name[] {
  return names.includes(name) ? names.filter((one) => one !== name) : [...names, name]
}

/** Vans on the map by state, those of the depot alone. */
export function countStates(fleet: readonly Van[], depot: string | null): Record<Hideable, number> {
  const counts = Object.fromEntries(HIDEABLE.map((state) => [state, 0])) as Record<Hideable, number>
  for (const van of fleet) {
    if (van.point === null || (depot !== null && van.depotId !== depot)) continue
    if (van.state in counts) counts[van.state as Hideable] += 1
  }
  return counts
}

/** Depots that vans belong to, by name. */
export function depotsOf(fleet: readonly Van[]): { readonly id: string; readonly name: string }[] {
  const names = new Map<string, string>()
  for (const { depotId, depotName } of fleet) if (depotId !== null) names.set(depotId, depotName ?? depotId)
  return [...names].map(([id, name]) => ({ id, name })).sort((a, b) => a.name.localeCompare(b.name, 'ca'))
}

/** The query of a file of what is shown: the depot, and of the fleet the states that are not left out. */
export function fileFilter({ depot, hidden }: Pick<Place, 'depot' | 'hidden'>, set: string): string {
  const query = new URLSearchParams()
  if (depot !== null) query.set('depot', depot)
  if (hidden.length > 0 && set === 'fleet') query.set('state', HIDEABLE.filter((state) => !hidden.includes(state)).join(','))
  const text = query.toString().replaceAll('%2C', ',')
  return text === '' ? '' : `?${text}`
}
