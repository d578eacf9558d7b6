import type { Scope } from '@km0/contracts'
import type pg from 'pg'
import type { Client, Pool } from './pool.ts'

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

const ONE_MOMENT = 'begin isolation level repeatable read read only'

/**
 * Runs `work` in a read-only transaction, as of one moment. Of a limited scope PostgreSQL itself leaves out what it may not see, whatever the
 * statements ask for (migration 16): the conditions above are the first wall, this is the second.
 */
export function readScoped<T>(pool: Pool, scope: Scope, work: (client: Client) => Promise<T>): Promise<T> {
  return pool.transaction(ONE_MOMENT, (client) => withinScope(client, scope, () => work(client)))
}

/** One statement of `readScoped`. */
export async function queryScoped<Row extends pg.QueryResultRow>(
  pool: Pool,
  scope: Scope,
  text: string,
  values: readonly unknown[],
): Promise<Row[]> {
  if (scope.kind === 'all') return pool.query<Row>(text, values)
  return readScoped(pool, scope, async (client) => (await client.query<Row>(text, [...values])).rows)
}

/** The same within a transaction that goes on to write what only the tables' owner may: `work` may do nothing but read. */
export async function withinScope<T>(client: Client, scope: Scope, work: () => Promise<T>): Promise<T> {
  if (scope.kind === 'all') return work()
  const { depots, markets } = scope
  // Both end with the transaction. Without the first the role sees nothing.
  await client.query(`select km0.enter_scope($1, $2), set_config('role', 'km0_reader', true)`, [depots, markets])
  const result = await work()
  await client.query(`select set_config('role', 'none', true)`)
  return result
}
