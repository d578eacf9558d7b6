import { bulkInsert, type Column, replacing } from './bulk-insert.ts'
import type { DayPartitions } from './day-partitions.ts'
import { decodeLive, type LiveRow, type RefusedResult, type ResultRecord } from './decode.ts'
import { FORWARD_SQL, newestByKey } from './forward.ts'
import { type AppliedBatch, lockOffset, moveOffset } from './offsets.ts'
import type { Client, Pool } from './pool.ts'

export interface LiveBatch extends AppliedBatch {
  readonly records: readonly ResultRecord[]
  readonly writtenAtMs: number
}

/** A track keeps at most one point of a van for each of these spans. */
export const TRACK_SLOT_MS = 10_000

/** Applies records of the topic of live points: the newest point of each van, and its track. One transaction with the offset. */
export async function applyLiveBatch(pool: Pool, days: DayPartitions, batch: LiveBatch): Promise<readonly RefusedResult[]> {
  const { rows, refused } = decodeLive(batch.records)
  const track = onePerSlot(rows)
  await days.ensure(
    'track_point',
    track.map((row) => row.value.data_ms),
  )
  return pool.transaction('begin', async (client) => {
    if ((await lockOffset(client, batch)) >= batch.nextOffset) return []
    await writeLive(client, newestByKey(rows), batch.writtenAtMs)
    await writeTrack(client, track)
    await moveOffset(client, batch)
    return refused
  })
}

const slotOf = (eventMs: number) => Math.floor(eventMs / TRACK_SLOT_MS) * TRACK_SLOT_MS

/** The first point of each van and slot. */
function onePerSlot(rows: readonly LiveRow[]): LiveRow[] {
  const bySlot = new Map<string, LiveRow>()
  for (const row of rows) {
    const slot = `${row.value.repartidor}\u0000${slotOf(row.value.data_ms)}`
    if (!bySlot.has(slot)) bySlot.set(slot, row)
  }
  return [...bySlot.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
}

async function writeLive(client: Client, rows: readonly LiveRow[], writtenAtMs: number): Promise<void> {
  const columns: Column[] = [
    { name: 'van', type: 'text', values: rows.map(({ value }) => value.repartidor) },
    { name: 'lat', type: 'double precision', values: rows.map(({ value }) => value.lat) },
    { name: 'lon', type: 'double precision', values: rows.map(({ value }) => value.lon) },
    { name: 'event_ms', type: 'bigint', values: rows.map(({ value }) => value.data_ms) },
    { name: 'arrival_ms', type: 'bigint', values: rows.map(({ value }) => value.arribada_ms) },
    { name: 'speed_mm_per_s', type: 'bigint', values: rows.map(({ value }) => value.velocitat_mm_s) },
    { name: 'heading_degrees', type: 'double precision', values: rows.map(({ value }) => value.rumb_graus) },
    { name: 'doubtful', type: 'boolean', values: rows.map(({ value }) => value.dubtos) },
    { name: 'motion', type: 'text', values: rows.map(({ value }) => (value.estat === 'aturada' ? 'stopped' : 'moving')) },
    { name: 'epoch', type: 'integer', values: rows.map(({ source }) => source.epoch) },
    { name: 'source_partition', type: 'integer', values: rows.map(({ source }) => source.partition) },
    { name: 'source_offset', type: 'bigint', values: rows.map(({ source }) => source.offset) },
    { name: 'written_at_ms', type: 'bigint', values: rows.map(() => writtenAtMs) },
  ]
  const rest = columns.map(({ name }) => name).filter((name) => name !== 'van')
  await bulkInsert(client, 'live_point', columns, `(van) do update set ${replacing(rest)} where ${FORWARD_SQL}`)
}

async function writeTrack(client: Client, rows: readonly LiveRow[]): Promise<void> {
  await bulkInsert(
    client,
    'track_point',
    [
      { name: 'van', type: 'text', values: rows.map(({ value }) => value.repartidor) },
      { name: 'slot_ms', type: 'bigint', values: rows.map(({ value }) => slotOf(value.data_ms)) },
      { name: 'event_ms', type: 'bigint', values: rows.map(({ value }) => value.data_ms) },
      { name: 'lat', type: 'double precision', values: rows.map(({ value }) => value.lat) },
      { name: 'lon', type: 'double precision', values: rows.map(({ value }) => value.lon) },
      { name: 'doubtful', type: 'boolean', values: rows.map(({ value }) => value.dubtos) },
    ],
    '(van, slot_ms) do nothing',
  )
}
