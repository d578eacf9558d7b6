import type { AccessKeyView, Scope } from '@km0/contracts'
import type { Pool } from '../pool.ts'
import { scopeOf, scopeValues } from './users.ts'

interface KeyRow extends Record<string, unknown> {
  readonly id: number
  readonly kind: AccessKeyView['kind']
  readonly name: string
  readonly hint: string
  readonly allVans: boolean
  readonly depots: readonly string[]
  readonly markets: readonly string[]
  readonly masked: boolean
  readonly createdBy: string
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
  readonly revokedAtMs: number | null
}

export interface NewKey {
  readonly kind: AccessKeyView['kind']
  readonly name: string
  readonly scope: Scope
  readonly masked: boolean
  readonly sha256: Buffer
  readonly hint: string
  readonly createdBy: string
  readonly createdAtMs: number
}

const COLUMNS = `id, kind, name, hint, all_vans as "allVans", depots, markets, masked, created_by as "createdBy", created_at_ms as "createdAtMs",
  last_used_at_ms as "lastUsedAtMs", revoked_at_ms as "revokedAtMs"`

/** When a key was used last is kept to the minute: it is asked for with each request. */
const USED_EVERY_MS = 60_000

/** All keys, those in force first, newest first. */
export async function listKeys(pool: Pool): Promise<AccessKeyView[]> {
  return (await pool.query<KeyRow>(`select ${COLUMNS} from km0.access_key order by revoked_at_ms is not null, id desc`)).map(viewOf)
}

export async function addKey(pool: Pool, key: NewKey): Promise<AccessKeyView> {
  const [row] = await pool.query<KeyRow>(
    `insert into km0.access_key (kind, name, sha256, hint, all_vans, depots, markets, created_by, created_at_ms, masked)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${COLUMNS}`,
    [key.kind, key.name, key.sha256, key.hint, ...scopeValues(key.scope), key.createdBy, key.createdAtMs, key.masked],
  )
  return viewOf(row!)
}

/** The key in force with this digest; null when there is none. Notes that it was used. */
export async function useKey(pool: Pool, sha256: Buffer, atMs: number): Promise<AccessKeyView | null> {
  const [row] = await pool.query<KeyRow>(`select ${COLUMNS} from km0.access_key where sha256 = $1 and revoked_at_ms is null`, [sha256])
  if (row === undefined) return null
  if ((row.lastUsedAtMs ?? 0) < atMs - USED_EVERY_MS)
    await pool.query('update km0.access_key set last_used_at_ms = $2 where id = $1', [row.id, atMs])
  return viewOf(row)
}

/** False when no such key is in force. */
export async function revokeKey(pool: Pool, id: number, atMs: number): Promise<boolean> {
  const rows = await pool.query('update km0.access_key set revoked_at_ms = $2 where id = $1 and revoked_at_ms is null returning id', [
    id,
    atMs,
  ])
  return rows.length > 0
}

function viewOf({ allVans, depots, markets, ...row }: KeyRow): AccessKeyView {
  return { ...row, scope: scopeOf({ allVans, depots, markets }) }
}
