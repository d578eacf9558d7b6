import type { LedgerReport } from '@km0/contracts'
import type { LedgerRuns } from '@km0/serving'

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

export interface LedgerWorkerSettings {
  /** How often it looks for a run. */
  readonly pollMs: number
  /** A run that takes longer is given up. */
  readonly timeoutMs: number
  /** Days that runs are kept. */
  readonly keepDays: number
  /** An hour's ledger is asked for when the hour ended so long ago; null: never. */
  readonly hourlyAfterMs: number | null
}

export interface LedgerWorkerParts {
  readonly name: string
  readonly runs: Pick<LedgerRuns, 'take' | 'progress' | 'finish' | 'fail' | 'release' | 'askHourly' | 'dropBefore'>
  readonly settings: LedgerWorkerSettings
  /** Makes the ledger of a span. Rejects with the signal's reason when it aborts. */
  readonly make: (
    span: { readonly fromMs: number; readonly toMs: number },
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ) => Promise<LedgerReport>
  readonly nowMs: () => number
  /** A run has ended; `unnamed` 0 when it balances, null when it failed. */
  readonly onEnd: (
    run: { readonly id: number; readonly fromMs: number; readonly toMs: number },
    unnamed: number | null,
    error?: unknown,
  ) => void
  /** The store is away, or not migrated yet. It is tried on. */
  readonly onTrouble: (error: unknown) => void
}

/** Why a run was stopped before its end. */
class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** Makes the ledgers that stand in the store, one at a time, until it is closed. */
export class LedgerWorker {
  readonly #parts: LedgerWorkerParts
  readonly #closing = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #trouble: string | null = null
  #hourMs: number

  constructor(parts: LedgerWorkerParts) {
    this.#parts = parts
    this.#hourMs = hourOf(parts.nowMs() - (parts.settings.hourlyAfterMs ?? 0))
  }

  /** Why the store could not be asked the last time; null when it could. */
  get trouble(): string | null {
    return this.#trouble
  }

  start(): void {
    const { pollMs } = this.#parts.settings
    const look = () => {
      this.#running = this.lookOnce()
      void this.#running.then(() => {
        if (!this.#closing.signal.aborted) this.#timer = setTimeout(look, pollMs)
      })
    }
    look()
  }

  /** Does what is to be done now. Does not reject. */
  async lookOnce(): Promise<void> {
    const { runs, name, nowMs, onTrouble } = this.#parts
    try {
      await this.#askHourly()
      for (let run = await runs.take(name, nowMs()); run !== null && !this.#closing.signal.aborted; run = await runs.take(name, nowMs())) {
        await this.#do(run)
      }
      this.#trouble = null
    } catch (error) {
      if (this.#trouble === null) onTrouble(error)
      this.#trouble = error instanceof Error ? error.message : String(error)
    }
  }

  /** The hours that have ended since the last look; the last one alone where the program did not run. */
  async #askHourly(): Promise<void> {
    const { runs, settings, nowMs } = this.#parts
    if (settings.hourlyAfterMs === null) return
    const endMs = hourOf(nowMs() - settings.hourlyAfterMs)
    if (endMs <= this.#hourMs) return
    await runs.askHourly(endMs - HOUR_MS, endMs, nowMs())
    await runs.dropBefore(nowMs() - settings.keepDays * DAY_MS)
    this.#hourMs = endMs
  }

  async #do(run: { readonly id: number; readonly fromMs: number; readonly toMs: number }): Promise<void> {
    const { runs, name, make, nowMs, settings, onEnd } = this.#parts
    const stop = new AbortController()
    const signal = AbortSignal.any([stop.signal, this.#closing.signal])
    let share = 0
    const timeout = setTimeout(() => stop.abort(new Error(`it took longer than ${settings.timeoutMs / 1000} s`)), settings.timeoutMs)
    const telling = setInterval(() => {
      runs.progress(run.id, name, share, nowMs()).then(
        (isOurs) => {
          if (!isOurs) stop.abort(new Stopped('cancelled'))
        },
        // The store is away for a moment: the run goes on, and is given to another worker when that lasts.
        () => undefined,
      )
    }, settings.pollMs)
    try {
      const report = await make(run, signal, (done) => {
        share = done
      })
      if (await runs.finish(run.id, name, report, nowMs())) onEnd(run, report.unnamed)
    } catch (error) {
      if (stop.signal.reason instanceof Stopped) return
      if (this.#closing.signal.aborted) {
        await runs.release(run.id, name)
        return
      }
      const reason: unknown = stop.signal.aborted ? stop.signal.reason : error
      onEnd(run, null, reason)
      await runs.fail(run.id, name, reason instanceof Error ? reason.message : String(reason), nowMs())
    } finally {
      clearTimeout(timeout)
      clearInterval(telling)
    }
  }

  /** Stops what is in work: another worker, or the next start, takes it up. */
  async close(): Promise<void> {
    this.#closing.abort(new Stopped('the program ends'))
    clearTimeout(this.#timer)
    await this.#running
  }
}

const hourOf = (ms: number) => Math.floor(ms / HOUR_MS) * HOUR_MS
