import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuditEntry, SessionView } from '@km0/contracts'
import { type Entered, PASSWORD_MAX_CHARACTERS, PASSWORD_MIN_CHARACTERS, type SignIn } from '@km0/signin'
import { z } from 'zod'
import { Refusal, readBody } from '../guard.ts'
import { type Handler, json, type Routes } from '../rest.ts'
import { Allowance } from './attempts.ts'
import { tooMany } from './door.ts'
import { SIGN_IN_PAGE } from './page-guard.ts'
import { WALL_COOKIE } from './panel-sessions.ts'
import { keptSession, type Session } from './session.ts'

const YEAR_S = 31_536_000

const password = z.string().min(PASSWORD_MIN_CHARACTERS).max(PASSWORD_MAX_CHARACTERS)
export const signInBody = z.union([
  z.strictObject({ link: z.string().min(1).max(200) }),
  z.strictObject({ email: z.email().max(200), password: z.string().min(1).max(PASSWORD_MAX_CHARACTERS) }),
])
const emptyBody = z.strictObject({})
export const passwordBody = z.strictObject({ current: z.string().max(PASSWORD_MAX_CHARACTERS).nullable(), password })

export interface SignInRestOptions {
  readonly signIn: Pick<SignIn, 'enterByLink' | 'enterByPassword' | 'find' | 'findKey' | 'renew' | 'leave' | 'choosePassword'>
  readonly secureCookies: boolean
  readonly addressOf: (request: IncomingMessage) => string
  /** What is in memory of sessions holds no more. */
  readonly changed: () => void
  readonly audit: (entry: Omit<AuditEntry, 'id'>) => Promise<void>
  readonly attempts: {
    /** Failed attempts that one address may make within the window. */
    readonly perAddress: number
    readonly perAccount: number
    readonly windowMs: number
  }
  readonly nowMs: () => number
}

/** The REST interface of coming in and going out. */
export function signInRoutes(options: SignInRestOptions): Routes {
  const { signIn, nowMs } = options
  const limits = limitsOf(options)
  const note = (request: IncomingMessage, action: string, detail: string, who: { id: string; name: string } | null) =>
    options.audit({
      atMs: nowMs(),
      actorId: who?.id ?? null,
      actorName: who?.name ?? null,
      action,
      detail,
      address: options.addressOf(request),
    })

  const enter: Handler = async (request, response) => {
    const body = await readBody(request, signInBody)
    const address = options.addressOf(request)
    const account = 'email' in body ? body.email.toLowerCase() : null
    const attempt = limits.begin(response, address, account)
    const origin = { address, userAgent: request.headers['user-agent'] ?? '' }
    const entered =
      'email' in body ? await signIn.enterByPassword(body.email, body.password, origin) : await signIn.enterByLink(body.link, origin)
    if (entered === null) {
      await note(
        request,
        'sign-in-failed',
        account === null ? 'a link that was used, has expired or never was' : `password of ${account}`,
        null,
      )
      throw account === null
        ? new Refusal(401, 'this link lets nobody in', 'It was used already, or is too old. Ask for a new one: pnpm km0 user link.')
        : new Refusal(401, 'address and password do not fit', 'Try again, or ask for a one-time link: pnpm km0 user link.')
    }
    attempt.succeeded()
    await note(request, 'sign-in', `by ${entered.via}`, entered.user)
    options.changed()
    response.setHeader('set-cookie', [...entered.cookies])
    json(response, 200, await enteredView(options, entered))
  }
  const renew: Handler = async (request, response) => {
    await readBody(request, emptyBody)
    const renewed = await signIn.renew(request.headers.cookie ?? '')
    if (renewed === null) throw new Refusal(401, 'the session has ended', 'Sign in again.')
    if (renewed.cookies.length > 0) response.setHeader('set-cookie', [...renewed.cookies])
    json(response, 200, { nowMs: nowMs(), expiresAtMs: renewed.expiresAtMs })
  }
  const leave: Handler = async (request, response) => {
    await readBody(request, emptyBody)
    response.setHeader('set-cookie', [...(await signIn.leave(request.headers.cookie ?? ''))])
    await note(request, 'sign-out', '', keptSession(request)?.actor ?? null)
    options.changed()
    json(response, 200, { nowMs: nowMs(), session: null } satisfies SessionView)
  }
  const choose: Handler = async (request, response) => {
    const body = await readBody(request, passwordBody)
    const session = await signIn.find(request.headers.cookie ?? '')
    if (session === null) throw new Refusal(401, 'the session has ended', 'Sign in again.')
    const attempt = limits.begin(response, options.addressOf(request), session.user.email)
    if (!(await signIn.choosePassword(session, body.current, body.password)))
      throw new Refusal(403, 'that is not the present password', 'Try again, or come in by a one-time link to choose a new one.')
    attempt.succeeded()
    await note(request, 'password-set', '', session.user)
    options.changed()
    json(response, 200, {})
  }
  return new Map<string, Readonly<Record<string, Handler>>>([
    ['/api/session', { GET: (request, response) => json(response, 200, sessionView(keptSession(request), nowMs())), POST: enter }],
    ['/api/session/renew', { POST: renew }],
    ['/api/session/leave', { POST: leave }],
    ['/api/session/password', { POST: choose }],
    ['/paret', { GET: wallDoor(options, limits) }],
  ])
}

/** `GET /paret?clau=KEY`: a wall screen comes in. The key leaves the address at once. */
function wallDoor(options: SignInRestOptions, limits: ReturnType<typeof limitsOf>): Handler {
  return async (request, response, url) => {
    const attempt = limits.begin(response, options.addressOf(request), null)
    const text = url.searchParams.get('clau') ?? ''
    const key = await options.signIn.findKey(text)
    const isWall = key?.kind === 'wall'
    await options.audit({
      atMs: options.nowMs(),
      actorId: isWall ? `wall:${key.id}` : null,
      actorName: isWall ? key.name : null,
      action: isWall ? 'sign-in' : 'sign-in-failed',
      detail: isWall ? 'wall screen' : 'link of a wall screen that was revoked or never was',
      address: options.addressOf(request),
    })
    if (!isWall) return redirect(response, `${SIGN_IN_PAGE}?paret=no`)
    attempt.succeeded()
    options.changed()
    const secure = options.secureCookies ? '; Secure' : ''
    response.setHeader('set-cookie', `${WALL_COOKIE}=${text}; Path=/; Max-Age=${YEAR_S}; HttpOnly; SameSite=Strict${secure}`)
    // Cookies that are set while coming from another site would not be sent on to where a redirect leads: the page goes there itself.
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', refresh: '0; url=/' })
    response.end('<!doctype html><title>Quilòmetre Zero</title><p><a href="/">Quilòmetre Zero</a></p>')
  }
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(303, { location, 'cache-control': 'no-store' })
  response.end()
}

/** Failed attempts, counted before they are made: many at once are as many. */
function limitsOf({ attempts, nowMs }: SignInRestOptions) {
  const { windowMs } = attempts
  const addresses = new Allowance({ most: attempts.perAddress, windowMs, nowMs })
  const accounts = new Allowance({ most: attempts.perAccount, windowMs, nowMs })
  return {
    /** Throws a Refusal (429) when there were too many. */
    begin(response: ServerResponse, address: string, account: string | null) {
      const waitMs = Math.max(addresses.waitMs(address), account === null ? 0 : accounts.waitMs(account))
      if (waitMs > 0) throw tooMany(response, waitMs, 'too many attempts')
      addresses.spend(address)
      if (account !== null) accounts.spend(account)
      return {
        succeeded() {
          addresses.giveBack(address)
          if (account !== null) accounts.forgive(account)
        },
      }
    },
  }
}

async function enteredView({ signIn, nowMs }: SignInRestOptions, { user, via, cookies }: Entered): Promise<SessionView> {
  const session = await signIn.find(cookies.map((cookie) => cookie.split(';')[0]).join('; '))
  return {
    nowMs: nowMs(),
    session: {
      kind: 'person',
      actor: { id: user.id, name: user.name, roles: [user.role] },
      email: user.email,
      scope: user.scope,
      expiresAtMs: session?.expiresAtMs ?? null,
      mayChoosePassword: via === 'link',
    },
  }
}

export function sessionView(session: Session | null, nowMs: number): SessionView {
  if (session === null) return { nowMs, session: null }
  const { id: _, exportScope, ...view } = session
  return { nowMs, session: { ...view, ...(exportScope?.masked === true ? { filesMasked: true } : {}) } }
}
