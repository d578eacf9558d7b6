import type { AccessKeyView, AuditEntry, Scope, UserView } from '@km0/contracts'
import { openPgPool, Pool, type PoolOptions } from '../pool.ts'
import { readRegister } from '../read-panel.ts'
import { addKey, listKeys, type NewKey, revokeKey, useKey } from './access-keys.ts'
import { type AuditQuery, auditActions, dropAuditBefore, readAudit, writeAudit } from './audit.ts'
import {
  addUser,
  administratorHasSignedIn,
  changeUser,
  dropEnded,
  endSessions,
  findUser,
  listUsers,
  noteSignIn,
  type UserRights,
} from './users.ts'

/** Connections for the library's own statements. */
const LIBRARY_CONNECTIONS = 2

/** Users, keys and the audit. Every method rejects with ServingUnavailableError while PostgreSQL is away. */
export class SignInStore {
  readonly #pool: Pool
  /** For better-auth, whose tables are those that begin with `sign_in_`; it finds them by the search path. */
  readonly libraryPool: ReturnType<typeof openPgPool>

  constructor(options: PoolOptions) {
    this.#pool = new Pool({ ...options, maxConnections: options.maxConnections ?? 2 })
    this.libraryPool = openPgPool({ ...options, maxConnections: LIBRARY_CONNECTIONS, schema: 'km0' })
  }

  /** What signs cookies: `fresh` the first time, and from then on what was stored then. */
  async secret(fresh: string): Promise<string> {
    await this.#pool.query('insert into km0.sign_in_secret (secret) values ($1) on conflict do nothing', [fresh])
    const [row] = await this.#pool.query<{ secret: string }>('select secret from km0.sign_in_secret')
    return row!.secret
  }

  listUsers(): Promise<UserView[]> {
    return listUsers(this.#pool)
  }
  findUser(by: { readonly id: string } | { readonly email: string }): Promise<UserView | null> {
    return findUser(this.#pool, by)
  }
  addUser(user: UserRights & { readonly id: string; readonly email: string }): Promise<UserView | null> {
    return addUser(this.#pool, user)
  }
  changeUser(
    id: string,
    change: Partial<UserRights> & { readonly revokedAtMs?: number | null },
  ): Promise<UserView | 'unknown' | 'last administrator'> {
    return changeUser(this.#pool, id, change)
  }
  endSessions(userId: string, exceptId: string | null = null): Promise<number> {
    return endSessions(this.#pool, userId, exceptId)
  }
  dropEnded(beforeMs: number): Promise<number> {
    return dropEnded(this.#pool, beforeMs)
  }
  administratorHasSignedIn(): Promise<boolean> {
    return administratorHasSignedIn(this.#pool)
  }
  noteSignIn(userId: string, atMs: number): Promise<void> {
    return noteSignIn(this.#pool, userId, atMs)
  }

  listKeys(): Promise<AccessKeyView[]> {
    return listKeys(this.#pool)
  }
  addKey(key: NewKey): Promise<AccessKeyView> {
    return addKey(this.#pool, key)
  }
  useKey(sha256: Buffer, atMs: number): Promise<AccessKeyView | null> {
    return useKey(this.#pool, sha256, atMs)
  }
  revokeKey(id: number, atMs: number): Promise<boolean> {
    return revokeKey(this.#pool, id, atMs)
  }

  writeAudit(entry: Omit<AuditEntry, 'id'>): Promise<void> {
    return writeAudit(this.#pool, entry)
  }
  readAudit(query: AuditQuery): Promise<AuditEntry[]> {
    return readAudit(this.#pool, query)
  }
  auditActions(): Promise<string[]> {
    return auditActions(this.#pool)
  }
  dropAuditBefore(beforeMs: number): Promise<number> {
    return dropAuditBefore(this.#pool, beforeMs)
  }

  /** What a scope can be made of. */
  async places(
    scope: Scope,
  ): Promise<{ readonly depots: readonly { readonly id: string; readonly name: string }[]; readonly markets: string[] }> {
    const { depots } = await readRegister(this.#pool, scope)
    return {
      depots: depots.map(({ id, name }) => ({ id, name })),
      markets: [...new Set(depots.flatMap(({ markets }) => markets))].sort(),
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.libraryPool.end()])
  }
}

/** Opens users, keys and the audit. Connects at the first use. */
export function openSignInStore(options: PoolOptions): SignInStore {
  return new SignInStore(options)
}
