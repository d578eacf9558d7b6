import type { Actor, MuteView, Scope } from '@km0/contracts'
import type { Client, Pool } from '../pool.ts'
import { depotScope, vanScope, withinScope } from '../scope.ts'

interface MuteRow {
  id: number
  kind: 'van' | 'depot'
  subject: string
  untilMs: number | null
  note: string
  actorId: string
  actorName: string
  actorRoles: string[]
  atMs: number
  endedAtMs: number | null
  endedById: string | null
  endedByName: string | null
  endedByRoles: string[] | null
}

const COLUMNS = `m.id, m.kind, m.subject, m.until_ms as "untilMs", m.note, m.actor_id as "actorId", m.actor_name as "actorName",
  m.actor_roles as "actorRoles", m.at_ms as "atMs", m.ended_at_ms as "endedAtMs", m.ended_by_id as "endedById",
  m.ended_by_name as "endedByName", m.ended_by_roles as "endedByRoles"`

/** Condition on `m`, a row of km0.mute: its van or its depot is of the scope. */
function muteScope(scope: Scope, first: number): { readonly sql: string; readonly values: readonly unknown[] } {
  if (scope.kind === 'all') return { sql: 'true', values: [] }
  const van = vanScope(scope, first)
  const depot = depotScope(scope, first)
  return {
    sql: `(m.kind = 'van' and exists (select from km0.van v where v.van = m.subject and ${van.sql})
      or m.kind = 'depot' and exists (select from km0.depot d where d.id = m.subject and ${depot.sql}))`,
    values: van.values,
  }
}

/** In force at `nowMs`, newest first. */
export async function readMutes(client: Client, scope: Scope, nowMs: number): Promise<MuteView[]> {
  const clause = muteScope(scope, 2)
  const { rows } = await client.query<MuteRow>(
    `select ${COLUMNS} from km0.mute m where m.ended_at_ms is null and (m.until_ms is null or m.until_ms > $1) and ${clause.sql} order by m.id desc`,
    [nowMs, ...clause.values],
  )
  return rows.map(viewOf)
}

/** Mutes that somebody set, lifted, or that ran out since. */
export async function readMuteChanges(
  client: Client,
  scope: Scope,
  { fromMs, toMs, limit }: { readonly fromMs: number; readonly toMs: number; readonly limit: number },
): Promise<{ readonly mute: MuteView; readonly ended: { readonly atMs: number; readonly actor: Actor } | null }[]> {
  const clause = muteScope(scope, 4)
  const { rows } = await client.query<MuteRow>(
    `select ${COLUMNS} from km0.mute m
     where m.at_ms <= $2 and (m.at_ms >= $1 or m.ended_at_ms >= $1 or m.until_ms between $1 and $2) and ${clause.sql} order by m.id desc limit $3`,
    [fromMs, toMs, limit, ...clause.values],
  )
  return rows.map((row) => {
    const mute = viewOf(row)
    if (row.endedAtMs !== null) {
      const actor = { id: row.endedById ?? '', name: row.endedByName ?? '', roles: row.endedByRoles ?? [] }
      return { mute, ended: { atMs: row.endedAtMs, actor } }
    }
    return { mute, ended: row.untilMs !== null && row.untilMs <= toMs ? { atMs: row.untilMs, actor: mute.actor } : null }
  })
}

export interface MuteCommand {
  readonly kind: 'van' | 'depot'
  readonly subject: string
  readonly untilMs: number | null
  readonly note: string
  readonly actor: Actor
  readonly atMs: number
}

/** Stores that a van or a depot is muted; of the same one the newest counts, those before are over. null when the scope may not see it, or there is none. */
export async function mute(pool: Pool, scope: Scope, command: MuteCommand): Promise<number | null> {
  const { kind, subject, untilMs, note, actor, atMs } = command
  return pool.transaction('begin', async (client) => {
    const clause = kind === 'van' ? vanScope(scope, 2) : depotScope(scope, 2)
    const seen =
      kind === 'van'
        ? `select from (select $1::text as van) x left join km0.van v on v.van = x.van where ${clause.sql}`
        : `select from km0.depot d where d.id = $1 and ${clause.sql}`
    const { rowCount } = await withinScope(client, scope, () => client.query(seen, [subject, ...clause.values]))
    if (rowCount === 0) return null
    await client.query(
      `update km0.mute set ended_at_ms = $3, ended_by_id = $4, ended_by_name = $5, ended_by_roles = $6
       where kind = $1 and subject = $2 and ended_at_ms is null`,
      [kind, subject, atMs, actor.id, actor.name, actor.roles],
    )
    const { rows } = await client.query<{ id: number }>(
      `insert into km0.mute (kind, subject, until_ms, note, actor_id, actor_name, actor_roles, at_ms)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning id`,
      [kind, subject, untilMs, note, actor.id, actor.name, actor.roles, atMs],
    )
    return rows[0]?.id ?? null
  })
}

/** Lifts a mute. False when the scope may not see it or there is none in force. */
export async function unmute(pool: Pool, scope: Scope, id: number, actor: Actor, atMs: number): Promise<boolean> {
  const clause = muteScope(scope, 2)
  return pool.transaction('begin', async (client) => {
    const seen = await withinScope(client, scope, () =>
      client.query(`select from km0.mute m where m.id = $1 and ${clause.sql}`, [id, ...clause.values]),
    )
    if (seen.rowCount === 0) return false
    const { rowCount } = await client.query(
      `update km0.mute set ended_at_ms = $2, ended_by_id = $3, ended_by_name = $4, ended_by_roles = $5 where id = $1 and ended_at_ms is null`,
      [id, atMs, actor.id, actor.name, actor.roles],
    )
    return rowCount === 1
  })
}

function viewOf({ id, kind, subject, untilMs, note, actorId, actorName, actorRoles, atMs }: MuteRow): MuteView {
  return { id, kind, subject, untilMs, note, actor: { id: actorId, name: actorName, roles: actorRoles }, atMs }
}
