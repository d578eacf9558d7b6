import { createHash } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Outgoing } from '../messages/outgoing.ts'

/** One line of the journal: a message that the broker has acknowledged, or that was given up unacknowledged. The clock is not in it. */
export interface JournalLine {
  readonly van: string
  readonly event_ms: number
  /** By the time of the simulation or recording. */
  readonly arrival_ms: number
  /** Machine time of the acknowledgement: what a broker can lose is what it acknowledged since its last save. */
  readonly acked_ms: number
  readonly topic: string
  readonly bytes: number
  /** SHA-256 of the payload, lower-case hexadecimal: what a dead letter carries too. */
  readonly sha256: string
  readonly fault: string | null
}

/** What was published, as JSON lines in order of acknowledgement. The file is rotated once it is full; one old file is kept. */
export class Journal {
  readonly #path: string
  readonly #maxBytes: number
  #file: number
  #bytes: number
  #lines: string[] = []
  #timer: NodeJS.Immediate | undefined

  constructor(path: string, maxBytes: number) {
    this.#path = path
    this.#maxBytes = maxBytes
    mkdirSync(dirname(path), { recursive: true })
    this.#bytes = existsSync(path) ? statSync(path).size : 0
    this.#file = openSync(path, 'a')
  }

  /** Notes a message; it is in the file before the next turn of the event loop ends. */
  write(message: Outgoing): void {
    if (message.van === null || message.eventMs === null) return
    const line: JournalLine = {
      van: message.van,
      event_ms: message.eventMs,
      arrival_ms: message.arrivalMs,
      acked_ms: Date.now(),
      topic: message.topic,
      bytes: Buffer.byteLength(message.payload),
      sha256: createHash('sha256').update(message.payload).digest('hex'),
      fault: message.fault,
    }
    this.#lines.push(JSON.stringify(line))
    this.#timer ??= setImmediate(() => this.#flush())
  }

  close(): void {
    this.#flush()
    closeSync(this.#file)
  }

  #flush(): void {
    clearImmediate(this.#timer)
    this.#timer = undefined
    if (this.#lines.length === 0) return
    const text = `${this.#lines.join('\n')}\n`
    this.#lines = []
    this.#bytes += writeSync(this.#file, text)
    if (this.#bytes < this.#maxBytes) return
    closeSync(this.#file)
    renameSync(this.#path, `${this.#path}.1`)
    this.#file = openSync(this.#path, 'a')
    this.#bytes = 0
  }
}
