import type { SessionView } from '@km0/contracts/sign-in'

type Session = SessionView['session']

/**
 * What this page knows of the session, shared by all who ask: one reading for the page, however many components look. `lost` is asked for by
 * whoever was refused with 401, and `found` calls those back who wait to go on.
 */
class SessionLine {
  #session: Session | undefined
  #lost = false
  #reading: Promise<void> | null = null
  readonly #watchers = new Set<() => void>()
  readonly #waiting = new Set<() => void>()

  /** undefined while it is not known. */
  get session(): Session | undefined {
    return this.#session
  }

  /** Whether somebody was signed in here, or should be, and is not any more. */
  get isLost(): boolean {
    return this.#lost
  }

  watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Asks the server who is signed in. Without an answer, what was known stays. */
  read(): Promise<void> {
    this.#reading ??= fetch('/api/session')
      .then(async (response) => {
        if (response.ok) this.take(((await response.json()) as SessionView).session)
      })
      .catch(() => undefined)
      .finally(() => {
        this.#reading = null
      })
    return this.#reading
  }

  /** What the server says now. */
  take(session: Session): void {
    const was = this.#lost
    // A page that never had a session has nothing to lose; the server shows it the page of signing in.
    this.#lost = session === null && (was || (this.#session ?? null) !== null)
    if (session !== null || !this.#lost) this.#session = session
    this.#tell()
    if (session === null) return
    for (const go of [...this.#waiting]) go()
    this.#waiting.clear()
  }

  /** A request or a socket was refused: is there still a session? */
  refused(): void {
    if (!this.#lost) void this.read()
  }

  /** Calls back once, when somebody has signed in again. Returns what stops it. */
  whenFound(go: () => void): () => void {
    this.#waiting.add(go)
    return () => this.#waiting.delete(go)
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher()
  }
}

export const sessionLine = new SessionLine()
