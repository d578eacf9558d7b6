export interface BackoffSettings {
  readonly firstMs: number
  readonly capMs: number
  /** A part that lived this long was well: the next wait is the first again. */
  readonly wellAfterMs: number
}

export const RESTART_BACKOFF: BackoffSettings = { firstMs: 1_000, capMs: 30_000, wellAfterMs: 60_000 }

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
    if (livedMs >= this.#settings.wellAfterMs) this.#inARow = 0
    const waitMs = Math.min(this.#settings.firstMs * 2 ** this.#inARow, this.#settings.capMs)
    this.#inARow += 1
    return waitMs
  }
}
