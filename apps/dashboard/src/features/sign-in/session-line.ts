import type { SessionView } from '@km0/contracts/sign-in'

type Session = SessionView['session']

/**
 * What this page knows of the session, shared by all who ask: one reading for the page, however many components look. `lost` is asked for by
 * whoever was refused with 401, and `found` calls those back who wait to go on.
 */
class SessionLine {
  #session: Session | undefined
  #lost = false
  #needed = false
  #reading: Promise<void> | null = null
  readonly #watchers = new Set<() => void>()
  readonly #waiting = new Set<() => void>()
  readonly #following = new Set<() => void>()

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
    // A page that never had a session, nor needed one, has nothing to lose: that of signing in.
    this.#lost = session === null && (was || this.#needed || (this.#session ?? null) !== null)
    if (session !== null || !this.#lost) this.#session = session
    this.#tell()
    if (session === null || !was) return
    const waiting = [...this.#waiting, ...this.#following]
    this.#waiting.clear()
    for (const go of waiting) go()
  }

  /** A request or a socket was refused: is there still a session? */
  refused(): void {
    this.#needed = true
    if (!this.#lost) void this.read()
  }

  /** Calls back once, when somebody has signed in again. Returns what stops it. */
  whenFound(go: () => void): () => void {
    this.#waiting.add(go)
    return () => this.#waiting.delete(go)
  }

  /** Calls back each time somebody has signed in again. Returns what stops it. */
  onFound(go: () => void): () => void {
    this.#following.add(go)
    return () => this.#following.delete(go)
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher()
  }
}

export const sessionLine = new SessionLine()
