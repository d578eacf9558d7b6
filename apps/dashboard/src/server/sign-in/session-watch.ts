import type { IncomingHttpHeaders } from 'node:http'
import type { Session, Sessions } from './session.ts'

export interface SessionWatchOptions {
  readonly sessions: Sessions
  readonly nowMs: () => number
  /** How often the sessions of what is open are looked at. */
  readonly everyMs: number
}

interface Watched {
  /** As it was when it came in, but for its end, which use makes later. */
  session: Session
  readonly headers: IncomingHttpHeaders
  readonly closers: Set<() => void>
}

/** Closes what stays open for somebody (sockets, streams) when their session ends or says something else. */
export class SessionWatch {
  readonly #options: SessionWatchOptions
  readonly #watched = new Map<string, Watched>()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | null = null
  #again = false

  constructor(options: SessionWatchOptions) {
    this.#options = options
    options.sessions.onChange?.(() => void this.look())
  }

  start(): void {
    this.#timer = setInterval(() => void this.look(), this.#options.everyMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Calls `close` when the session is no more what it was. Returns what takes that back, for what has closed by itself. */
  add(session: Session, headers: IncomingHttpHeaders, close: () => void): () => void {
    const known = this.#watched.get(session.id)
    const watched = known ?? { session, headers, closers: new Set<() => void>() }
    if (known === undefined) this.#watched.set(session.id, watched)
    watched.closers.add(close)
    return () => {
      watched.closers.delete(close)
      if (watched.closers.size === 0 && this.#watched.get(session.id) === watched) this.#watched.delete(session.id)
    }
  }

  /** Looks at every session. One look at a time; what changes meanwhile is looked at after it. */
  look(): Promise<void> {
    if (this.#looking !== null) {
      this.#again = true
      return this.#looking
    }
    this.#looking = this.#lookAll().finally(() => {
      this.#looking = null
      if (!this.#again) return
      this.#again = false
      void this.look()
    })
    return this.#looking
  }

  async #lookAll(): Promise<void> {
    for (const [id, watched] of [...this.#watched]) {
      if (await this.#mayStay(watched)) continue
      this.#watched.delete(id)
      for (const close of watched.closers) close()
    }
  }

  async #mayStay(watched: Watched): Promise<boolean> {
    const { session, headers } = watched
    try {
      const now = await this.#options.sessions.find(headers, { fresh: true })
      if (now === null || now.id !== session.id || !sameRights(now, session)) return false
      watched.session = now
      return true
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
