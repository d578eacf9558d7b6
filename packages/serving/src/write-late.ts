import { bulkInsert } from './bulk-insert.ts'
import type { DayPartitions } from './day-partitions.ts'
import { decodeLate, type RefusedResult } from './decode.ts'
import { noteLatePoints } from './events/tell-corrections.ts'
import { lockOffset, moveOffset } from './offsets.ts'
import type { Pool } from './pool.ts'
import type { LiveBatch } from './write-live.ts'

/** Applies records of the late side output, holes of the log among them, and moves the offset, in one transaction. A record that is emitted again changes nothing. */
export async function applyLateBatch(pool: Pool, days: DayPartitions, batch: LiveBatch): Promise<readonly RefusedResult[]> {
  const decoded = decodeLate(batch.records)
  const rows = decoded.rows.flatMap(({ key, source, value }) => (value.motiu === 'forat' ? [] : [{ key, source, value }]))
  const holes = decoded.rows.flatMap(({ source, value }) => (value.motiu === 'forat' ? [{ source, value }] : []))
  await days.ensure(
    'late_point',
    rows.map((row) => row.value.data_ms),
  )
  return pool.transaction('begin', async (client) => {
    if ((await lockOffset(client, batch)) >= batch.nextOffset) return []
    await bulkInsert(
      client,
      'late_point',
      [
        { name: 'van', type: 'text', values: rows.map(({ key }) => key) },
        { name: 'event_ms', type: 'bigint', values: rows.map(({ value }) => value.data_ms) },
        { name: 'reason', type: 'text', values: rows.map(({ value }) => value.motiu) },
        { name: 'epoch', type: 'integer', values: rows.map(({ source }) => source.epoch) },
        { name: 'source_partition', type: 'integer', values: rows.map(({ source }) => source.partition) },
        { name: 'source_offset', type: 'bigint', values: rows.map(({ source }) => source.offset) },
      ],
      '(event_ms, epoch, source_partition, source_offset) do nothing',
    )
    await noteLatePoints(
      client,
      rows.map(({ key, value }) => ({ van: key, eventMs: value.data_ms })),
      batch.writtenAtMs,
    )
    await bulkInsert(
      client,
      'log_hole',
      [
        { name: 'partition', type: 'integer', values: holes.map(({ source }) => source.partition) },
        { name: 'epoch', type: 'integer', values: holes.map(({ source }) => source.epoch) },
        { name: 'from_offset', type: 'bigint', values: holes.map(({ value }) => value.des_de_offset) },
        { name: 'to_offset', type: 'bigint', values: holes.map(({ value }) => value.fins_offset) },
        { name: 'from_ms', type: 'bigint', values: holes.map(({ value }) => value.inici_ms) },
        { name: 'to_ms', type: 'bigint', values: holes.map(({ value }) => value.data_ms) },
      ],
      '(epoch, partition, from_offset) do nothing',
    )
    await moveOffset(client, batch)
    return decoded.refused
  })
}
