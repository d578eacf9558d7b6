import type { AuditEntry } from '@km0/contracts'
import type { Pool } from '../pool.ts'

export interface AuditQuery {
  /** Only entries before this one; null for the newest. */
  readonly before: number | null
  /** Part of the actor's name, any case. */
  readonly actor: string | null
  readonly action: string | null
  readonly limit: number
}

const COLUMNS = 'id, at_ms as "atMs", actor_id as "actorId", actor_name as "actorName", action, detail, address'

export async function writeAudit(pool: Pool, entry: Omit<AuditEntry, 'id'>): Promise<void> {
  await pool.query('insert into km0.audit (at_ms, actor_id, actor_name, action, detail, address) values ($1, $2, $3, $4, $5, $6)', [
    entry.atMs,
    entry.actorId,
    entry.actorName,
    entry.action,
    entry.detail,
    entry.address,
  ])
}

/** Newest first. */
export async function readAudit(pool: Pool, query: AuditQuery): Promise<AuditEntry[]> {
  return pool.query<AuditEntry & Record<string, unknown>>(
    `select ${COLUMNS} from km0.audit
     where ($1::bigint is null or id < $1) and ($2::text is null or position(lower($2) in lower(actor_name)) > 0) and ($3::text is null or action = $3)
     order by id desc limit $4`,
    [query.before, query.actor, query.action, query.limit],
  )
}

export async function auditActions(pool: Pool): Promise<string[]> {
  return (await pool.query<{ action: string }>('select distinct action from km0.audit order by action')).map(({ action }) => action)
}

/** Forgets what is older. Returns how many entries. */
export async function dropAuditBefore(pool: Pool, beforeMs: number): Promise<number> {
  return (await pool.query('delete from km0.audit where at_ms < $1 returning id', [beforeMs])).length
}
