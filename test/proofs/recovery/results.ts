import { Pool } from '@km0/serving/pool'
import type { RunningPlatform } from './platform.ts'

const ASK_WITHIN_MS = 2_000

/**
 * Where the results of a part come out: points on the panel, live points and newest stock in PostgreSQL, rows in the lake, and the worker of
 * the queue that says that it is well.
 */
export type Place = 'panel' | 'rows' | 'stock' | 'lake' | 'batch'

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
  readonly #pool: Pool

  constructor(platform: RunningPlatform) {
    this.#platform = platform
    const { databaseUrl } = platform
    this.#pool = new Pool({ databaseUrl, applicationName: 'km0-recovery', maxConnections: 2, connectTimeoutMs: ASK_WITHIN_MS })
  }

  /** Whether there are any; false too when nobody answers. `lakeRows` is what the lake's writer had counted before. */
  async areNewer(place: Place, instantMs: number, lakeRows: number | null): Promise<boolean> {
    try {
      switch (place) {
        case 'panel':
          return await this.#panelIsNewer(instantMs)
        case 'rows':
          return await this.#has('select 1 from km0.live_point where event_ms between $1 and $2 and arrival_ms > $1 limit 1', instantMs)
        case 'stock':
          return await this.#has('select 1 from km0.stock_live where event_ms between $1 and $2 and arrival_ms > $1 limit 1', instantMs)
        case 'lake':
          return await this.#lakeIsNewer(lakeRows)
        case 'batch':
          return (await fetch(this.#platform.healthUrlOf('batch'), { signal: AbortSignal.timeout(ASK_WITHIN_MS) })).status === 200
      }
    } catch {
      return false
    }
  }

  /** Rows that the present writer of the lake has committed; null when it does not answer. */
  async lakeRows(): Promise<number | null> {
    try {
      const url = new URL('/metrics', this.#platform.healthUrlOf('stream-lake'))
      const text = await (await fetch(url, { signal: AbortSignal.timeout(ASK_WITHIN_MS) })).text()
      const samples = text.split('\n').filter((line) => line.startsWith('km0_lake_rows_total{'))
      return samples.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    } catch {
      return null
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  async #panelIsNewer(instantMs: number): Promise<boolean> {
    const response = await fetch(`${this.#platform.url}api/panel`, { signal: AbortSignal.timeout(ASK_WITHIN_MS) })
    const { points } = (await response.json()) as { points: readonly { eventMs: number; arrivalMs: number }[] }
    const nowMs = Date.now()
    return points.some(({ eventMs, arrivalMs }) => eventMs > instantMs && eventMs <= nowMs && arrivalMs > instantMs)
  }

  async #has(query: string, instantMs: number): Promise<boolean> {
    return (await this.#pool.query(query, [instantMs, Date.now()])).length > 0
  }

  async #lakeIsNewer(before: number | null): Promise<boolean> {
    const rows = await this.lakeRows()
    if (rows === null) return false
    // A process that was started again counts from 0, and commits each row once.
    return before === null || rows < before ? rows > 0 : rows > before
  }
}
