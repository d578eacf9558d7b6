import type { Depot, Scope } from '@km0/contracts'

/** Socket room of a scope: equal scopes share one. */
export function roomOf(scope: Scope): string {
  const how = `${scope.masked === true ? ':masked' : ''}${scope.coarseOffShift === true ? ':off-shift' : ''}`
  if (scope.kind === 'all') return `scope:all${how}`
  return `scope:${JSON.stringify([[...scope.depots].sort(), [...scope.markets].sort()])}${how}`
}

/**
 * Whether a scope may see what belongs to a depot. A depot is seen by name or through one of its markets; what belongs to none (vans that
 * are not registered) is seen by those who see everything.
 */
export function mayPass(scope: Scope, depots: ReadonlyMap<string, Depot>): (depotId: string | null) => boolean {
  if (scope.kind === 'all') return () => true
  const allowed = new Set(scope.depots)
  for (const depot of depots.values()) if (depot.markets.some((market) => scope.markets.includes(market))) allowed.add(depot.id)
  return (depotId) => depotId !== null && allowed.has(depotId)
}
