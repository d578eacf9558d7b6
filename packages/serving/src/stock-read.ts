import type { LowStockView, Scope, StockAcknowledgementView, StockEpisodeView, StockHistoryPoint, StockNoticeView } from '@km0/contracts'
import type { Client, Pool } from './pool.ts'
import { marketScope, queryScoped, readScoped, withinScope } from './scope.ts'

/** What the panel shows of stock, as of one moment. */
export interface StoredStock {
  /** Open ones, and those that ended after `endedAfterMs`. */
  readonly episodes: readonly StockEpisodeView[]
  readonly low: readonly LowStockView[]
  /** Since `noticedAfterMs`. */
  readonly notices: readonly StockNoticeView[]
  readonly markets: readonly string[]
  /** Minimum over the partitions of the shuffle; null while one of them has none. */
  readonly watermarkMs: number | null
}

export interface StockReadOptions {
  readonly endedAfterMs: number
  readonly noticedAfterMs: number
  /** Rows of each list at most: the newest ones. */
  readonly limit: number
}

/** Reads the stock panel of a scope in one repeatable-read transaction. */
export async function readStock(pool: Pool, scope: Scope, options: StockReadOptions): Promise<StoredStock> {
  return readScoped(pool, scope, async (client) => ({
    episodes: await readEpisodes(client, scope, options),
    low: await readLow(client, scope, options.limit),
    notices: await readNotices(client, scope, options),
    markets: await readMarkets(client, scope),
    watermarkMs: await readWatermark(client),
  }))
}

interface EpisodeColumns extends Omit<StockEpisodeView, 'acknowledgement'> {
  readonly actorId: string | null
  readonly actorName: string | null
  readonly actorRoles: string[] | null
  readonly note: string | null
  readonly atMs: number | null
}

/** An episode of an earlier epoch that never ended belongs to a pipeline that is no more. */
async function readEpisodes(client: Client, scope: Scope, { endedAfterMs, limit }: StockReadOptions): Promise<StockEpisodeView[]> {
  const clause = marketScope(scope, 'e.market', 3)
  const { rows } = await client.query<EpisodeColumns>(
    `select e.product, e.market, e.start_ms as "startMs", e.end_ms as "endMs", e.minimum, e.threshold, e.last_window_ms as "lastWindowMs",
       l.stock, l.event_ms as "stockMs", a.actor_id as "actorId", a.actor_name as "actorName", a.actor_roles as "actorRoles", a.note, a.at_ms as "atMs"
     from km0.stock_episode e
     left join km0.stock_live l on l.product = e.product and l.market = e.market
     left join lateral (select * from km0.stock_acknowledgement k
       where k.product = e.product and k.market = e.market and k.start_ms = e.start_ms order by k.id desc limit 1) a on true
     where (e.end_ms > $1 or (e.end_ms is null and e.epoch >= coalesce((select max(epoch) from km0.stock_mark), 0))) and ${clause.sql}
     order by e.end_ms is null desc, e.start_ms desc, e.product, e.market limit $2`,
    [endedAfterMs, limit, ...clause.values],
  )
  return rows.map(({ actorId, actorName, actorRoles, note, atMs, ...episode }) => ({
    ...episode,
    acknowledgement:
      actorId === null || atMs === null
        ? null
        : { actor: { id: actorId, name: actorName ?? '', roles: actorRoles ?? [] }, note: note ?? '', atMs },
  }))
}

async function readLow(client: Client, scope: Scope, limit: number): Promise<LowStockView[]> {
  const clause = marketScope(scope, 'l.market', 2)
  const { rows } = await client.query<LowStockView>(
    `select l.product, l.market, l.stock, l.threshold, l.event_ms as "stockMs" from km0.stock_live l
     where l.stock < l.threshold and ${clause.sql} order by l.event_ms desc, l.product, l.market limit $1`,
    [limit, ...clause.values],
  )
  return rows
}

async function readNotices(client: Client, scope: Scope, { noticedAfterMs, limit }: StockReadOptions): Promise<StockNoticeView[]> {
  const clause = marketScope(scope, 'n.market', 3)
  const { rows } = await client.query<StockNoticeView>(
    `select n.id, n.product, n.market, n.start_ms as "startMs", n.reason, n.stock, n.at_ms as "atMs" from km0.stock_notice n
     where n.at_ms > $1 and ${clause.sql} order by n.id desc limit $2`,
    [noticedAfterMs, limit, ...clause.values],
  )
  return rows.reverse()
}

async function readMarkets(client: Client, scope: Scope): Promise<string[]> {
  const clause = marketScope(scope, 'm.market', 1)
  // One step a market through the index, not one a row.
  const { rows } = await client.query<{ market: string }>(
    `with recursive m as (
       (select market from km0.stock_live order by market limit 1)
       union all
       select (select l.market from km0.stock_live l where l.market > m.market order by l.market limit 1) from m where m.market is not null)
     select m.market from m where m.market is not null and ${clause.sql} order by 1`,
    [...clause.values],
  )
  return rows.map((row) => row.market)
}

async function readWatermark(client: Client): Promise<number | null> {
  const { rows } = await client.query<{ watermarkMs: number | null }>(
    `select case when bool_and(watermark_ms is not null) then min(watermark_ms) end as "watermarkMs" from km0.stock_mark
     where epoch = (select max(epoch) from km0.stock_mark)`,
  )
  return rows[0]?.watermarkMs ?? null
}

/** A product's stock since `fromMs`, oldest first, led by the last known before; the threshold is null when the product is not known. */
export async function readStockHistory(
  pool: Pool,
  scope: Scope,
  { product, market, fromMs }: { readonly product: string; readonly market: string; readonly fromMs: number },
): Promise<{ readonly threshold: number | null; readonly points: readonly StockHistoryPoint[] }> {
  const clause = marketScope(scope, 'h.market', 4)
  const points = await queryScoped<StockHistoryPoint & { slotMs: number }>(
    pool,
    scope,
    `select h.slot_ms as "slotMs", h.minimum, h.last_stock as last from km0.stock_history h
     where h.product = $1 and h.market = $2 and ${clause.sql} and h.slot_ms >= coalesce((select max(b.slot_ms) from km0.stock_history b
       where b.product = $1 and b.market = $2 and b.slot_ms < $3), $3) order by h.slot_ms`,
    [product, market, fromMs, ...clause.values],
  )
  const known = marketScope(scope, 'l.market', 3)
  const [live] = await queryScoped<{ threshold: number }>(
    pool,
    scope,
    `select l.threshold from km0.stock_live l where l.product = $1 and l.market = $2 and ${known.sql}`,
    [product, market, ...known.values],
  )
  return { threshold: live?.threshold ?? null, points }
}

/**
 * Stores that somebody has seen an episode. Each command is kept; the newest is in force. Resolves false, storing nothing, when there is no
 * such episode that the scope may see.
 */
export async function acknowledgeStock(pool: Pool, scope: Scope, view: StockAcknowledgementView): Promise<boolean> {
  const clause = marketScope(scope, 'e.market', 4)
  const key = [view.product, view.market, view.startMs]
  return pool.transaction('begin', async (client) => {
    const { rowCount } = await withinScope(client, scope, () =>
      client.query(`select from km0.stock_episode e where e.product = $1 and e.market = $2 and e.start_ms = $3 and ${clause.sql}`, [
        ...key,
        ...clause.values,
      ]),
    )
    if (rowCount !== 1) return false
    await client.query(
      `insert into km0.stock_acknowledgement (product, market, start_ms, actor_id, actor_name, actor_roles, note, at_ms)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [...key, view.actor.id, view.actor.name, view.actor.roles, view.note, view.atMs],
    )
    return true
  })
}
