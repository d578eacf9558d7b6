import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AuditEntry } from '@km0/contracts'
import { bodyOf, checkOrigin, Refusal } from '../guard.ts'
import { ACCESS, UNDECLARED } from './access.ts'
import { Allowance } from './attempts.ts'
import { checkAccess, keepSession, keptSession, type Session, type Sessions } from './session.ts'
import type { SessionWatch } from './session-watch.ts'

/** Longest text of an audit entry, in characters. */
const DETAIL_MAX_CHARACTERS = 500

export interface DoorOptions {
  readonly sessions: Sessions
  /** Closes answers that go on and on when their session ends. */
  readonly watch: Pick<SessionWatch, 'add'>
  readonly nowMs: () => number
  /** Address of whoever sent a request. */
  readonly addressOf: (request: IncomingMessage) => string
  /** Stores what was done. */
  readonly audit: (entry: Omit<AuditEntry, 'id'>) => Promise<void>
  /** Requests a minute that one token may make, and one session of a person or a wall screen, all its pages together. */
  readonly tokenRequestsPerMinute: number
  readonly sessionRequestsPerMinute: number
  readonly onError: (error: unknown, what: string) => void
}

/** What every request of /api passes: who it is, what they may call, and a line in the audit when they have done something. */
export class Door {
  readonly #options: DoorOptions
  readonly #tokens: Allowance
  readonly #sessions: Allowance

  constructor(options: DoorOptions) {
    this.#options = options
    const allowance = (most: number) => new Allowance({ most, windowMs: 60_000, nowMs: options.nowMs })
    this.#tokens = allowance(options.tokenRequestsPerMinute)
    this.#sessions = allowance(options.sessionRequestsPerMinute)
  }

  /** Finds out whose request it is, and keeps it. Throws a Refusal for whoever may not call this route. */
  async enter(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const access = ACCESS[routeOf(request, path)] ?? UNDECLARED
    const isProbe = path === '/health' || path === '/metrics'
    const session = isProbe ? null : await this.#options.sessions.find(request.headers)
    keepSession(request, session)
    // A program that shows a token is no page of somebody else's.
    if (session?.kind !== 'token' && request.method !== 'GET') checkOrigin(request.headers)
    if (session !== null) this.#spend(session, response)
    checkAccess(access, session)
    if (session !== null)
      response.once(
        'close',
        this.#options.watch.add(session, request.headers, () => response.destroy()),
      )
  }

  /** Writes into the audit what was done, after it was done. Never throws: what was done stays done. */
  async note(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const session = keptSession(request)
    const access = ACCESS[routeOf(request, path)] ?? UNDECLARED
    if (request.method === 'GET' || access.looks || session === null || response.statusCode >= 400 || OWN_WORDS.has(path)) return
    try {
      await this.#options.audit({
        atMs: this.#options.nowMs(),
        actorId: session.actor.id,
        actorName: session.actor.name,
        action: path.replace(/^\/api\//, ''),
        detail: wordsOf(bodyOf(request)),
        address: this.#options.addressOf(request),
      })
    } catch (error) {
      this.#options.onError(error, `the audit misses ${path} of ${session.actor.name}`)
    }
  }

  #spend(session: Session, response: ServerResponse): void {
    const isToken = session.kind === 'token'
    const waitMs = (isToken ? this.#tokens : this.#sessions).spend(session.id)
    if (waitMs > 0) throw tooMany(response, waitMs, isToken ? 'this token asks too often' : 'this session asks too often')
  }
}

/** 429, with when it is worth trying again. */
export function tooMany(response: ServerResponse, waitMs: number, error: string): Refusal {
  const seconds = Math.ceil(waitMs / 1_000)
  response.setHeader('retry-after', String(seconds))
  return new Refusal(429, error, `Try again in ${seconds} s.`)
}

/** These write their own entries, or nothing: their bodies hold secrets. */
const OWN_WORDS: ReadonlySet<string> = new Set(['/api/session', '/api/session/renew', '/api/session/leave', '/api/session/password'])

const routeOf = (request: IncomingMessage, path: string) => `${request.method} ${path}`

/** `van furgoneta-7, note: the driver has called`: the fields of a command. */
function wordsOf(body: unknown): string {
  if (typeof body !== 'object' || body === null) return ''
  const words = Object.entries(body).map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const text = words.join(', ')
  return text.length > DETAIL_MAX_CHARACTERS ? `${text.slice(0, DETAIL_MAX_CHARACTERS - 1)}…` : text
}
