import { Flow, type Place as FlowPlace } from '../../chaos/run/flow.ts'
import type { RunningPlatform } from './platform.ts'

const ASK_WITHIN_MS = 2_000

/** Where the results of a part come out; the worker of the queue makes none by itself, and says that it is well. */
export type Place = FlowPlace | 'batch'

/** Every part that is killed, and where its results are looked for. */
export const PARTS: Readonly<Record<string, Place>> = {
  bridge: 'panel',
  'stream-positions': 'panel',
  'stream-serving': 'rows',
  'stream-stock-shuffle': 'stock',
  'stream-stock-windows': 'stock',
  'stream-lake': 'lake',
  batch: 'batch',
  dashboard: 'panel',
  mqtt: 'panel',
  postgres: 'rows',
  redis: 'batch',
  kafka: 'panel',
}

/** Asks for results that were measured, and arrived, after an instant. */
export class Results {
  readonly #platform: RunningPlatform
  readonly #flow: Flow

  constructor(platform: RunningPlatform) {
    this.#platform = platform
    this.#flow = new Flow(platform)
  }

  /** Whether there are any; false too when nobody answers. `lakeRows` is what the lake's writer had counted before. */
  async areNewer(place: Place, instantMs: number, lakeRows: number | null): Promise<boolean> {
    try {
      return await (place === 'batch' ? this.#batchIsWell() : this.#flow.isNewer(place, instantMs, lakeRows))
    } catch {
      return false
    }
  }

  /** Rows that the present writer of the lake has committed; null when it does not answer. */
  lakeRows(): Promise<number | null> {
    return this.#flow.lakeRows().catch(() => null)
  }

  close(): Promise<void> {
    return this.#flow.close()
  }

  async #batchIsWell(): Promise<boolean> {
    return (await fetch(this.#platform.healthUrlOf('batch'), { signal: AbortSignal.timeout(ASK_WITHIN_MS) })).status === 200
  }
}
