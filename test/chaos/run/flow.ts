import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from '@km0/serving/pool'
import type { Fault, Victim } from './schedule.ts'

const LOOK_EVERY_MS = 100
const ASK_WITHIN_MS = 3_000

/** What is asked of the platform that is watched. */
export interface Watched {
  readonly addresses: { readonly databaseUrl: string }
  healthUrlOf(part: string): string
  /** Asks the panel's REST interface, as somebody who may. */
  askPanel(path: string, withinMs: number): Promise<Response>
}

/** Where results are looked for: points on the panel, live points and newest stock in PostgreSQL, rows in the lake, points and checkpoints. */
export type Place = 'panel' | 'rows' | 'stock' | 'lake' | 'checkpoints'

const PLACES: Partial<Record<Victim, Place>> = {
  'stream-serving': 'rows',
  postgres: 'rows',
  'stream-stock-shuffle': 'stock',
  'stream-stock-windows': 'stock',
  'stream-lake': 'lake',
}

/** Where the results come out that a fault holds up. */
export function placeOf(fault: Fault): Place {
  if (fault.kind === 'full-disk') return 'checkpoints'
  return 'victim' in fault ? (PLACES[fault.victim] ?? 'panel') : 'panel'
}

/** Tells when results flow: something that was measured and arrived after an instant is where people look. */
export class Flow {
  readonly #platform: Watched
  readonly #pool: Pool

  constructor(platform: Watched) {
    this.#platform = platform
    this.#pool = new Pool({
      databaseUrl: platform.addresses.databaseUrl,
      applicationName: 'km0-chaos',
      maxConnections: 2,
      connectTimeoutMs: ASK_WITHIN_MS,
    })
  }

  /** Waits for a result of after `instantMs`. Resolves with the time that it took since then in ms, or null when none came in time. */
  async resumes(place: Place, instantMs: number, withinMs: number): Promise<number | null> {
    const rowsBefore = place === 'lake' ? await this.lakeRows().catch(() => null) : null
    while (Date.now() - instantMs < withinMs) {
      // Whoever is asked may be the one that was killed.
      const flows = await this.isNewer(place, instantMs, rowsBefore).catch(() => false)
      if (flows) return Date.now() - instantMs
      await sleep(LOOK_EVERY_MS)
    }
    return null
  }

  /** Whether there is such a result now; rejects when nobody answers. `rowsBefore`: what `lakeRows` said before the instant. */
  async isNewer(place: Place, instantMs: number, rowsBefore: number | null): Promise<boolean> {
    switch (place) {
      case 'panel':
        return this.#panelIsNewer(instantMs)
      case 'rows':
        return this.#has('select 1 from km0.live_point where event_ms between $1 and $2 and arrival_ms > $1 limit 1', instantMs)
      case 'stock':
        return this.#has('select 1 from km0.stock_live where event_ms between $1 and $2 and arrival_ms > $1 limit 1', instantMs)
      case 'lake': {
        const rows = await this.lakeRows()
        // A process that was started again counts from 0.
        return rowsBefore === null || rows < rowsBefore ? rows > 0 : rows > rowsBefore
      }
      case 'checkpoints':
        return (await this.#panelIsNewer(instantMs)) && (await this.#checkpointsAreNewer(instantMs))
    }
  }

  async #panelIsNewer(instantMs: number): Promise<boolean> {
    const response = await this.#platform.askPanel('api/panel', ASK_WITHIN_MS)
    const { points } = (await response.json()) as { points: readonly { eventMs: number; arrivalMs: number }[] }
    const nowMs = Date.now()
    return points.some(({ eventMs, arrivalMs }) => eventMs > instantMs && eventMs <= nowMs && arrivalMs > instantMs)
  }

  async #has(query: string, instantMs: number): Promise<boolean> {
    return (await this.#pool.query(query, [instantMs, Date.now()])).length > 0
  }

  /** Every partition of the positions job has stored its state since: heartbeats come to all of them. */
  async #checkpointsAreNewer(instantMs: number): Promise<boolean> {
    const ages = await this.#samples('stream-positions', 'km0_stream_checkpoint_age_seconds')
    return ages.length > 0 && Math.max(...ages) * 1000 < Date.now() - instantMs
  }

  /** Rows that the present writer of the lake has committed. */
  async lakeRows(): Promise<number> {
    return (await this.#samples('stream-lake', 'km0_lake_rows_total')).reduce((sum, rows) => sum + rows, 0)
  }

  async #samples(part: string, metric: string): Promise<number[]> {
    const url = new URL('/metrics', this.#platform.healthUrlOf(part))
    const text = await (await fetch(url, { signal: AbortSignal.timeout(ASK_WITHIN_MS) })).text()
    return text.split('\n').flatMap((line) => (line.startsWith(`${metric}{`) ? [Number(line.split(' ').at(-1))] : []))
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}
