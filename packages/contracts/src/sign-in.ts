import type { Actor, Scope } from './panel.ts'

/** What a person may be. An administrator may do everything. */
export const PERSON_ROLES = ['dispatcher', 'analyst', 'administrator'] as const
export type PersonRole = (typeof PERSON_ROLES)[number]

/** `wall`: a screen on the wall; `reader`: a program with a token. Both only read. */
export type Role = PersonRole | 'wall' | 'reader'

export type SessionKind = 'person' | 'wall' | 'token'

/** Answer of `GET /api/session`. */
export interface SessionView {
  readonly nowMs: number
  /** null when nobody is signed in. */
  readonly session: {
    readonly kind: SessionKind
    readonly actor: Actor
    readonly email: string | null
    readonly scope: Scope
    /** null for what does not expire by itself. */
    readonly expiresAtMs: number | null
    /** Came by a one-time link, and so may choose a password without telling the old one. */
    readonly mayChoosePassword: boolean
    /** Files that leave the panel name no van: a page makes none of what it shows. */
    readonly filesMasked?: true
  } | null
}

/** Body of `POST /api/session`: one of the two ways in. */
export type SignInCommand = { readonly link: string } | { readonly email: string; readonly password: string }

export interface UserView {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly role: PersonRole
  readonly scope: Scope
  readonly createdAtMs: number
  readonly lastSignInAtMs: number | null
  readonly revokedAtMs: number | null
  readonly hasPassword: boolean
  /** Sessions that are open. */
  readonly sessions: number
}

/** A key that comes in without a person: of a wall screen, or of a program. */
export interface AccessKeyView {
  readonly id: number
  readonly kind: 'wall' | 'token'
  readonly name: string
  /** First letters of the key, to tell keys apart. */
  readonly hint: string
  readonly scope: Scope
  /** It sees pseudonyms, and places on a grid. */
  readonly masked: boolean
  readonly createdBy: string
  readonly createdAtMs: number
  readonly lastUsedAtMs: number | null
  readonly revokedAtMs: number | null
}

/** Answer of `GET /api/users`. */
export interface UsersView {
  readonly nowMs: number
  readonly users: readonly UserView[]
  readonly keys: readonly AccessKeyView[]
  readonly depots: readonly { readonly id: string; readonly name: string }[]
  readonly markets: readonly string[]
}

/** Answer of `POST /api/users` and `POST /api/users/link`: shown once, nowhere kept in clear. */
export interface LinkView {
  readonly email: string
  /** Path and fragment on this panel. */
  readonly path: string
  readonly expiresAtMs: number
}

/** Answer of `POST /api/keys`: shown once. */
export interface NewKeyView {
  readonly key: AccessKeyView
  readonly secret: string
}

export interface AuditEntry {
  readonly id: number
  readonly atMs: number
  /** null when nobody was signed in. */
  readonly actorId: string | null
  readonly actorName: string | null
  /** `sign-in`, `sign-in-failed`, `sign-out`, or the path of a command below /api/. */
  readonly action: string
  /** What it was done to, in words of the command. */
  readonly detail: string
  /** Address that it came from; `cli` for commands typed on the machine. */
  readonly address: string
}

/** Answer of `GET /api/audit?before=&actor=&action=`: newest first. */
export interface AuditPage {
  readonly nowMs: number
  readonly entries: readonly AuditEntry[]
  /** Id for `before` of the next page; null on the last one. */
  readonly next: number | null
  /** Actions that occur, for the filter. */
  readonly actions: readonly string[]
}
