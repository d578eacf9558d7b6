import { type DispatchView, EMPTY_DISPATCH } from '@km0/contracts/dispatch'
import type { DistanceView } from '@km0/contracts/panel'
import { compareNames, type Van } from '../van/prepare-fleet.ts'
import type { ShownTotal } from './prepare-totals.ts'

export const SLIDE_MS = 60_000
export const SPARKLINE_MS = 30 * 60_000

/** Why a van is out of the ordinary: further than 99 % of its windows in this hour of the week, or outside its markets' zones. */
export type Deviation =
  | { readonly kind: 'far'; readonly distanceMm: number; readonly p99Mm: number; readonly windows: number }
  | { readonly kind: 'outside' }

export interface DistanceRow {
  readonly key: string
  readonly van: Van
  /** Of the newest closed window; null when the van has none there: missing, not zero. */
  readonly distanceMm: number | null
  readonly jumps: number
  /** It stands: the ends of the window are near each other, and there are two positions or more. */
  readonly stopped: boolean
  readonly deviations: readonly Deviation[]
  /** Millimetres of each of the last 30 windows, oldest first; null where there is none. */
  readonly history: readonly (number | null)[]
  /** Where the kilometres come from, when they are of the hour or the day. */
  readonly total?: ShownTotal | null
}

export interface DistanceTable {
  /** The newest closed window; null before the first. */
  readonly window: { readonly startMs: number; readonly endMs: number } | null
  readonly rows: readonly DistanceRow[]
  /** Of the window, all vans together. */
  readonly totalMm: number
}

/**
 * The newest closed window of each van and the half hour before. Partitions close a window some seconds apart, so a van may show the one
 * before the newest; an older one counts as missing.
 */
export function prepareDistances(
  fleet: readonly Van[],
  distances: ReadonlyMap<string, readonly DistanceView[]>,
  dispatch: DispatchView = EMPTY_DISPATCH,
): DistanceTable {
  let newest: DistanceView | null = null
  for (const windows of distances.values()) {
    const last = windows.at(-1)
    if (last !== undefined && (newest === null || last.windowEndMs > newest.windowEndMs)) newest = last
  }
  if (newest === null) return { window: null, rows: [], totalMm: 0 }
  const endMs = newest.windowEndMs
  const judge = judgeOf(dispatch)
  const rows = fleet.flatMap((van) => {
    const windows = distances.get(van.van)
    return windows === undefined || windows.length === 0 ? [] : [rowOf(van, windows, endMs, judge)]
  })
  const totalMm = rows.reduce((sum, row) => sum + (row.distanceMm ?? 0), 0)
  return { window: { startMs: newest.windowStartMs, endMs }, rows, totalMm }
}

interface Judge {
  readonly isStopped: (window: DistanceView) => boolean
  readonly deviations: (van: Van, window: DistanceView | undefined) => readonly Deviation[]
}

function judgeOf({ limits, usual }: DispatchView): Judge {
  const known = new Map((usual?.vans ?? []).map((one) => [one.van, one]))
  const far = (window: DistanceView): Deviation[] => {
    const one = known.get(window.van)
    if (usual === null || one === undefined || one.windows < limits.usualMinWindows) return []
    // Of another hour of the week nothing is known here.
    if (window.windowEndMs <= usual.fromMs || window.windowEndMs > usual.toMs || window.distanceMm <= one.p99Mm) return []
    return [{ kind: 'far', distanceMm: window.distanceMm, p99Mm: one.p99Mm, windows: one.windows }]
  }
  return {
    isStopped: ({ positions, displacementMm }) => positions >= 2 && displacementMm < limits.stoppedDisplacementMm,
    deviations: (van, window) => [...(window === undefined ? [] : far(window)), ...(van.outside ? [{ kind: 'outside' as const }] : [])],
  }
}

interface Shown {
  readonly endMs: number
  readonly shown: DistanceView | undefined
  readonly history: readonly (number | null)[]
}

/** Windows change once a minute, and are drawn twice a second. */
const known = new WeakMap<readonly DistanceView[], Shown>()

function shownOf(windows: readonly DistanceView[], endMs: number): Shown {
  const before = known.get(windows)
  if (before?.endMs === endMs) return before
  const byEnd = new Map(windows.map((window) => [window.windowEndMs, window]))
  const count = SPARKLINE_MS / SLIDE_MS
  const history = Array.from({ length: count }, (_, n) => byEnd.get(endMs - (count - 1 - n) * SLIDE_MS)?.distanceMm ?? null)
  const result = { endMs, shown: byEnd.get(endMs) ?? byEnd.get(endMs - SLIDE_MS), history }
  known.set(windows, result)
  return result
}

function rowOf(van: Van, windows: readonly DistanceView[], endMs: number, judge: Judge): DistanceRow {
  const { shown, history } = shownOf(windows, endMs)
  return {
    key: van.van,
    van,
    distanceMm: shown?.distanceMm ?? null,
    jumps: shown?.jumps ?? 0,
    stopped: shown !== undefined && judge.isStopped(shown),
    deviations: judge.deviations(van, shown),
    history,
  }
}

export type SortColumn = 'van' | 'place' | 'distance'
export interface Sort {
  readonly column: SortColumn
  readonly direction: 'ascending' | 'descending'
}

/** A sorted copy; what is missing comes last whatever the direction, equals by name. */
export function sortDistances(rows: readonly DistanceRow[], sort: Sort): DistanceRow[] {
  const sign = sort.direction === 'ascending' ? 1 : -1
  return [...rows].sort((a, b) => compareBy(sort.column, sign, a, b) || compareNames(a.van.name, b.van.name))
}

function compareBy(column: SortColumn, sign: number, a: DistanceRow, b: DistanceRow): number {
  if (column === 'van') return sign * compareNames(a.van.name, b.van.name)
  if (column === 'place') return missingLast(a.van.place, b.van.place) ?? sign * compareNames(a.van.place ?? '', b.van.place ?? '')
  return missingLast(a.distanceMm, b.distanceMm) ?? sign * ((a.distanceMm ?? 0) - (b.distanceMm ?? 0))
}

function missingLast(a: unknown, b: unknown): number | null {
  if (a === null && b === null) return 0
  if (a === null) return 1
  return b === null ? -1 : null
}
