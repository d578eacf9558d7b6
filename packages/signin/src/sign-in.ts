import { randomBytes, randomUUID } from 'node:crypto'
import type { AccessKeyView, LinkView, NewKeyView, Scope, UserView } from '@km0/contracts'
import { openSignInStore, type PoolOptions, type SignInStore, type UserRights } from '@km0/serving'
import { findKey, makeKey } from './keys.ts'
import { ADDRESS_HEADER, isRefusal, type Library, openLibrary } from './library.ts'
import { LINK_PATH, type SignInSettings } from './settings.ts'

const SECRET_BYTES = 32

export interface SignInOptions extends PoolOptions {
  readonly settings: SignInSettings
  readonly nowMs?: () => number
}

/** Somebody who has come in. */
export interface Entered {
  readonly user: UserView
  readonly via: 'link' | 'password'
  /** Set-Cookie headers, one each. */
  readonly cookies: readonly string[]
}

export interface FoundSession {
  readonly id: string
  readonly user: UserView
  readonly expiresAtMs: number
  readonly via: 'link' | 'password'
}

/** From where somebody comes in. */
export interface Origin {
  readonly address: string
  readonly userAgent: string
}

/** Who may come in, and who is in. Every method rejects with ServingUnavailableError (or the library's error) while PostgreSQL is away. */
export class SignIn {
  readonly store: SignInStore
  readonly #options: SignInOptions
  readonly #links = new Map<string, string>()
  #opened: Promise<Library> | null = null

  constructor(options: SignInOptions) {
    this.#options = options
    this.store = openSignInStore(options)
  }

  get settings(): SignInSettings {
    return this.#options.settings
  }

  /** A link that lets its user in once. The token is in the fragment, which browsers send to nobody. */
  async makeLink(email: string): Promise<LinkView> {
    const library = await this.#library()
    const address = email.toLowerCase()
    const expiresAtMs = this.#nowMs() + this.settings.linkMs
    await library.api.signInMagicLink({ body: { email: address }, headers: new Headers() })
    const token = this.#links.get(address)
    this.#links.delete(address)
    if (token === undefined) throw new Error('the library made no link')
    return { email: address, path: `${LINK_PATH}#${token}`, expiresAtMs }
  }

  /** null for a link that was used, has expired, never was, or is of somebody who may not come in. */
  enterByLink(token: string, origin: Origin): Promise<Entered | null> {
    return this.#enter('link', (library) =>
      library.api.magicLinkVerify({ query: { token }, headers: headersOf(origin), returnHeaders: true }),
    )
  }

  enterByPassword(email: string, password: string, origin: Origin): Promise<Entered | null> {
    return this.#enter('password', (library) =>
      library.api.signInEmail({ body: { email: email.toLowerCase(), password }, headers: headersOf(origin), returnHeaders: true }),
    )
  }

  /** Whose session the cookies are of; null when it is none, has expired, or its user may come in no more. Does not make it longer. */
  async find(cookie: string): Promise<FoundSession | null> {
    const library = await this.#library()
    const found = await library.api.getSession({ headers: new Headers({ cookie }), query: { disableRefresh: true } })
    if (found === null) return null
    const user = await this.store.findUser({ id: found.user.id })
    if (user === null || user.revokedAtMs !== null) return null
    return {
      id: found.session.id,
      user,
      expiresAtMs: found.session.expiresAt.getTime(),
      via: found.session.via === 'link' ? 'link' : 'password',
    }
  }

  /** Makes a session last a whole shift again from now. Returns its Set-Cookie headers; null when there is no session. */
  async renew(cookie: string): Promise<{ readonly cookies: readonly string[]; readonly expiresAtMs: number } | null> {
    const library = await this.#library()
    const { headers, response } = await library.api.getSession({ headers: new Headers({ cookie }), returnHeaders: true })
    if (response === null) return null
    return { cookies: headers.getSetCookie(), expiresAtMs: response.session.expiresAt.getTime() }
  }

  /** Ends the session. Returns Set-Cookie headers that take it from the browser. */
  async leave(cookie: string): Promise<readonly string[]> {
    const library = await this.#library()
    const { headers } = await library.api.signOut({ headers: new Headers({ cookie }), returnHeaders: true })
    return headers.getSetCookie()
  }

  /**
   * Gives a user a password, and ends their other sessions. `current` is null for somebody who came by a link. False when `current` is not the one
   * they have.
   */
  async choosePassword(session: FoundSession, current: string | null, password: string): Promise<boolean> {
    const { internalAdapter, password: passwords } = await (await this.#library()).$context
    const account = await internalAdapter.findCredentialAccount(session.user.id)
    if (session.via !== 'link') {
      const hash = account?.password
      if (current === null || hash === undefined || hash === null || !(await passwords.verify({ hash, password: current }))) return false
    }
    const hash = await passwords.hash(password)
    if (account === null) {
      const userId = session.user.id
      await internalAdapter.linkAccount({ userId, providerId: 'credential', accountId: userId, password: hash })
    } else await internalAdapter.updateAccount(account.id, { password: hash })
    await this.store.endSessions(session.user.id, session.id)
    return true
  }

  /** Adds a user; null when the e-mail address is taken. */
  addUser(user: UserRights & { readonly email: string }): Promise<UserView | null> {
    return this.store.addUser({ ...user, id: randomUUID() })
  }

  /**
   * A link for the first administrator, who is made when there is no user with that address; null when somebody who may administer has come in
   * before: then links are asked for.
   */
  async firstLink(): Promise<LinkView | null> {
    if (await this.store.administratorHasSignedIn()) return null
    const { email, name } = this.settings.firstAdministrator
    await this.addUser({ email, name, role: 'administrator', scope: { kind: 'all' } })
    return this.makeLink(email)
  }

  makeKey(key: {
    readonly kind: AccessKeyView['kind']
    readonly name: string
    readonly scope: Scope
    readonly masked?: boolean
    readonly createdBy: string
  }): Promise<NewKeyView> {
    return makeKey(this.store, { ...key, nowMs: this.#nowMs() })
  }

  findKey(text: string): Promise<AccessKeyView | null> {
    return findKey(this.store, text, this.#nowMs())
  }

  close(): Promise<void> {
    return this.store.close()
  }

  async #enter(
    via: Entered['via'],
    attempt: (library: Library) => Promise<{ readonly headers: Headers; readonly response: { readonly user: { readonly id: string } } }>,
  ): Promise<Entered | null> {
    const library = await this.#library()
    try {
      const { headers, response } = await attempt(library)
      await this.store.noteSignIn(response.user.id, this.#nowMs())
      const user = await this.store.findUser({ id: response.user.id })
      return user === null ? null : { user, via, cookies: headers.getSetCookie() }
    } catch (error) {
      if (isRefusal(error)) return null
      throw error
    }
  }

  #nowMs(): number {
    return (this.#options.nowMs ?? Date.now)()
  }

  #library(): Promise<Library> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = null
      throw error
    })
    return this.#opened
  }

  async #open(): Promise<Library> {
    const { settings } = this.#options
    return openLibrary({
      ...settings,
      secret: settings.secret ?? (await this.store.secret(randomBytes(SECRET_BYTES).toString('base64url'))),
      store: this.store,
      onLink: (email, token) => this.#links.set(email, token),
    })
  }
}

function headersOf({ address, userAgent }: Origin): Headers {
  return new Headers({ [ADDRESS_HEADER]: address, 'user-agent': userAgent.slice(0, 200) })
}
