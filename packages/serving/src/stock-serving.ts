import type { Scope, StockAcknowledgementView, StockHistoryPoint } from '@km0/contracts'
import { DayPartitions } from './day-partitions.ts'
import type { RefusedResult } from './decode.ts'
import { forgetForeignOffsets, readOffsets } from './offsets.ts'
import { Pool, type PoolOptions } from './pool.ts'
import { acknowledgeStock, readStock, readStockHistory, type StockReadOptions, type StoredStock } from './stock-read.ts'
import { applyAlertBatch, applyEpisodeBatch, applyLiveStockBatch, applyStockMarkBatch, type StockBatch } from './stock-write.ts'

/** The store of stock. Every method rejects with ServingUnavailableError while PostgreSQL is away. The schema is `Serving.migrate`'s. */
export class StockServing {
  readonly #pool: Pool
  readonly #days: DayPartitions

  constructor(pool: Pool) {
    this.#pool = pool
    this.#days = new DayPartitions(pool)
  }

  applyAlertBatch(batch: StockBatch): Promise<readonly RefusedResult[]> {
    return this.#days.retrying(() => applyAlertBatch(this.#pool, this.#days, batch))
  }

  applyLiveBatch(batch: StockBatch): Promise<readonly RefusedResult[]> {
    return this.#days.retrying(() => applyLiveStockBatch(this.#pool, this.#days, batch))
  }

  applyEpisodeBatch(batch: StockBatch): Promise<readonly RefusedResult[]> {
    return applyEpisodeBatch(this.#pool, batch)
  }

  applyMarkBatch(batch: StockBatch): Promise<readonly RefusedResult[]> {
    return applyStockMarkBatch(this.#pool, batch)
  }

  /** Next offset of each partition of a topic. */
  nextOffsets(topic: string): Promise<Map<number, number>> {
    return this.#pool.withClient((client) => readOffsets(client, topic))
  }

  forgetForeignOffsets(topic: string, clusterId: string, endOffsets: ReadonlyMap<number, number>): Promise<number> {
    return forgetForeignOffsets(this.#pool, topic, clusterId, endOffsets)
  }

  read(scope: Scope, options: StockReadOptions): Promise<StoredStock> {
    return readStock(this.#pool, scope, options)
  }

  readHistory(
    scope: Scope,
    of: { readonly product: string; readonly market: string; readonly fromMs: number },
  ): Promise<{ readonly threshold: number | null; readonly points: readonly StockHistoryPoint[] }> {
    return readStockHistory(this.#pool, scope, of)
  }

  acknowledge(scope: Scope, view: StockAcknowledgementView): Promise<boolean> {
    return acknowledgeStock(this.#pool, scope, view)
  }

  /** Forgets episodes that ended before `beforeMs`, with what was told and said of them. Returns how many. */
  async dropEpisodes(beforeMs: number): Promise<number> {
    return this.#pool.transaction('begin', async (client) => {
      const { rows } = await client.query(
        'delete from km0.stock_episode where end_ms < $1 returning product, market, start_ms as "startMs"',
        [beforeMs],
      )
      const columns = ['product', 'market', 'startMs'].map((name) => rows.map((row) => row[name] as unknown))
      for (const table of ['stock_notice', 'stock_acknowledgement']) {
        await client.query(
          `delete from km0.${table} t using unnest($1::text[], $2::text[], $3::bigint[]) as g (product, market, start_ms)
           where t.product = g.product and t.market = g.market and t.start_ms = g.start_ms`,
          columns,
        )
      }
      return rows.length
    })
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** Opens the store of stock. Connects at the first use. */
export function openStockServing(options: PoolOptions): StockServing {
  return new StockServing(new Pool(options))
}
