import { LONGEST_BACKFILL_MS } from '@km0/contracts/backfill-payload'
import { madridDayStartMs } from './madrid-day.ts'

interface Range {
  readonly fromMs: number
  readonly toMs: number
}

/** A range that is too long for one version as months of Madrid, which may be computed, published and taken back one by one. */
export function byMonth<Request extends Range>(request: Request): Request[] {
  const { fromMs, toMs } = request
  if (toMs - fromMs <= LONGEST_BACKFILL_MS) return [request]
  const borders = [fromMs, ...monthStarts(fromMs, toMs), toMs]
  return borders.slice(1).map((endMs, index) => ({ ...request, fromMs: borders[index] ?? fromMs, toMs: endMs }))
}

/** When months of Madrid begin between these times, both left out. */
function monthStarts(fromMs: number, toMs: number): number[] {
  const starts: number[] = []
  const first = new Date(fromMs)
  for (let month = first.getUTCMonth(); ; month += 1) {
    const date = new Date(Date.UTC(first.getUTCFullYear(), month, 1)).toISOString().slice(0, 10)
    const startMs = madridDayStartMs(date) ?? Number.POSITIVE_INFINITY
    if (startMs >= toMs) return starts
    if (startMs > fromMs) starts.push(startMs)
  }
}
