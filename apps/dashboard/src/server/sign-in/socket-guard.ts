import type { IncomingHttpHeaders } from 'node:http'
import type { Server, Socket } from 'socket.io'
import { keptSession, type Session, type Sessions } from './session.ts'

/** What a socket that may not come in is told: `connect_error` with this message. The page then asks to sign in. */
export const SIGN_IN_WORD = 'sign-in'
/** What a socket is told that may stay no longer, before it is closed. */
export const SIGNED_OUT_EVENT = 'signed-out'

export interface SocketGuardOptions {
  /** All namespaces of it, also those that are made later. */
  readonly sockets: Pick<Server, 'use' | 'on'>
  readonly sessions: Sessions
  readonly nowMs: () => number
  /** How often the sessions of open sockets are looked at. */
  readonly everyMs: number
}

interface Watched {
  readonly session: Session
  readonly headers: IncomingHttpHeaders
  readonly sockets: Set<Socket>
}

/** Lets sockets in that have a session, in every namespace, and puts them out when it ends or says something else. */
export class SocketGuard {
  readonly #options: SocketGuardOptions
  readonly #watched = new Map<string, Watched>()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | null = null
  #again = false

  constructor(options: SocketGuardOptions) {
    this.#options = options
    const guard = (socket: Socket, next: (error?: Error) => void) => {
      const session = keptSession(socket.request)
      if (session === null) return next(new Error(SIGN_IN_WORD))
      socket.data.scope = session.scope
      this.#watch(socket, session)
      next()
    }
    options.sockets.use(guard)
    options.sockets.on('new_namespace', (namespace) => void namespace.use(guard))
    options.sessions.onChange?.(() => void this.look())
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), this.#options.everyMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Looks at the session of every socket. One look at a time; what changes meanwhile is looked at after it. */
  look(): Promise<void> {
    if (this.#looking !== null) {
      this.#again = true
      return this.#looking
    }
    this.#looking = this.#lookAll().finally(() => {
      this.#looking = null
      if (this.#again) {
        this.#again = false
        void this.look()
      }
    })
    return this.#looking
  }

  #watch(socket: Socket, session: Session): void {
    const known = this.#watched.get(session.id)
    const watched = known ?? { session, headers: socket.request.headers, sockets: new Set<Socket>() }
    if (known === undefined) this.#watched.set(session.id, watched)
    watched.sockets.add(socket)
    // Not `disconnect`: a socket that another check refuses never had that.
    socket.conn.once('close', () => {
      watched.sockets.delete(socket)
      if (watched.sockets.size === 0 && this.#watched.get(session.id) === watched) this.#watched.delete(session.id)
    })
  }

  async #lookAll(): Promise<void> {
    for (const [id, watched] of [...this.#watched]) {
      if (!(await this.#mayStay(watched))) {
        this.#watched.delete(id)
        for (const socket of watched.sockets) {
          socket.emit(SIGNED_OUT_EVENT)
          socket.disconnect(true)
        }
      }
    }
  }

  async #mayStay({ session, headers }: Watched): Promise<boolean> {
    try {
      const now = await this.#options.sessions.find(headers, { fresh: true })
      return now !== null && now.id === session.id && sameRights(now, session)
    } catch {
      // Nobody knows: whoever was in stays, until their time is over.
      return session.expiresAtMs === null || this.#options.nowMs() < session.expiresAtMs
    }
  }
}

/** Whoever may see something else now comes back with that. */
function sameRights(a: Session, b: Session): boolean {
  return JSON.stringify([a.scope, a.actor.roles]) === JSON.stringify([b.scope, b.actor.roles])
}
