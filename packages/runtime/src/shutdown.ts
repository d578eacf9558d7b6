import type { Logger } from './logger.ts'

type Step = { readonly name: string; readonly stop: () => Promise<void> | void }

/**
 * Ordered shutdown: what was started last is stopped first. One instance a program, made in its composition root.
 * SIGTERM and SIGINT stop the program with code 0; `fail` stops it with code 1. Steps that take longer than `graceMs` together
 * are given up, and the process ends with code 1.
 */
export class Shutdown {
  readonly #steps: Step[] = []
  readonly #log: Logger
  readonly #graceMs: number
  #ending: Promise<void> | undefined

  constructor(log: Logger, graceMs = 10_000) {
    this.#log = log
    this.#graceMs = graceMs
  }

  /** Adds a step that undoes what was just started. */
  add(name: string, stop: () => Promise<void> | void): void {
    this.#steps.push({ name, stop })
  }

  /** Ends the program on SIGTERM and SIGINT, and with code 1 on an error that nobody caught. */
  listen(): void {
    process.on('SIGTERM', () => void this.end(0))
    process.on('SIGINT', () => void this.end(0))
    process.on('uncaughtException', (error) => this.fail(error))
    process.on('unhandledRejection', (error) => this.fail(error))
  }

  /** A broken invariant or a lost service that cannot be mended from inside: the supervisor starts the program again. */
  fail(error: unknown): void {
    this.#log.fatal({ err: error }, 'stopping after an error')
    void this.end(1)
  }

  end(code: number): Promise<void> {
    this.#ending ??= this.#run(code)
    return this.#ending
  }

  async #run(code: number): Promise<void> {
    const timer = setTimeout(() => {
      this.#log.error({ graceMs: this.#graceMs }, 'shutdown took too long and is cut short')
      process.exit(1)
    }, this.#graceMs)
    timer.unref()
    for (const step of this.#steps.reverse()) {
      try {
        await step.stop()
      } catch (error) {
        this.#log.error({ err: error, step: step.name }, 'a shutdown step failed')
      }
    }
    this.#log.info({ code }, 'stopped')
    process.exit(code)
  }
}
