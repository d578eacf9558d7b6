import { TRACE_HEADER } from '@km0/contracts'
import type { Tracer } from '@km0/runtime'
import type { PartitionSlice } from '@km0/transport'

/** A batch that has been written: its own span, linked with the traces of the positions in it, and one in each of these. */
export function noteBatch(tracer: Tracer, name: string, { topic, partition, records }: PartitionSlice, startMs: number): void {
  const links = records.flatMap(({ headers }) => headers[TRACE_HEADER] ?? [])
  if (links.length === 0) return
  const endMs = Date.now()
  const attributes = { topic, partition, records: records.length }
  tracer.note({ name: `${name}: batch`, startMs, endMs, parent: null, links, attributes })
  for (const parent of links) tracer.note({ name, startMs, endMs, parent, attributes })
}
