import type { PositionsSettings } from '@km0/contracts'
import { currentSnapshot, finalMarks, type Lake, POSITIONS, readBatchInput } from '@km0/lake'
import { positionsBatchOver } from '@km0/pipelines/positions/positions-columns'
import { HOUR_MS } from '@km0/serving'
import type { CertifiedRow } from './certify-compare.ts'
import { CommandError } from './command.ts'

export interface RecomputedHour {
  readonly snapshot: number
  readonly points: number
  /** By key. */
  readonly rows: readonly CertifiedRow[]
  /** Sessions that were still open where the lake ends: live cannot have told of them. */
  readonly openSessions: number
}

/**
 * Windows that end in an hour and sessions that begin in it, from the newest version of the lake, late points in. Throws a CommandError while the
 * hour is not closed: every partition's final mark must have passed its end, in the lake and (`liveMs`) in what is served.
 */
export async function recomputeHour(lake: Lake, hourMs: number, settings: PositionsSettings, liveMs: number): Promise<RecomputedHour> {
  const snapshot = await currentSnapshot(lake)
  const endMs = hourMs + HOUR_MS
  const finalMs = Math.min(liveMs, await leastFinalMark(lake, settings, snapshot))
  if (finalMs < endMs) {
    const until = Number.isFinite(finalMs) ? `up to ${new Date(finalMs).toISOString()}` : 'nowhere'
    throw new CommandError(
      `the hour is not closed: live results and lake are final ${until}, the hour ends at ${new Date(endMs).toISOString()}`,
    )
  }
  const columns = await readBatchInput(lake, {
    fromMs: hourMs,
    toMs: endMs,
    needsFromMs: hourMs - settings.windowSizeMs - Math.max(settings.maxSegmentMs, settings.sessionGapMs),
    sessionGapMs: settings.sessionGapMs,
    maxGapMs: settings.maxAgeMs,
    snapshot,
  })
  const rows: CertifiedRow[] = []
  let openSessions = 0
  const emit = (key: string, value: string) => {
    const kind = key.slice(0, key.indexOf('|'))
    if (kind !== 'distancia' && kind !== 'sessio') return
    const { repartidor, fi_ms } = JSON.parse(value) as { repartidor: string; fi_ms: number }
    if (kind === 'sessio' && fi_ms + settings.sessionGapMs >= finalMs) openSessions += 1
    else rows.push({ key, van: repartidor, value })
  }
  positionsBatchOver(columns, emit, settings, { fromMs: hourMs, toMs: endMs })
  rows.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return { snapshot, points: columns.rowCount, rows, openSessions }
}

async function leastFinalMark(lake: Lake, settings: PositionsSettings, snapshot: number): Promise<number> {
  const { delayMs, allowedLatenessMs } = settings
  const marks = await finalMarks(lake, { table: POSITIONS, delayMs, allowedLatenessMs, snapshot })
  return marks.length === 0 ? Number.NEGATIVE_INFINITY : Math.min(...marks.map(({ finalMs }) => finalMs))
}
