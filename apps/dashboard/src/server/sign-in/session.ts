import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Actor, PersonRole, Scope, SessionKind } from '@km0/contracts'
import { Refusal } from '../guard.ts'
import type { Access, Needs } from './access.ts'

/** Who has come in. */
export interface Session {
  /** Tells sessions apart. */
  readonly id: string
  readonly kind: SessionKind
  readonly actor: Actor
  readonly email: string | null
  readonly scope: Scope
  /** Of files that leave the panel; absent: the same. */
  readonly exportScope?: Scope
  /** null for what does not expire by itself. */
  readonly expiresAtMs: number | null
  readonly mayChoosePassword: boolean
}

/** Where sessions are found. There is no default: a panel without sign-in cannot be started by leaving something out. */
export interface Sessions {
  /** Whose session the headers name; null when nobody's. Rejects while that cannot be known. `fresh` takes nothing from memory. */
  find(headers: IncomingHttpHeaders, how?: { readonly fresh: boolean }): Promise<Session | null>
  /** Calls back whenever sessions may have ended before their time. */
  onChange?(listener: () => void): void
}

const kept = new WeakMap<IncomingMessage, Session>()

/** Keeps whose request it is, for those who answer it. Done once, at the door. */
export function keepSession(request: IncomingMessage, session: Session | null): void {
  if (session !== null) kept.set(request, session)
}

/** Whose request it is; null where the door let everybody in. */
export function keptSession(request: IncomingMessage): Session | null {
  return kept.get(request) ?? null
}

export const SIGN_IN_HINT = 'Sign in on /entrada, or send "Authorization: Bearer TOKEN".'

/** Who asks, what they may see and what they are. Throws a Refusal (401) for a request that did not come through the door. */
export function sessionOf(request: IncomingMessage): {
  readonly scope: Scope
  readonly operator: Actor
  readonly roles: readonly string[]
} {
  const session = kept.get(request)
  if (session === undefined) throw new Refusal(401, 'nobody is signed in', SIGN_IN_HINT)
  return { scope: session.scope, operator: session.actor, roles: session.actor.roles }
}

/** What a file may hold that who asks takes away. Throws a Refusal (401) for a request that did not come through the door. */
export function exportScopeOf(request: IncomingMessage): Scope {
  return kept.get(request)?.exportScope ?? sessionOf(request).scope
}

/** Throws a Refusal (403) unless who asks is that, or an administrator. */
export function requireRole(request: IncomingMessage, role: PersonRole): void {
  if (!mayAct(sessionOf(request).roles, role)) throw refusedRole(role)
}

/** Throws a Refusal unless who asks may see everything: `what` is of all vans. */
export function requireEverything(request: IncomingMessage, what: string): void {
  if (sessionOf(request).scope.kind !== 'all') throw new Refusal(403, `${what} of all vans`, 'Ask somebody who sees all depots.')
}

/** Throws a Refusal unless a session may come through a door: 401 for nobody, 403 for somebody who may not. */
export function checkAccess(access: Access, session: Session | null): void {
  if (access.needs === 'open') return
  if (session === null) throw new Refusal(401, 'nobody is signed in', SIGN_IN_HINT)
  if (!mayCall(access.needs, session)) throw refusedRole(access.needs)
  const isBare = access.vans !== 'none' && access.masks === undefined
  if (isBare && session.scope.masked === true)
    throw new Refusal(403, 'this names vans, and you see pseudonyms', 'An administrator says who sees which van: KM0_MASKED, or the token.')
  if (access.vans === 'all' && session.scope.kind !== 'all')
    throw new Refusal(403, 'this is of all vans', 'Ask somebody who sees all depots.')
}

function mayCall(needs: Exclude<Needs, 'open'>, session: Session): boolean {
  if (needs === 'any') return true
  if (session.kind !== 'person') return false
  return needs === 'person' || mayAct(session.actor.roles, needs)
}

const mayAct = (roles: readonly string[], role: PersonRole) => roles.includes(role) || roles.includes('administrator')

const refusedRole = (needs: Needs) => new Refusal(403, `this is for the role ${needs}`, 'An administrator may give it on /usuaris.')
