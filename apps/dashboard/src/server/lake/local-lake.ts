import { type Lake, LakeMissingError, LakeNotInstalledError, type LakeSettings, LakeUnavailableError, openLake } from '@km0/lake'
import type { PlaceOf } from '../places.ts'
import { type AnswerContext, answerReplay, answerVanDay } from './lake-answers.ts'
import type { ReadLimits } from './lake-environment.ts'
import { type LakeReads, LakeTroubleError, type ReplayQuery, type VanDayQuery } from './lake-reads.ts'

/** Reads at a time; further ones wait. */
const AT_A_TIME = 2

export interface LocalLakeOptions {
  readonly settings: LakeSettings
  readonly limits: ReadLimits
  readonly placeOf: PlaceOf
}

/** The lake read in this process, opened at the first use and again after its catalog was away. */
export class LocalLake implements LakeReads {
  readonly #options: LocalLakeOptions
  #opening: Promise<Lake> | null = null
  #busy = 0
  readonly #waiting: (() => void)[] = []

  constructor(options: LocalLakeOptions) {
    this.#options = options
  }

  vanDay(query: VanDayQuery, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    return this.#read(signal, (context) => answerVanDay(context, query))
  }

  replay(query: ReplayQuery, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    return this.#read(signal, (context) => answerReplay(context, query))
  }

  /** Resolves when the lake is open; rejects with LakeTroubleError when it cannot be. */
  async open(): Promise<void> {
    await this.#opened()
  }

  async close(): Promise<void> {
    const opening = this.#opening
    this.#opening = null
    await opening?.then((lake) => lake.close()).catch(() => undefined)
  }

  async #read<T>(signal: AbortSignal, answer: (context: AnswerContext) => Promise<T>): Promise<T> {
    const lake = await this.#opened()
    while (this.#busy >= AT_A_TIME) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (signal.aborted) {
      this.#waiting.shift()?.()
      throw new DOMException('nobody waits for it any more', 'AbortError')
    }
    this.#busy += 1
    const limit = new AbortController()
    const stop = () => limit.abort()
    let isTooSlow = false
    const timer = setTimeout(() => {
      isTooSlow = true
      stop()
    }, this.#options.limits.queryMs)
    signal.addEventListener('abort', stop)
    try {
      return await answer({ lake, limits: this.#options.limits, placeOf: this.#options.placeOf, signal: limit.signal })
    } catch (error) {
      throw await this.#explained(error, isTooSlow)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      this.#busy -= 1
      this.#waiting.shift()?.()
    }
  }

  async #explained(error: unknown, isTooSlow: boolean): Promise<unknown> {
    if (isTooSlow) {
      const seconds = Math.round(this.#options.limits.queryMs / 1_000)
      return new LakeTroubleError({ kind: 'too-slow', says: `the lake has not answered within ${seconds} s (KM0_PANEL_LAKE_QUERY_MS)` })
    }
    if (!(error instanceof LakeUnavailableError)) return error
    await this.close()
    return new LakeTroubleError({ kind: 'unavailable', says: error.message })
  }

  async #opened(): Promise<Lake> {
    this.#opening ??= openLake(this.#options.settings, { readOnly: true })
    const opening = this.#opening
    try {
      return await opening
    } catch (error) {
      // The next one tries again: what is missing may be there by then.
      if (this.#opening === opening) this.#opening = null
      throw troubleOf(error)
    }
  }
}

function troubleOf(error: unknown): unknown {
  if (error instanceof LakeNotInstalledError) return new LakeTroubleError({ kind: 'not-installed', says: error.message })
  if (error instanceof LakeMissingError) return new LakeTroubleError({ kind: 'missing', says: error.message })
  if (error instanceof LakeUnavailableError) return new LakeTroubleError({ kind: 'unavailable', says: error.message })
  return error
}
