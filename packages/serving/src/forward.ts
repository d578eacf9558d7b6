import type { SourcePosition } from '@km0/contracts'

/**
 * Whether a row that comes from `next` may replace one from `stored`: by epoch, then offset; the partition decides between two that are
 * equal (a van lives in one partition, so this only makes the order total when somebody keys it wrongly). Equal positions replace: one
 * record may cause several states of a van, in the order of the log.
 */
export function isForward(next: SourcePosition, stored: SourcePosition): boolean {
  if (next.epoch !== stored.epoch) return next.epoch > stored.epoch
  if (next.offset !== stored.offset) return next.offset > stored.offset
  return next.partition >= stored.partition
}

/** The same rule in SQL, between the row that comes (`excluded`) and the one that is there (`t`). */
export const FORWARD_SQL =
  '(excluded.epoch, excluded.source_offset, excluded.source_partition) >= (t.epoch, t.source_offset, t.source_partition)'

/** The newest row of each key, in order of keys, so that two writers lock rows in one order. */
export function newestByKey<Row extends { readonly key: string; readonly source: SourcePosition }>(rows: readonly Row[]): Row[] {
  const newest = new Map<string, Row>()
  for (const row of rows) {
    const known = newest.get(row.key)
    if (known === undefined || isForward(row.source, known.source)) newest.set(row.key, row)
  }
  return [...newest.values()].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}
