import { bulkInsert } from './bulk-insert.ts'
import type { DayPartitions } from './day-partitions.ts'
import { decodeLate, type RefusedResult } from './decode.ts'
import { lockOffset, moveOffset } from './offsets.ts'
import type { Pool } from './pool.ts'
import type { LiveBatch } from './write-live.ts'

/** Applies records of the late side output and moves the offset, in one transaction. A record that is emitted again changes nothing. */
export async function applyLateBatch(pool: Pool, days: DayPartitions, batch: LiveBatch): Promise<readonly RefusedResult[]> {
  const { rows, refused } = decodeLate(batch.records)
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
    await moveOffset(client, batch)
    return refused
  })
}
