import { bulkInsert, type Column, replacing } from './bulk-insert.ts'
import type { DayPartitions } from './day-partitions.ts'
import type { RefusedResult, ResultRecord } from './decode.ts'
import { FORWARD_SQL, newestByKey } from './forward.ts'
import { type AppliedBatch, lockOffset, moveOffset } from './offsets.ts'
import type { Client, Pool } from './pool.ts'
import {
  type AlertRow,
  decodeAlerts,
  decodeEpisodes,
  decodeLiveStock,
  decodeStockMarks,
  type EpisodeRow,
  type LiveStockRow,
} from './stock-decode.ts'

export interface StockBatch extends AppliedBatch {
  readonly records: readonly ResultRecord[]
  readonly writtenAtMs: number
}

/** The last days of stock are kept as one row a product, market and such a stretch of time. */
export const HISTORY_SLOT_MS = 300_000

/** Applies records of the topic of alerts. One transaction with the offset. */
export async function applyAlertBatch(pool: Pool, days: DayPartitions, batch: StockBatch): Promise<readonly RefusedResult[]> {
  const { rows, refused } = decodeAlerts(batch.records)
  await days.ensure(
    'stock_alert',
    rows.map(({ value }) => value.inici_ms),
  )
  return applied(pool, batch, refused, (client) => writeAlerts(client, newestByKey(rows), batch.writtenAtMs))
}

/** Applies records of the topic of newest stock: the newest of each product in each market, and its history. */
export async function applyLiveStockBatch(pool: Pool, days: DayPartitions, batch: StockBatch): Promise<readonly RefusedResult[]> {
  const { rows, refused } = decodeLiveStock(batch.records)
  const slots = slotsOf(rows)
  await days.ensure(
    'stock_history',
    slots.map(({ slotMs }) => slotMs),
  )
  return applied(pool, batch, refused, async (client) => {
    await writeLive(client, newestByKey(rows), batch.writtenAtMs)
    await writeHistory(client, slots)
  })
}

/** Applies records of the topic of episodes, and notes what people are to be told: each reason once an episode, however often it comes. */
export async function applyEpisodeBatch(pool: Pool, batch: StockBatch): Promise<readonly RefusedResult[]> {
  const { rows, refused } = decodeEpisodes(batch.records)
  return applied(pool, batch, refused, async (client) => {
    await writeEpisodes(client, newestByKey(rows), batch.writtenAtMs)
    await writeNotices(client, rows)
  })
}

export async function applyStockMarkBatch(pool: Pool, batch: StockBatch): Promise<readonly RefusedResult[]> {
  const { rows, refused } = decodeStockMarks(batch.records)
  return applied(pool, batch, refused, async (client) => {
    // At most one a partition and second: one statement each is no burden, and arrays of arrays are none.
    for (const { value } of rows) {
      await client.query(
        `insert into km0.stock_mark as t (partition, next_offset, watermark_ms, sources_ms, arrival_ms, epoch, written_at_ms)
         values ($1, $2, $3, $4::bigint[], $5, $6, $7)
         on conflict (partition) do update set ${replacing(['next_offset', 'watermark_ms', 'sources_ms', 'arrival_ms', 'epoch', 'written_at_ms'])}
         where (excluded.epoch, excluded.next_offset) >= (t.epoch, t.next_offset)`,
        [value.particio, value.offset, value.marca_aigua_ms, value.fonts_ms, value.darrera_arribada_ms, value.epoca, batch.writtenAtMs],
      )
    }
  })
}

async function applied(
  pool: Pool,
  batch: StockBatch,
  refused: readonly RefusedResult[],
  write: (client: Client) => Promise<void>,
): Promise<readonly RefusedResult[]> {
  return pool.transaction('begin', async (client) => {
    if ((await lockOffset(client, batch)) >= batch.nextOffset) return []
    await write(client)
    await moveOffset(client, batch)
    return refused
  })
}

type Placed = { readonly source: AlertRow['source']; readonly value: { readonly producte: string; readonly mercat: string } }

const ownerColumns = (rows: readonly Placed[]): Column[] => [
  { name: 'product', type: 'text', values: rows.map(({ value }) => value.producte) },
  { name: 'market', type: 'text', values: rows.map(({ value }) => value.mercat) },
]

const sourceColumns = (rows: readonly Placed[], writtenAtMs: number): Column[] => [
  { name: 'epoch', type: 'integer', values: rows.map(({ source }) => source.epoch) },
  { name: 'source_partition', type: 'integer', values: rows.map(({ source }) => source.partition) },
  { name: 'source_offset', type: 'bigint', values: rows.map(({ source }) => source.offset) },
  { name: 'written_at_ms', type: 'bigint', values: rows.map(() => writtenAtMs) },
]

async function upsertForward(client: Client, table: string, key: readonly string[], columns: readonly Column[]): Promise<void> {
  const rest = columns.map(({ name }) => name).filter((name) => !key.includes(name))
  await bulkInsert(client, table, columns, `(${key.join(', ')}) do update set ${replacing(rest)} where ${FORWARD_SQL}`)
}

async function writeAlerts(client: Client, rows: readonly AlertRow[], writtenAtMs: number): Promise<void> {
  await upsertForward(
    client,
    'stock_alert',
    ['product', 'market', 'window_start_ms'],
    [
      ...ownerColumns(rows),
      { name: 'window_start_ms', type: 'bigint', values: rows.map(({ value }) => value.inici_ms) },
      { name: 'window_end_ms', type: 'bigint', values: rows.map(({ value }) => value.fi_ms) },
      { name: 'minimum', type: 'bigint', values: rows.map(({ value }) => value.estoc_minim) },
      { name: 'updates', type: 'integer', values: rows.map(({ value }) => value.actualitzacions) },
      { name: 'revision', type: 'integer', values: rows.map(({ value }) => value.revisio ?? 0) },
      ...sourceColumns(rows, writtenAtMs),
    ],
  )
}

async function writeLive(client: Client, rows: readonly LiveStockRow[], writtenAtMs: number): Promise<void> {
  await upsertForward(
    client,
    'stock_live',
    ['product', 'market'],
    [
      ...ownerColumns(rows),
      { name: 'stock', type: 'bigint', values: rows.map(({ value }) => value.estoc_actual) },
      { name: 'threshold', type: 'double precision', values: rows.map(({ value }) => value.llindar) },
      { name: 'event_ms', type: 'bigint', values: rows.map(({ value }) => value.data_ms) },
      { name: 'arrival_ms', type: 'bigint', values: rows.map(({ value }) => value.arribada_ms) },
      ...sourceColumns(rows, writtenAtMs),
    ],
  )
}

interface Slot {
  readonly product: string
  readonly market: string
  readonly slotMs: number
  minimum: number
  last: number
  lastMs: number
}

/** One row a product, market and slot, in order of keys, so that two writers lock rows in one order. */
function slotsOf(rows: readonly LiveStockRow[]): Slot[] {
  const slots = new Map<string, Slot>()
  for (const { key, value } of rows) {
    const slotMs = Math.floor(value.data_ms / HISTORY_SLOT_MS) * HISTORY_SLOT_MS
    const name = `${key}|${slotMs}`
    const { estoc_actual: stock, data_ms: eventMs } = value
    const slot = slots.get(name)
    if (slot === undefined) {
      slots.set(name, { product: value.producte, market: value.mercat, slotMs, minimum: stock, last: stock, lastMs: eventMs })
      continue
    }
    slot.minimum = Math.min(slot.minimum, stock)
    if (eventMs >= slot.lastMs) Object.assign(slot, { last: stock, lastMs: eventMs })
  }
  return [...slots].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, slot]) => slot)
}

async function writeHistory(client: Client, slots: readonly Slot[]): Promise<void> {
  await bulkInsert(
    client,
    'stock_history',
    [
      { name: 'product', type: 'text', values: slots.map((slot) => slot.product) },
      { name: 'market', type: 'text', values: slots.map((slot) => slot.market) },
      { name: 'slot_ms', type: 'bigint', values: slots.map((slot) => slot.slotMs) },
      { name: 'minimum', type: 'bigint', values: slots.map((slot) => slot.minimum) },
      { name: 'last_stock', type: 'bigint', values: slots.map((slot) => slot.last) },
      { name: 'last_event_ms', type: 'bigint', values: slots.map((slot) => slot.lastMs) },
    ],
    `(product, market, slot_ms) do update set minimum = least(t.minimum, excluded.minimum),
       last_stock = case when excluded.last_event_ms >= t.last_event_ms then excluded.last_stock else t.last_stock end,
       last_event_ms = greatest(t.last_event_ms, excluded.last_event_ms)`,
  )
}

async function writeEpisodes(client: Client, rows: readonly EpisodeRow[], writtenAtMs: number): Promise<void> {
  await upsertForward(
    client,
    'stock_episode',
    ['product', 'market', 'start_ms'],
    [
      ...ownerColumns(rows),
      { name: 'start_ms', type: 'bigint', values: rows.map(({ value }) => value.inici_ms) },
      { name: 'end_ms', type: 'bigint', values: rows.map(({ value }) => value.fi_ms) },
      { name: 'minimum', type: 'bigint', values: rows.map(({ value }) => value.estoc_minim) },
      { name: 'threshold', type: 'double precision', values: rows.map(({ value }) => value.llindar) },
      { name: 'last_window_ms', type: 'bigint', values: rows.map(({ value }) => value.darrera_finestra_ms) },
      ...sourceColumns(rows, writtenAtMs),
    ],
  )
}

const REASONS = { comenca: 'begun', meitat: 'halved', zero: 'empty' } as const

async function writeNotices(client: Client, rows: readonly EpisodeRow[]): Promise<void> {
  const notices = new Map(
    rows.flatMap(({ key, value }) => value.avisos.map((notice) => [`${key}|${notice.motiu}`, { episode: value, notice }] as const)),
  )
  const ordered = [...notices].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry)
  await bulkInsert(
    client,
    'stock_notice',
    [
      { name: 'product', type: 'text', values: ordered.map(({ episode }) => episode.producte) },
      { name: 'market', type: 'text', values: ordered.map(({ episode }) => episode.mercat) },
      { name: 'start_ms', type: 'bigint', values: ordered.map(({ episode }) => episode.inici_ms) },
      { name: 'reason', type: 'text', values: ordered.map(({ notice }) => REASONS[notice.motiu]) },
      { name: 'stock', type: 'bigint', values: ordered.map(({ notice }) => notice.estoc) },
      { name: 'at_ms', type: 'bigint', values: ordered.map(({ notice }) => notice.data_ms) },
    ],
    '(product, market, start_ms, reason) do nothing',
  )
}
