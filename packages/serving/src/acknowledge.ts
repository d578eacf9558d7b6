import type { AcknowledgementView, Scope } from '@km0/contracts'
import type { Pool } from './pool.ts'
import { vanScope, withinScope } from './scope.ts'

/**
 * Stores that somebody has seen a van's signal state. Each command is kept; the newest of a state is in force. Resolves false, storing
 * nothing, when the scope may not see the van.
 */
export async function acknowledge(pool: Pool, scope: Scope, view: AcknowledgementView): Promise<boolean> {
  const clause = vanScope(scope, 2)
  return pool.transaction('begin', async (client) => {
    const { rowCount } = await withinScope(client, scope, () =>
      client.query(`select from (select $1::text as van) x left join km0.van v on v.van = x.van where ${clause.sql}`, [
        view.van,
        ...clause.values,
      ]),
    )
    if (rowCount !== 1) return false
    await client.query(
      `insert into km0.acknowledgement (van, since_ms, actor_id, actor_name, actor_roles, note, at_ms) values ($1, $2, $3, $4, $5, $6, $7)`,
      [view.van, view.sinceMs, view.actor.id, view.actor.name, view.actor.roles, view.note, view.atMs],
    )
    return true
  })
}
