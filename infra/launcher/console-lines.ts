const LOUD = new Set(['warn', 'error', 'fatal'])

/**
 * What of a part's log line is shown on the console: warnings and errors, shortened to their message; null for the rest.
 * Lines that are not our JSON come from a runtime or a library; those on standard error are shown.
 */
export function consoleText(line: string, stream: 'stdout' | 'stderr'): string | null {
  if (line.startsWith('{')) {
    try {
      const { level, msg, err } = JSON.parse(line) as { level?: string; msg?: string; err?: { message?: string } }
      if (level === undefined || !LOUD.has(level)) return null
      const reason = err?.message === undefined || err.message === msg ? '' : ` (${err.message})`
      return `${level}: ${msg ?? ''}${reason}`
    } catch {
      // Not JSON after all.
    }
  }
  return stream === 'stderr' && line.trim() !== '' ? line : null
}

/** At most `most` lines in `windowMs`; says once how many were held back when it lets lines through again. */
export class LineBrake {
  readonly #most: number
  readonly #windowMs: number
  #windowStartMs = Number.NEGATIVE_INFINITY
  #shown = 0
  #heldBack = 0

  constructor(most = 8, windowMs = 10_000) {
    this.#most = most
    this.#windowMs = windowMs
  }

  /** Lines to show now for one that came: none, itself, or with a note on what was held back before it. */
  pass(line: string, nowMs: number): string[] {
    if (nowMs - this.#windowStartMs >= this.#windowMs) {
      this.#windowStartMs = nowMs
      this.#shown = 0
    }
    if (this.#shown >= this.#most) {
      this.#heldBack += 1
      return []
    }
    this.#shown += 1
    const note = this.#heldBack > 0 ? [`(${this.#heldBack} more lines are in its log)`] : []
    this.#heldBack = 0
    return [...note, line]
  }
}
