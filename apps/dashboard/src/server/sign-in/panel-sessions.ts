import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { AccessKeyView } from '@km0/contracts'
import type { FoundSession, SignIn } from '@km0/signin'
import { limitedScopes, type MaskingRules, NO_MASKING } from '../masking/settings.ts'
import { readCookies } from './cookies.ts'
import type { Session, Sessions } from './session.ts'

export const WALL_COOKIE = 'km0_wall'
/** For so long a session is taken from memory. Whoever is revoked on this panel is out at once; by `km0 user revoke`, within this. */
const FRESH_MS = 3_000
/** Sessions and keys kept in memory: more than people and screens there are. */
const KEPT = 5_000

interface Known {
  readonly session: Session | null
  readonly readMs: number
}

/** Sessions as PostgreSQL has them. What was read is good for some seconds, and for as long as PostgreSQL is away. */
export class PanelSessions implements Sessions {
  readonly #signIn: Pick<SignIn, 'find' | 'findKey'>
  readonly #nowMs: () => number
  readonly #masking: MaskingRules
  readonly #known = new Map<string, Known>()
  readonly #listeners: (() => void)[] = []

  constructor(options: {
    readonly signIn: Pick<SignIn, 'find' | 'findKey'>
    readonly nowMs: () => number
    /** Who sees pseudonyms and grids; absent: nobody. */
    readonly masking?: MaskingRules
  }) {
    this.#masking = options.masking ?? NO_MASKING
    this.#signIn = options.signIn
    this.#nowMs = options.nowMs
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Something was changed here: nothing in memory holds any more. */
  changed(): void {
    this.#known.clear()
    for (const listener of this.#listeners) listener()
  }

  async find(headers: IncomingHttpHeaders, how?: { readonly fresh: boolean }): Promise<Session | null> {
    const shown = shownBy(headers)
    if (shown === null) return null
    const name = createHash('sha256').update(JSON.stringify(shown)).digest('base64')
    const known = this.#known.get(name)
    const nowMs = this.#nowMs()
    if (known !== undefined && !how?.fresh && nowMs < known.readMs + FRESH_MS) return inTime(known.session, nowMs)
    try {
      const session = await this.#read(shown)
      this.#keep(name, { session, readMs: nowMs })
      return session
    } catch (error) {
      if (known === undefined) throw error
      return inTime(known.session, nowMs)
    }
  }

  async #read(shown: Shown): Promise<Session | null> {
    const found = await this.#find(shown)
    if (found === null) return null
    const { session, isMasked } = found
    const { kind, scope } = session
    return { ...session, ...limitedScopes(this.#masking, { kind, roles: session.actor.roles, scope, isMasked }) }
  }

  async #find(shown: Shown): Promise<{ readonly session: Session; readonly isMasked: boolean } | null> {
    if (shown.token !== null) {
      const key = await this.#signIn.findKey(shown.token)
      return key?.kind === 'token' ? { session: keySession(key), isMasked: key.masked } : null
    }
    if (shown.session !== null) {
      const found = await this.#signIn.find(shown.session)
      if (found !== null) return { session: personSession(found), isMasked: false }
    }
    const key = shown.wall === null ? null : await this.#signIn.findKey(shown.wall)
    return key?.kind === 'wall' ? { session: keySession(key), isMasked: key.masked } : null
  }

  #keep(name: string, known: Known): void {
    this.#known.delete(name)
    this.#known.set(name, known)
    const oldest = this.#known.keys().next().value
    if (this.#known.size > KEPT && oldest !== undefined) this.#known.delete(oldest)
  }
}

/** What a request shows of who it is: a token alone, or cookies. */
interface Shown {
  readonly token: string | null
  /** Cookie header of the session alone. */
  readonly session: string | null
  readonly wall: string | null
}

function shownBy(headers: IncomingHttpHeaders): Shown | null {
  const bearer = /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]
  if (bearer !== undefined) return { token: bearer, session: null, wall: null }
  const cookies = readCookies(headers.cookie)
  const session = [...cookies].filter(([name]) => name.endsWith('km0.session_token')).map(([name, value]) => `${name}=${value}`)
  const wall = cookies.get(WALL_COOKIE) ?? null
  return session.length === 0 && wall === null ? null : { token: null, session: session.length === 0 ? null : session.join('; '), wall }
}

function inTime(session: Session | null, nowMs: number): Session | null {
  return session === null || session.expiresAtMs === null || nowMs < session.expiresAtMs ? session : null
}

function personSession({ id, user, expiresAtMs, via }: FoundSession): Session {
  return {
    id: `person:${id}`,
    kind: 'person',
    actor: { id: user.id, name: user.name, roles: [user.role] },
    email: user.email,
    scope: user.scope,
    expiresAtMs,
    mayChoosePassword: via === 'link',
  }
}

function keySession({ id, kind, name, scope }: AccessKeyView): Session {
  return {
    id: `${kind}:${id}`,
    kind,
    actor: { id: `${kind}:${id}`, name, roles: [kind === 'wall' ? 'wall' : 'reader'] },
    email: null,
    scope,
    expiresAtMs: null,
    mayChoosePassword: false,
  }
}
