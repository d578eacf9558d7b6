import { TRACE_HEADER } from '@km0/contracts'
import type { Tracer } from '@km0/runtime'
import type { PartitionSlice } from '@km0/transport'

/** What was done with a batch, and since when; each step ends where the next one begins, the last one now. */
export interface BatchStep {
  readonly name: string
  readonly startMs: number
}

/**
 * A batch that has been written: a span of its own for each step, linked with the traces of the positions in it, and one in each of these. All in
 * a trace of the batch's.
 */
export function noteBatch(tracer: Tracer, steps: readonly BatchStep[], { topic, partition, records }: PartitionSlice): void {
  const links = records.flatMap(({ headers }) => headers[TRACE_HEADER] ?? [])
  if (links.length === 0) return
  const nowMs = Date.now()
  const attributes = { topic, partition, records: records.length }
  let batch: string | null = null
  for (const [index, { name, startMs }] of steps.entries()) {
    const endMs = steps[index + 1]?.startMs ?? nowMs
    batch = tracer.note({ name: `${name}: batch`, startMs, endMs, parent: batch, links, attributes })
    for (const parent of links) tracer.note({ name, startMs, endMs, parent, attributes })
  }
}
