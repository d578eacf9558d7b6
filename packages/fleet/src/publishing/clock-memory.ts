import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'

/** How far a source has come: the newest arrival that was acknowledged, and how many messages of that millisecond, ticks left out. */
export interface Progress {
  readonly clockMs: number
  readonly messages: number
}

const stored = z.object({ clock_ms: z.number().int(), messages: z.number().int().min(0) })
const SAVE_EVERY_MS = 1_000

/** The progress after another acknowledgement. Messages are acknowledged in order of arrival. */
export function advance(before: Progress, arrivalMs: number, isTick = false): Progress {
  const count = arrivalMs === before.clockMs ? before.messages : 0
  return { clockMs: arrivalMs, messages: isTick ? count : count + 1 }
}

/** Where a source begins: so long ago, but never before what was acknowledged last. */
export function firstInstant(catchUpMs: number, remembered: Progress | null, nowMs: number): Progress {
  const pastMs = nowMs - catchUpMs
  return remembered !== null && remembered.clockMs >= pastMs ? remembered : { clockMs: pastMs, messages: 0 }
}

/** All but the first messages: those of the first millisecond that went out before. */
export function* without<Message>(count: number, messages: Iterable<Message>): Generator<Message, void> {
  let left = count
  for (const message of messages) {
    if (left > 0) left -= 1
    else yield message
  }
}

/** Keeps the progress in a file, so that what starts again goes on from there. */
export class ClockMemory {
  readonly #path: string
  #savedAtMs = 0

  constructor(path: string) {
    this.#path = path
    mkdirSync(dirname(path), { recursive: true })
  }

  /** null when there is no file, or none that can be read. */
  read(): Progress | null {
    try {
      const parsed = stored.safeParse(JSON.parse(readFileSync(this.#path, 'utf8')))
      return parsed.success ? { clockMs: parsed.data.clock_ms, messages: parsed.data.messages } : null
    } catch {
      return null
    }
  }

  /** Notes progress in the file, at most once a second unless it must be now. */
  save(progress: Progress, nowMs: number, must = false): void {
    if (!must && nowMs - this.#savedAtMs < SAVE_EVERY_MS) return
    this.#savedAtMs = nowMs
    writeFileSync(`${this.#path}.new`, JSON.stringify({ clock_ms: progress.clockMs, messages: progress.messages }))
    renameSync(`${this.#path}.new`, this.#path)
  }
}
