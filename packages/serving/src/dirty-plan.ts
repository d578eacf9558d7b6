import { madridDay } from '@km0/contracts'
import { type DirtyHour, HOUR_MS, type ReachRules } from './dirty-hours.ts'

/** A range of hours that is dirty for the same vans: one backfill. */
export interface DirtyPiece {
  readonly fromMs: number
  readonly toMs: number
  /** In code-unit order. */
  readonly vans: readonly string[]
  /** Different late points that it would bring in; one that two pieces need is counted in the first. */
  readonly points: number
}

/** What a backfill of a piece has to read: each van's points in `[fromMs, toMs)`. */
export interface ReadSpan {
  readonly van: string
  readonly fromMs: number
  readonly toMs: number
}

/**
 * The smallest backfill that leaves nothing dirty: each van's neighbouring hours as one range, vans with the same range together. By range and
 * van.
 */
export function dirtyPieces(hours: readonly DirtyHour[]): DirtyPiece[] {
  const pieces = new Map<string, { fromMs: number; toMs: number; hours: DirtyHour[] }>()
  for (const run of runsOf(hours)) {
    const fromMs = run[0]?.hourMs ?? 0
    const toMs = fromMs + run.length * HOUR_MS
    const piece = pieces.get(`${fromMs}|${toMs}`) ?? { fromMs, toMs, hours: [] }
    pieces.set(`${fromMs}|${toMs}`, piece)
    piece.hours.push(...run)
  }
  const counted = new Set<string>()
  return [...pieces.values()]
    .sort((a, b) => a.fromMs - b.fromMs || a.toMs - b.toMs)
    .map(({ fromMs, toMs, hours: of }) => {
      const before = counted.size
      for (const { van, points } of of) for (const { eventMs } of points) counted.add(`${van}\u0000${eventMs}`)
      return { fromMs, toMs, vans: [...new Set(of.map(({ van }) => van))], points: counted.size - before }
    })
}

/** Hours of a van that follow each other. `hours` are by van and hour. */
function runsOf(hours: readonly DirtyHour[]): DirtyHour[][] {
  const runs: DirtyHour[][] = []
  let before: DirtyHour | undefined
  for (const hour of hours) {
    if (before?.van === hour.van && before.hourMs + HOUR_MS === hour.hourMs) runs.at(-1)?.push(hour)
    else runs.push([hour])
    before = hour
  }
  return runs
}

/** What section 8 says that a run over the pieces reads, sessions that go on after the range left out. */
export function readSpans(pieces: readonly DirtyPiece[], rules: ReachRules): ReadSpan[] {
  const stepMs = Math.max(rules.maxSegmentMs, rules.sessionGapMs)
  return pieces.flatMap(({ fromMs, toMs, vans }) => {
    const needsFromMs = Math.min(madridDay(fromMs).startMs, fromMs - rules.windowSizeMs - stepMs)
    return vans.map((van) => ({ van, fromMs: needsFromMs, toMs }))
  })
}
