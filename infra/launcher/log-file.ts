import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Largest size of one log file; one older file is kept beside it. */
export const MAX_LOG_BYTES = 5_000_000

/** Moves a log aside when it is large. For logs that a service writes itself, before its start. */
export function rotateIfLarge(file: string, maxBytes = MAX_LOG_BYTES): void {
  if (existsSync(file) && statSync(file).size >= maxBytes) renameSync(file, `${file}.1`)
}

/** Log of one part, at most two files of `maxBytes`. */
export class LogFile {
  readonly #file: string
  readonly #maxBytes: number
  #bytes: number

  constructor(file: string, maxBytes = MAX_LOG_BYTES) {
    mkdirSync(dirname(file), { recursive: true })
    this.#file = file
    this.#maxBytes = maxBytes
    this.#bytes = existsSync(file) ? statSync(file).size : 0
  }

  get path(): string {
    return this.#file
  }

  /** Appends one line. */
  write(line: string): void {
    const text = `${line}\n`
    if (this.#bytes > 0 && this.#bytes + Buffer.byteLength(text) > this.#maxBytes) {
      renameSync(this.#file, `${this.#file}.1`)
      this.#bytes = 0
    }
    appendFileSync(this.#file, text)
    this.#bytes += Buffer.byteLength(text)
  }

  /** The newest lines. */
  tail(count: number): string[] {
    if (!existsSync(this.#file)) return []
    return readFileSync(this.#file, 'utf8').trimEnd().split('\n').slice(-count)
  }
}
