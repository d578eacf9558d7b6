import { EVERYTHING, type PersonRole, type Scope, type UserView } from '@km0/contracts'
import type { Pool } from '../pool.ts'

/** A user as the store has them. */
interface UserRow extends Record<string, unknown> {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly role: PersonRole
  readonly allVans: boolean
  readonly depots: readonly string[]
  readonly markets: readonly string[]
  readonly createdAtMs: number
  readonly lastSignInAtMs: number | null
  readonly revokedAtMs: number | null
  readonly hasPassword: boolean
  readonly sessions: number
}

/** What an administrator says of a user. */
export interface UserRights {
  readonly name: string
  readonly role: PersonRole
  readonly scope: Scope
}

const COLUMNS = `u.id, u.name, u.email, u.role, u.all_vans as "allVans", u.depots, u.markets,
  (extract(epoch from u.created_at) * 1000)::bigint as "createdAtMs", u.last_sign_in_at_ms as "lastSignInAtMs", u.revoked_at_ms as "revokedAtMs",
  exists (select from km0.sign_in_account a where a.user_id = u.id and a.password is not null) as "hasPassword",
  (select count(*) from km0.sign_in_session s where s.user_id = u.id and s.expires_at > now()) as sessions`

/** All users, those who may come in first, then by name. */
export async function listUsers(pool: Pool): Promise<UserView[]> {
  const rows = await pool.query<UserRow>(
    `select ${COLUMNS} from km0.sign_in_user u order by u.revoked_at_ms is not null, lower(u.name), u.id`,
  )
  return rows.map(viewOf)
}

export async function findUser(pool: Pool, by: { readonly id: string } | { readonly email: string }): Promise<UserView | null> {
  const [row] =
    'id' in by
      ? await pool.query<UserRow>(`select ${COLUMNS} from km0.sign_in_user u where u.id = $1`, [by.id])
      : await pool.query<UserRow>(`select ${COLUMNS} from km0.sign_in_user u where u.email = lower($1)`, [by.email])
  return row === undefined ? null : viewOf(row)
}

/** Adds a user; null when the e-mail address is taken. An administrator sees everything, whatever is said. */
export async function addUser(pool: Pool, user: UserRights & { readonly id: string; readonly email: string }): Promise<UserView | null> {
  const rows = await pool.query(
    `insert into km0.sign_in_user (id, name, email, role, all_vans, depots, markets) values ($1, $2, lower($3), $4, $5, $6, $7)
     on conflict (email) do nothing returning id`,
    [user.id, user.name, user.email, user.role, ...scopeValues(user.role === 'administrator' ? EVERYTHING : user.scope)],
  )
  return rows.length === 0 ? null : findUser(pool, { id: user.id })
}

/**
 * Changes what a user may do and see, or lets them in no more. What is not given stays. Refuses, with null, what would leave nobody who may
 * administer; 'unknown' when there is no such user. Whoever is let in no more loses sessions at once.
 */
export async function changeUser(
  pool: Pool,
  id: string,
  change: Partial<UserRights> & { readonly revokedAtMs?: number | null },
): Promise<UserView | 'unknown' | 'last administrator'> {
  const outcome = await pool
    .transaction('begin', async (client) => {
      await client.query('lock table km0.sign_in_user in share row exclusive mode')
      const { rowCount } = await client.query(
        `update km0.sign_in_user set name = coalesce($2, name), role = coalesce($3, role), all_vans = coalesce($3, role) = 'administrator' or coalesce($4, all_vans),
         depots = coalesce($5, depots), markets = coalesce($6, markets), revoked_at_ms = case when $7 then $8 else revoked_at_ms end,
         updated_at = now() where id = $1`,
        [
          id,
          change.name ?? null,
          change.role ?? null,
          ...(change.scope === undefined ? [null, null, null] : scopeValues(change.scope)),
          change.revokedAtMs !== undefined,
          change.revokedAtMs ?? null,
        ],
      )
      if (rowCount === 0) return 'unknown' as const
      const { rows } = await client.query(
        `select from km0.sign_in_user where role = 'administrator' and all_vans and revoked_at_ms is null limit 1`,
      )
      if (rows.length === 0) throw new LastAdministrator()
      if (change.revokedAtMs !== undefined && change.revokedAtMs !== null)
        await client.query('delete from km0.sign_in_session where user_id = $1', [id])
      return 'changed' as const
    })
    .catch((error: unknown) => {
      if (error instanceof LastAdministrator) return 'last administrator' as const
      throw error
    })
  if (outcome !== 'changed') return outcome
  return (await findUser(pool, { id })) ?? 'unknown'
}

/** Rolls the transaction back. */
class LastAdministrator extends Error {}

/** Ends the sessions of a user, except for one where it is given. Returns how many. */
export async function endSessions(pool: Pool, userId: string, exceptId: string | null): Promise<number> {
  const rows = await pool.query('delete from km0.sign_in_session where user_id = $1 and id is distinct from $2 returning id', [
    userId,
    exceptId,
  ])
  return rows.length
}

/** Forgets sessions and one-time links that ended before. Returns how many. */
export async function dropEnded(pool: Pool, beforeMs: number): Promise<number> {
  const before = [new Date(beforeMs)]
  const sessions = await pool.query('delete from km0.sign_in_session where expires_at < $1 returning id', before)
  const links = await pool.query('delete from km0.sign_in_verification where expires_at < $1 returning id', before)
  return sessions.length + links.length
}

/** Whether somebody who may administer has ever come in. */
export async function administratorHasSignedIn(pool: Pool): Promise<boolean> {
  const rows = await pool.query(
    `select from km0.sign_in_user where role = 'administrator' and all_vans and revoked_at_ms is null and last_sign_in_at_ms is not null limit 1`,
  )
  return rows.length > 0
}

export async function noteSignIn(pool: Pool, userId: string, atMs: number): Promise<void> {
  await pool.query('update km0.sign_in_user set last_sign_in_at_ms = $2 where id = $1', [userId, atMs])
}

export function scopeValues(scope: Scope): [allVans: boolean, depots: readonly string[], markets: readonly string[]] {
  return scope.kind === 'all' ? [true, [], []] : [false, scope.depots, scope.markets]
}

export function scopeOf(row: {
  readonly allVans: boolean
  readonly depots: readonly string[]
  readonly markets: readonly string[]
}): Scope {
  return row.allVans ? { kind: 'all' } : { kind: 'limited', depots: row.depots, markets: row.markets }
}

function viewOf({ allVans, depots, markets, ...row }: UserRow): UserView {
  return { ...row, scope: scopeOf({ allVans, depots, markets }) }
}
