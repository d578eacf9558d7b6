import { createHash } from 'node:crypto'
import type { DirtyHour, MissedPoint, ReachRules } from '@km0/serving'

export interface CertifiedRow {
  readonly key: string
  readonly van: string
  /** JSON text. */
  readonly value: string
}

export interface RowDifference {
  readonly key: string
  readonly van: string
  readonly served: string | null
  readonly recomputed: string | null
  /** Late points that can change the row; none: nobody knows why it differs. */
  readonly because: readonly MissedPoint[]
}

export interface HourComparison {
  readonly hashServed: string
  readonly hashRecomputed: string
  readonly differences: readonly RowDifference[]
  readonly result: 'equal' | 'explained' | 'different'
}

/** Compares an hour as it is served with the same hour recomputed. Both by key; `dirty` are the dirty hours of that hour's vans. */
export function compareHour(
  served: readonly CertifiedRow[],
  recomputed: readonly CertifiedRow[],
  dirty: readonly DirtyHour[],
  rules: Pick<ReachRules, 'windowSizeMs' | 'maxSegmentMs' | 'sessionGapMs'>,
): HourComparison {
  const servedByKey = new Map(served.map((row) => [row.key, row]))
  const recomputedByKey = new Map(recomputed.map((row) => [row.key, row]))
  const reasons = new Map(dirty.map((hour) => [hour.van, hour.points]))
  const differences: RowDifference[] = []
  for (const key of [...new Set([...servedByKey.keys(), ...recomputedByKey.keys()])].sort()) {
    const [one, other] = [servedByKey.get(key), recomputedByKey.get(key)]
    if (one?.value === other?.value) continue
    const van = one?.van ?? other?.van ?? ''
    differences.push({
      key,
      van,
      served: one?.value ?? null,
      recomputed: other?.value ?? null,
      because: (reasons.get(van) ?? []).filter(({ eventMs }) =>
        [one, other].some((row) => row !== undefined && canChange(row.value, eventMs, rules)),
      ),
    })
  }
  const isExplained = differences.every(({ because }) => because.length > 0)
  return {
    hashServed: hashOf(served),
    hashRecomputed: hashOf(recomputed),
    differences,
    result: differences.length === 0 ? 'equal' : isExplained ? 'explained' : 'different',
  }
}

/** Whether a point at `eventMs` can change a row: it is in the window or in the step before one of its points; it is of the session or touches it. */
function canChange(
  value: string,
  eventMs: number,
  { windowSizeMs, maxSegmentMs, sessionGapMs }: Pick<ReachRules, 'windowSizeMs' | 'maxSegmentMs' | 'sessionGapMs'>,
): boolean {
  const { tipus, inici_ms, fi_ms } = JSON.parse(value) as { tipus: string; inici_ms: number; fi_ms: number }
  if (tipus === 'sessio') return eventMs >= inici_ms - sessionGapMs && eventMs <= fi_ms + sessionGapMs
  return eventMs < fi_ms && eventMs >= fi_ms - windowSizeMs - Math.max(maxSegmentMs, sessionGapMs)
}

/** SHA-256 over `key value` lines, in hexadecimal. */
function hashOf(rows: readonly CertifiedRow[]): string {
  const hash = createHash('sha256')
  for (const { key, value } of rows) hash.update(`${key} ${value}\n`)
  return hash.digest('hex')
}
