import { BACKFILL_HOUR_MS as HOUR_MS } from '@km0/contracts'

const DAY_MS = 24 * HOUR_MS

/** Work of one job: some owners for some hours of one UTC day. */
export interface Piece {
  readonly piece: number
  readonly fromMs: number
  readonly toMs: number
  readonly owners: readonly string[]
  /** Points of the owners in these hours. */
  readonly points: number
  /** Hours beside the range that was asked for: of those only sessions are wanted. */
  readonly sessionsOnly: boolean
}

/** Points of an owner on a UTC day (days since 1970); 0 for a day on which only windows end that hold points of the day before. */
export interface OwnerDay {
  readonly owner: string
  readonly day: number
  readonly points: number
}

/** Sessions of an owner are wanted for more hours than the range has. */
export interface OwnerSpan {
  readonly owner: string
  readonly fromMs: number
  readonly toMs: number
}

/**
 * Cuts a backfill by day and by key bucket. A bucket is a stretch of the owners in code-unit order, since rows of one owner lie together in the
 * lake's files; it holds about `pointsPerPiece` points at most.
 */
export function cutPieces(
  range: { readonly fromMs: number; readonly toMs: number },
  ownerDays: readonly OwnerDay[],
  spans: readonly OwnerSpan[],
  pointsPerPiece: number,
): Piece[] {
  const pieces: Omit<Piece, 'piece'>[] = []
  for (const { fromMs, toMs } of daysOf(range.fromMs, range.toMs)) {
    const day = Math.floor(fromMs / DAY_MS)
    const ofDay = ownerDays.filter((row) => row.day === day).sort((a, b) => compareCodeUnits(a.owner, b.owner))
    pieces.push(...buckets(ofDay, pointsPerPiece).map((bucket) => ({ fromMs, toMs, sessionsOnly: false, ...bucket })))
  }
  for (const side of [leftOf(range.fromMs, spans), rightOf(range.toMs, spans)]) {
    if (side.owners.length === 0) continue
    for (const span of daysOf(side.fromMs, side.toMs)) pieces.push({ ...span, owners: side.owners, points: 0, sessionsOnly: true })
  }
  return pieces.map((piece, index) => ({ piece: index, ...piece }))
}

function leftOf(fromMs: number, spans: readonly OwnerSpan[]) {
  const some = spans.filter((span) => span.fromMs < fromMs)
  return { owners: names(some), fromMs: Math.min(fromMs, ...some.map((span) => span.fromMs)), toMs: fromMs }
}

function rightOf(toMs: number, spans: readonly OwnerSpan[]) {
  const some = spans.filter((span) => span.toMs > toMs)
  return { owners: names(some), fromMs: toMs, toMs: Math.max(toMs, ...some.map((span) => span.toMs)) }
}

const names = (spans: readonly OwnerSpan[]) => spans.map(({ owner }) => owner).sort(compareCodeUnits)

function daysOf(fromMs: number, toMs: number): { fromMs: number; toMs: number }[] {
  const days: { fromMs: number; toMs: number }[] = []
  for (let atMs = fromMs; atMs < toMs; ) {
    const endMs = Math.min(toMs, (Math.floor(atMs / DAY_MS) + 1) * DAY_MS)
    days.push({ fromMs: atMs, toMs: endMs })
    atMs = endMs
  }
  return days
}

function buckets(rows: readonly OwnerDay[], most: number): { owners: string[]; points: number }[] {
  const total = rows.reduce((sum, row) => sum + row.points, 0)
  // Even ones, so that workers end together.
  const target = total / Math.max(1, Math.ceil(total / most))
  const found: { owners: string[]; points: number }[] = []
  let done = 0
  for (const { owner, points } of rows) {
    const last = found.at(-1)
    if (last === undefined || done >= target * found.length) found.push({ owners: [owner], points })
    else {
      last.owners.push(owner)
      last.points += points
    }
    done += points
  }
  return found
}

function compareCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
