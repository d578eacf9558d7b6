import type { Scope } from '@km0/contracts'

export interface ScopeClause {
  /** Condition on `v`, a row of km0.van that may be missing (left join). */
  readonly sql: string
  readonly values: readonly unknown[]
}

/**
 * The part of a read that says whose vans it may see. A depot is seen by name or through one of its markets; vans that are not registered
 * belong to none and are seen by those who see everything. `first` is the number of its first parameter.
 */
export function vanScope(scope: Scope, first: number): ScopeClause {
  if (scope.kind === 'all') return { sql: 'true', values: [] }
  return { sql: `v.depot_id in (select d.id from km0.depot d where ${depotCondition(first)})`, values: [scope.depots, scope.markets] }
}

/** The same for rows of km0.depot, named `d`. */
export function depotScope(scope: Scope, first: number): ScopeClause {
  if (scope.kind === 'all') return { sql: 'true', values: [] }
  return { sql: depotCondition(first), values: [scope.depots, scope.markets] }
}

const depotCondition = (first: number) => `(d.id = any($${first}::text[]) or d.markets && $${first + 1}::text[])`

/** The same for rows that belong to a market: `column` is where it stands. A market is seen by name or through a depot that serves it. */
export function marketScope(scope: Scope, column: string, first: number): ScopeClause {
  if (scope.kind === 'all') return { sql: 'true', values: [] }
  const depots = `exists (select from km0.depot d where d.id = any($${first}::text[]) and ${column} = any(d.markets))`
  return { sql: `(${column} = any($${first + 1}::text[]) or ${depots})`, values: [scope.depots, scope.markets] }
}
