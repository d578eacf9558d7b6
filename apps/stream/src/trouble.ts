import type { Logger, PartHealth } from '@km0/runtime'

/** Whether results can be written at the moment: a part of health, and one line in the log when it begins. */
export class Trouble {
  readonly #log: Logger
  #message: string | null = null

  constructor(log: Logger) {
    this.#log = log
  }

  /** null: they can again. */
  set(error: Error | null): void {
    if (error !== null && this.#message === null) this.#log.warn({ err: error }, 'results cannot be written; they are tried again')
    this.#message = error?.message ?? null
  }

  health(): PartHealth {
    return this.#message === null ? { status: 'ok' } : { status: 'down', detail: this.#message }
  }
}
