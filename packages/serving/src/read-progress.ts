import type { Pool } from './pool.ts'

/** How far a source partition has been applied, as its job said last. Says nothing of any van, so it takes no scope. */
export interface StoredMark {
  readonly partition: number
  readonly nextOffset: number
  readonly epoch: number
  readonly watermarkMs: number | null
}

/** Marks by source partition. */
export async function readMarks(pool: Pool): Promise<Map<number, StoredMark>> {
  const rows = await pool.query<{ partition: number; nextOffset: number; epoch: number; watermarkMs: number | null }>(
    'select partition, next_offset as "nextOffset", epoch, watermark_ms as "watermarkMs" from km0.partition_mark order by partition',
  )
  return new Map(rows.map((row) => [row.partition, row]))
}

/** Time from the end of a distance window to its row, in ms; null without rows. Rows written at or after `fromMs`, first emissions only. */
export interface DelayQuantiles {
  readonly rows: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export async function readDelayQuantiles(pool: Pool, fromMs: number): Promise<DelayQuantiles | null> {
  const [row] = await pool.query<{ rows: number; p50: number | null; p99: number | null; max: number | null }>(
    `select count(*) as rows, percentile_disc(0.5) within group (order by written_at_ms - window_end_ms) as p50,
       percentile_disc(0.99) within group (order by written_at_ms - window_end_ms) as p99, max(written_at_ms - window_end_ms) as max
     from km0.distance_row where written_at_ms >= $1 and revision = 0`,
    [fromMs],
  )
  if (row === undefined || row.p50 === null || row.p99 === null || row.max === null) return null
  return { rows: row.rows, p50Ms: row.p50, p99Ms: row.p99, maxMs: row.max }
}
