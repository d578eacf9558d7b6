import type { Client, Pool } from './pool.ts'

/** A stretch of a result topic's partition that is applied in one transaction. */
export interface AppliedBatch {
  readonly topic: string
  readonly partition: number
  readonly nextOffset: number
  readonly clusterId: string
}

/** Locks and reads how far a partition has been applied; 0 when never. Another writer of the same partition waits until the transaction ends. */
export async function lockOffset(client: Client, { topic, partition, clusterId }: AppliedBatch): Promise<number> {
  await client.query(
    'insert into km0.serving_offset (topic, partition, next_offset, cluster_id) values ($1, $2, 0, $3) on conflict (topic, partition) do nothing',
    [topic, partition, clusterId],
  )
  const { rows } = await client.query<{ next_offset: number }>(
    'select next_offset from km0.serving_offset where topic = $1 and partition = $2 for update',
    [topic, partition],
  )
  return rows[0]?.next_offset ?? 0
}

export async function moveOffset(client: Client, { topic, partition, nextOffset, clusterId }: AppliedBatch): Promise<void> {
  await client.query(
    'update km0.serving_offset set next_offset = greatest(next_offset, $3), cluster_id = $4 where topic = $1 and partition = $2',
    [topic, partition, nextOffset, clusterId],
  )
}

/** Next offset of each partition of a topic. */
export async function readOffsets(client: Pick<Client, 'query'>, topic: string): Promise<Map<number, number>> {
  const { rows } = await client.query<{ partition: number; next_offset: number }>(
    'select partition, next_offset from km0.serving_offset where topic = $1 order by partition',
    [topic],
  )
  return new Map(rows.map((row) => [row.partition, row.next_offset]))
}

/**
 * Forgets offsets that are of another cluster, or beyond the log's end: the log was replaced, and is applied from its start. That is safe
 * at any time, because rows only move forward. Returns how many were forgotten.
 */
export async function forgetForeignOffsets(
  pool: Pool,
  topic: string,
  clusterId: string,
  ends: ReadonlyMap<number, number>,
): Promise<number> {
  const partitions = [...ends.keys()]
  const rows = await pool.query(
    `delete from km0.serving_offset o where topic = $1 and (cluster_id <> $2
       or exists (select from unnest($3::integer[], $4::bigint[]) as e (partition, end_offset) where e.partition = o.partition and o.next_offset > e.end_offset))
     returning partition`,
    [topic, clusterId, partitions, partitions.map((partition) => ends.get(partition))],
  )
  return rows.length
}
