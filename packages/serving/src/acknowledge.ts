import type { AcknowledgementView, Scope } from '@km0/contracts'
import type { Pool } from './pool.ts'
import { vanScope } from './scope.ts'

/**
 * Stores that somebody has seen a van's signal state. Each command is kept; the newest of a state is in force. Resolves false, storing
 * nothing, when the scope may not see the van.
 */
export async function acknowledge(pool: Pool, scope: Scope, view: AcknowledgementView): Promise<boolean> {
  const clause = vanScope(scope, 8)
  const rows = await pool.query(
    `insert into km0.acknowledgement (van, since_ms, actor_id, actor_name, actor_roles, note, at_ms)
     select x.van, $2::bigint, $3::text, $4::text, $5::text[], $6::text, $7::bigint
     from (select $1::text as van) x left join km0.van v on v.van = x.van where ${clause.sql} returning id`,
    [view.van, view.sinceMs, view.actor.id, view.actor.name, view.actor.roles, view.note, view.atMs, ...clause.values],
  )
  return rows.length === 1
}
