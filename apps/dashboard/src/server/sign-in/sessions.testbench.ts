import type { IncomingHttpHeaders } from 'node:http'
import { type AuditEntry, EVERYTHING, type Role, type Scope } from '@km0/contracts'
import type { PanelSignIn } from '../panel-server.ts'
import { readCookies } from './cookies.ts'
import type { Session } from './session.ts'

/** Sessions of tests: in memory, named by the cookie `who`, or a token of the same name. */

export function sessionFor(name: string, role: Role = 'administrator', scope: Scope = EVERYTHING): Session {
  return {
    id: `test:${name}`,
    kind: role === 'wall' ? 'wall' : role === 'reader' ? 'token' : 'person',
    actor: { id: `test:${name}`, name, roles: [role] },
    email: `${name.toLowerCase().replaceAll(' ', '.')}@example.test`,
    scope,
    expiresAtMs: null,
    mayChoosePassword: false,
  }
}

export interface TestSignIn extends PanelSignIn {
  /** By what the cookie or token says; changed by tests. */
  readonly people: Map<string, Session>
  readonly audited: Omit<AuditEntry, 'id'>[]
  /** After `people` were changed: open sockets are looked at. */
  changed(): void
}

/** Whoever shows no name is `otherwise`. */
export function testSignIn(people: readonly Session[] = [], otherwise: Session | null = sessionFor('Marta Puig')): TestSignIn {
  const known = new Map(people.map((session) => [session.actor.name, session]))
  const listeners: (() => void)[] = []
  const audited: Omit<AuditEntry, 'id'>[] = []
  return {
    people: known,
    audited,
    sessions: {
      find: async (headers: IncomingHttpHeaders) => {
        const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1]
        const name = token ?? readCookies(headers.cookie).get('who')
        return name === undefined ? otherwise : (known.get(name) ?? null)
      },
      onChange: (listener) => void listeners.push(listener),
    },
    audit: async (entry) => void audited.push(entry),
    changed: () => {
      for (const listener of listeners) listener()
    },
  }
}
