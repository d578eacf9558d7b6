import { madridDay } from '@km0/contracts'

export const HOUR_MS = 3_600_000

/** A position that live results miss wholly (`tard`) or in part (`parcial`), as the late side output tells of it. */
export interface MissedPoint {
  readonly van: string
  readonly eventMs: number
  readonly reason: 'tard' | 'parcial'
  /** Where the position itself stands in the log. */
  readonly epoch: number
  readonly partition: number
  readonly offset: number
}

/** A session as it is served; `lastMs` is Infinity while it is open. */
export interface SessionSpan {
  readonly van: string
  readonly startMs: number
  readonly lastMs: number
}

/** What of the pipeline's settings decides how far a point reaches. */
export interface ReachRules {
  readonly windowSizeMs: number
  readonly slideMs: number
  readonly sessionGapMs: number
  readonly maxSegmentMs: number
  /** Longest gap between two points that is counted in distance by hour. */
  readonly maxGapMs: number
}

/**
 * What of an hour a point can change: its windows; a session that starts in it; the gap before a later point in its distance; the distance
 * of the Madrid day that ends with it. `hole`: records that live results never saw may be of the hour.
 */
export type DirtyCause = 'windows' | 'session' | 'gap' | 'day' | 'hole'

/** A span of event time of which the log was gone before live results had it: nobody knows what was in it. */
export interface UnseenSpan {
  readonly van: string
  readonly fromMs: number
  readonly toMs: number
}

/** An hour `[hourMs, hourMs + 1 h)` of a van whose rows are not what its points say. Rows belong to it with `hourMs < fi_ms ≤ hourMs + 1 h`. */
export interface DirtyHour {
  readonly van: string
  readonly hourMs: number
  readonly causes: ReadonlySet<DirtyCause>
  /** Points that can change something of the hour, in event order. */
  readonly points: readonly MissedPoint[]
}

/** Whether what is served for an hour of a van, of the kind that the cause speaks of, was computed with this point. */
export type IsCovered = (van: string, hourMs: number, cause: DirtyCause, point: MissedPoint) => boolean

const nothingCovered: IsCovered = () => false

/**
 * Every (hour, van) whose rows the missed points can change, by van (code units) and hour: the hours of `fi_ms` in (data_ms, data_ms + reach],
 * reach being a window and the longest step to a later point (480,000 ms by default), and those in which the sessions start, served or
 * recomputed, that hold or touch a point; of distance by hour also that of the next point after a gap, and the day's last. `sessions` are all that
 * are served of these vans, in any order; what is covered is left out. A recomputed session needs no points: each point of a van lies in
 * a served session or is a missed one, so what is less than a gap apart is one session.
 */
export function dirtyHours(
  missed: readonly MissedPoint[],
  sessions: readonly SessionSpan[],
  rules: ReachRules,
  isCovered: IsCovered = nothingCovered,
): DirtyHour[] {
  const sessionsOf = groupBy(sessions, (session) => session.van)
  const found: DirtyHour[] = []
  for (const [van, points] of groupBy(missed, (point) => point.van)) {
    const ordered = points.sort((a, b) => a.eventMs - b.eventMs || a.partition - b.partition || a.offset - b.offset)
    found.push(...hoursOfVan(van, ordered, sessionsOf.get(van) ?? [], rules, isCovered))
  }
  return found.sort(byVanAndHour)
}

/** The hours of a van whose rows the records of an unseen span can change, in order: its windows, and the sessions that touch it. */
export function unseenHours(
  { van, fromMs, toMs }: UnseenSpan,
  served: readonly SessionSpan[],
  rules: ReachRules,
  isClean: (hourMs: number) => boolean = () => false,
): DirtyHour[] {
  const hours = new Set<number>()
  const lastMs = hourOfEnd(Math.floor((toMs + reachOf(rules)) / rules.slideMs) * rules.slideMs)
  for (let hourMs = hourStart(fromMs); hourMs <= lastMs; hourMs += HOUR_MS) hours.add(hourMs)
  for (const { startMs, lastMs: endMs } of served)
    if (startMs <= toMs + rules.sessionGapMs && endMs >= fromMs - rules.sessionGapMs) hours.add(hourStart(startMs))
  const found = [...hours].filter((hourMs) => !isClean(hourMs)).sort((a, b) => a - b)
  return found.map((hourMs) => ({ van, hourMs, causes: new Set(['hole']), points: [] }))
}

/** Hours of several reasons as one each, by van and hour. */
export function mergeHours(hours: readonly DirtyHour[]): DirtyHour[] {
  const merged = new Map<string, DirtyHour>()
  for (const hour of hours) {
    const key = `${hour.hourMs}|${hour.van}`
    const known = merged.get(key)
    const both =
      known === undefined
        ? hour
        : { ...known, causes: new Set([...known.causes, ...hour.causes]), points: [...known.points, ...hour.points] }
    merged.set(key, both)
  }
  return [...merged.values()].sort(byVanAndHour)
}

function byVanAndHour(a: DirtyHour, b: DirtyHour): number {
  return a.van < b.van ? -1 : a.van > b.van ? 1 : a.hourMs - b.hourMs
}

/** The point is in its own windows, and in the step to the next point, which is in that one's. */
function reachOf({ windowSizeMs, maxSegmentMs, sessionGapMs }: ReachRules): number {
  return windowSizeMs + Math.max(maxSegmentMs, sessionGapMs)
}

function hoursOfVan(
  van: string,
  points: readonly MissedPoint[],
  served: readonly SessionSpan[],
  rules: ReachRules,
  isCovered: IsCovered,
): DirtyHour[] {
  const hours = new Map<number, { causes: Set<DirtyCause>; points: MissedPoint[] }>()
  const joined = joinSessions(points, served, rules.sessionGapMs)
  for (const point of points) {
    const marks = new Map<number, Set<DirtyCause>>()
    const mark = (hourMs: number, cause: DirtyCause) => marks.set(hourMs, (marks.get(hourMs) ?? new Set()).add(cause))
    markWindows(point.eventMs, rules, mark)
    for (const { startMs, lastMs } of served) {
      const touches = startMs - rules.sessionGapMs <= point.eventMs && point.eventMs <= lastMs + rules.sessionGapMs
      if (touches) mark(hourStart(startMs), 'session')
    }
    markTravel(point.eventMs, joined, rules, mark)
    for (const [hourMs, causes] of marks) {
      const open = [...causes].filter((cause) => !isCovered(van, hourMs, cause, point))
      if (open.length === 0) continue
      const hour = hours.get(hourMs) ?? { causes: new Set(), points: [] }
      hours.set(hourMs, hour)
      for (const cause of open) hour.causes.add(cause)
      hour.points.push(point)
    }
  }
  return [...hours].map(([hourMs, { causes, points: of }]) => ({ van, hourMs, causes, points: of }))
}

function markWindows(eventMs: number, rules: ReachRules, mark: (hourMs: number, cause: DirtyCause) => void): void {
  const { slideMs } = rules
  const lastMs = Math.floor((eventMs + reachOf(rules)) / slideMs) * slideMs
  for (let endMs = (Math.floor(eventMs / slideMs) + 1) * slideMs; endMs <= lastMs; endMs += slideMs) mark(hourOfEnd(endMs), 'windows')
}

/** The session that will hold the point, the point after it when a gap lies between them, and the days of both. */
function markTravel(eventMs: number, joined: readonly Span[], rules: ReachRules, mark: (hourMs: number, cause: DirtyCause) => void): void {
  const at = joined.findIndex(({ startMs, lastMs }) => startMs <= eventMs && eventMs <= lastMs)
  const own = joined[at]
  if (own !== undefined) mark(hourStart(own.startMs), 'session')
  mark(hourOfEnd(madridDay(eventMs).endMs), 'day')
  const next = joined[at + 1]
  if (own === undefined || next === undefined || own.lastMs > eventMs || next.startMs - eventMs > rules.maxGapMs) return
  mark(hourStart(next.startMs), 'gap')
  mark(hourOfEnd(madridDay(next.startMs).endMs), 'day')
}

interface Span {
  startMs: number
  lastMs: number
}

/** Sessions as they will be: served ones and points that are at most a gap apart are one. In order. */
function joinSessions(points: readonly MissedPoint[], served: readonly SessionSpan[], gapMs: number): Span[] {
  const spans: Span[] = [
    ...served.map(({ startMs, lastMs }) => ({ startMs, lastMs })),
    ...points.map(({ eventMs }) => ({ startMs: eventMs, lastMs: eventMs })),
  ].sort((a, b) => a.startMs - b.startMs)
  const joined: Span[] = []
  for (const span of spans) {
    const last = joined.at(-1)
    if (last !== undefined && span.startMs - last.lastMs <= gapMs) last.lastMs = Math.max(last.lastMs, span.lastMs)
    else joined.push(span)
  }
  return joined
}

function hourStart(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS
}

/** The hour `[a, b)` to which a row belongs that ends at `endMs`: `a < endMs ≤ b`. */
function hourOfEnd(endMs: number): number {
  return Math.ceil(endMs / HOUR_MS) * HOUR_MS - HOUR_MS
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}
