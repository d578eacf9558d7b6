export interface BackoffSettings {
  /** After the crash of a part that was well: it will hardly be its settings. */
  readonly quickMs: number
  readonly firstMs: number
  readonly capMs: number
  /** A part that lived this long was well: it is started again at once, and crashes are counted anew. */
  readonly wellAfterMs: number
}

export const RESTART_BACKOFF: BackoffSettings = { quickMs: 100, firstMs: 1_000, capMs: 30_000, wellAfterMs: 60_000 }

/** How long to wait before the start that follows a crash: doubled with each crash in a row, up to the cap. */
export class Backoff {
  readonly #settings: BackoffSettings
  #inARow = 0

  constructor(settings: BackoffSettings = RESTART_BACKOFF) {
    this.#settings = settings
  }

  /** Crashes in a row, the last one included. */
  get inARow(): number {
    return this.#inARow
  }

  /** Counts a crash of a process that lived `livedMs`; returns the wait in ms. */
  crashed(livedMs: number): number {
    const { quickMs, firstMs, capMs, wellAfterMs } = this.#settings
    if (livedMs >= wellAfterMs) {
      this.#inARow = 1
      return quickMs
    }
    const waitMs = Math.min(firstMs * 2 ** this.#inARow, capMs)
    this.#inARow += 1
    return waitMs
  }
}
