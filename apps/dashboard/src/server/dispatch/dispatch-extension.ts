import { type DispatchLimits, madridHour } from '@km0/contracts'
import type { Dispatch } from '@km0/serving'
import type { PanelExtension } from '../panel-server.ts'
import type { PanelState } from '../panel-state.ts'
import { dispatchRoutes } from './dispatch-rest.ts'
import { registerFormsRoutes } from './register-forms-rest.ts'
import { registerRoutes } from './register-rest.ts'

/** How often the store is read: a change made elsewhere shows after this at the latest. */
const READ_EVERY_MS = 5_000
/** So long before an hour begins what is usual in it is computed. */
const USUAL_AHEAD_MS = 5 * 60_000

export interface DispatchOptions {
  readonly store: Pick<
    Dispatch,
    | 'read'
    | 'readRegister'
    | 'tryImport'
    | 'importCsv'
    | 'putVan'
    | 'clearShifts'
    | 'removePlace'
    | 'mute'
    | 'unmute'
    | 'readHandOver'
    | 'readTravelTotals'
    | 'computeUsual'
  >
  readonly state: PanelState
  readonly limits: DispatchLimits
  readonly nowMs: () => number
  readonly onTrouble: (error: unknown) => void
  readonly everyMs?: number
}

/** Dispatch on the panel's server: the register, mutes, silences as they are stored, and what is usual. What is changed here shows at once. */
export function dispatchExtension(options: DispatchOptions): PanelExtension {
  const reader = new DispatchReader(options)
  const onStored = () => reader.refresh()
  return {
    routes: new Map([
      ...registerRoutes({ ...options, onStored }),
      ...registerFormsRoutes({ ...options, onStored }),
      ...dispatchRoutes({ ...options, onStored }),
    ]),
    attach: () => reader.start(),
    stop: () => reader.stop(),
  }
}

/** Brings what is stored into the panel's memory, again and again. */
class DispatchReader {
  readonly #options: DispatchOptions
  #timer: NodeJS.Timeout | undefined
  #reading: Promise<void> | null = null
  /** Something was stored while a reading was under way: it may not have seen it. */
  #again = false
  #inTrouble = false
  readonly #computedHours = new Set<number>()

  constructor(options: DispatchOptions) {
    this.#options = options
  }

  start(): void {
    void this.refresh()
    this.#timer = setInterval(() => {
      if (this.#reading === null) void this.refresh()
    }, this.#options.everyMs ?? READ_EVERY_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Resolves when what was stored before the call is in memory, or could not be read. */
  async refresh(): Promise<void> {
    if (this.#reading !== null) this.#again = true
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null
    })
    await this.#reading
  }

  async #read(): Promise<void> {
    do {
      this.#again = false
      try {
        const nowMs = this.#options.nowMs()
        const { depots, registered, ...facts } = await this.#options.store.read(nowMs, this.#options.limits.returnedShownMs)
        this.#options.state.apply({ kind: 'register', depots, registered })
        this.#options.state.apply({ kind: 'dispatch', facts })
        await this.#computeUsual(nowMs)
        this.#inTrouble = false
      } catch (error) {
        if (!this.#inTrouble) this.#options.onTrouble(error)
        this.#inTrouble = true
      }
    } while (this.#again)
  }

  /** Once an hour, by whichever panel comes first. */
  async #computeUsual(nowMs: number): Promise<void> {
    for (const atMs of [nowMs, nowMs + USUAL_AHEAD_MS]) {
      const { startMs } = madridHour(atMs)
      if (this.#computedHours.has(startMs)) continue
      if (await this.#options.store.computeUsual(atMs, nowMs)) this.#again = true
      this.#computedHours.add(startMs)
    }
    for (const hourMs of this.#computedHours) if (hourMs < nowMs - 2 * 3_600_000) this.#computedHours.delete(hourMs)
  }
}
