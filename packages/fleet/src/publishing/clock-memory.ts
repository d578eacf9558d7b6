import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { Outgoing } from '../messages/outgoing.ts'

/** How far a fleet has come: the newest arrival that the broker has acknowledged, and how many positions of that millisecond. */
export interface Progress {
  readonly clockMs: number
  readonly positions: number
}

const stored = z.object({ clock_ms: z.number().int(), positions: z.number().int().min(0) })
const SAVE_EVERY_MS = 1_000

/** The progress after another acknowledgement. Messages are acknowledged in order of arrival. */
export function advance(before: Progress, message: Outgoing): Progress {
  const same = message.arrivalMs === before.clockMs
  if (message.van === null) return same ? before : { clockMs: message.arrivalMs, positions: 0 }
  return { clockMs: message.arrivalMs, positions: same ? before.positions + 1 : 1 }
}

/** Keeps the progress in a file, so that a fleet that starts again goes on from there. */
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
      return parsed.success ? { clockMs: parsed.data.clock_ms, positions: parsed.data.positions } : null
    } catch {
      return null
    }
  }

  /** Notes progress in the file, at most once a second unless it must be now. */
  save(progress: Progress, nowMs: number, must = false): void {
    if (!must && nowMs - this.#savedAtMs < SAVE_EVERY_MS) return
    this.#savedAtMs = nowMs
    writeFileSync(`${this.#path}.new`, JSON.stringify({ clock_ms: progress.clockMs, positions: progress.positions }))
    renameSync(`${this.#path}.new`, this.#path)
  }
}
