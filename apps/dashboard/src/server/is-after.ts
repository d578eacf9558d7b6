import type { SourcePosition } from '@km0/contracts'

/** Whether a record lies after the one that is known. A van lives in one partition, so epoch and offset decide; what says nothing loses. */
export function isAfter(next: SourcePosition | null, known: SourcePosition | null): boolean {
  if (next === null) return false
  if (known === null) return true
  return next.epoch > known.epoch || (next.epoch === known.epoch && next.offset > known.offset)
}
