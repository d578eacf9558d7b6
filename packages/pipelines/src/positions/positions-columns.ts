import { ALL_TIME, type BatchRange, DEFAULT_POSITIONS_SETTINGS, type PositionsSettings } from '@km0/contracts'
import { positionsOperators } from './operators.ts'
import { type BatchSink, wireSink } from './van-batch.ts'
import { OrderedPoints, orderedVanRows } from './van-columns.ts'

/** Accepted positions as columns, one entry a row, in any order: what the lake's fast reader gives. */
export interface PositionColumns {
  readonly rowCount: number
  readonly vans: readonly string[]
  /** Index into `vans`. */
  readonly van: Uint32Array
  readonly eventMs: Float64Array
  readonly lat: Float64Array
  readonly lon: Float64Array
  /** (epoch, partition, offset) is the place in the log. */
  readonly epoch: Int32Array
  readonly partition: Int32Array
  readonly offset: Float64Array
}

/**
 * A batch run (section 8) over columns: gives each van's rows to `emit`, van after van in the order of `vans`, a van's own rows as they close.
 * The rows are those of createPositionsBatch over the same records. Throws a RangeError that names the setting that makes no sense.
 */
export function positionsBatchOver(
  columns: PositionColumns,
  emit: (key: string, value: string) => void,
  settings: PositionsSettings = DEFAULT_POSITIONS_SETTINGS,
  range: BatchRange = ALL_TIME,
): void {
  positionsBatchInto(columns, wireSink(emit), settings, range)
}

/** The same, with rows as they are computed. */
export function positionsBatchInto(columns: PositionColumns, sink: BatchSink, settings: PositionsSettings, range: BatchRange): void {
  const operators = positionsOperators(settings)
  const { starts, rows } = groupByVan(columns)
  const points = new OrderedPoints()
  for (let van = 0; van < columns.vans.length; van += 1) {
    const ofVan = rows.subarray(starts[van]!, starts[van + 1]!)
    if (ofVan.length === 0) continue
    fillDistinct(points, columns, isInOrder(columns, ofVan) ? ofVan : inLogOrder(columns, ofVan))
    orderedVanRows(operators, range, columns.vans[van]!, points, sink)
  }
}

/** Rows of each van side by side: those of van v are `rows[starts[v] … starts[v + 1])`, in the order in which they came. A counting sort. */
function groupByVan({ rowCount, vans, van }: PositionColumns): { starts: Uint32Array; rows: Uint32Array } {
  const starts = new Uint32Array(vans.length + 1)
  for (let row = 0; row < rowCount; row += 1) starts[van[row]! + 1]! += 1
  for (let v = 0; v < vans.length; v += 1) starts[v + 1]! += starts[v]!
  const next = starts.slice()
  const rows = new Uint32Array(rowCount)
  for (let row = 0; row < rowCount; row += 1) {
    const owner = van[row]!
    rows[next[owner]!] = row
    next[owner]! += 1
  }
  return { starts, rows }
}

/** Order of section 8: event time, then place in the log. */
function compareRows({ eventMs, epoch, partition, offset }: PositionColumns, a: number, b: number): number {
  return eventMs[a]! - eventMs[b]! || epoch[a]! - epoch[b]! || partition[a]! - partition[b]! || offset[a]! - offset[b]!
}

function isInOrder(columns: PositionColumns, rows: Uint32Array): boolean {
  for (let at = 1; at < rows.length; at += 1) if (compareRows(columns, rows[at - 1]!, rows[at]!) > 0) return false
  return true
}

/**
 * The rows in order. Most are in order already: those that are not are taken out, sorted, and merged in, which is linear but for the few.
 */
function inLogOrder(columns: PositionColumns, rows: Uint32Array): Uint32Array {
  const kept = new Uint32Array(rows.length)
  const stragglers: number[] = []
  let keptCount = 0
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at]!
    if (keptCount === 0 || compareRows(columns, kept[keptCount - 1]!, row) <= 0) {
      kept[keptCount] = row
      keptCount += 1
    } else stragglers.push(row)
  }
  stragglers.sort((a, b) => compareRows(columns, a, b))
  return merged(columns, kept.subarray(0, keptCount), stragglers)
}

function merged(columns: PositionColumns, first: Uint32Array, second: readonly number[]): Uint32Array {
  const all = new Uint32Array(first.length + second.length)
  let [a, b] = [0, 0]
  for (let at = 0; at < all.length; at += 1) {
    const takeFirst = b >= second.length || (a < first.length && compareRows(columns, first[a]!, second[b]!) <= 0)
    all[at] = takeFirst ? first[a]! : second[b]!
    if (takeFirst) a += 1
    else b += 1
  }
  return all
}

/** Points in order, each event time once: of equal ones the first in the log. */
function fillDistinct(points: OrderedPoints, { eventMs, lat, lon }: PositionColumns, ordered: Uint32Array): void {
  points.reset(ordered.length)
  let beforeMs = Number.NEGATIVE_INFINITY
  for (let at = 0; at < ordered.length; at += 1) {
    const row = ordered[at]!
    const ms = eventMs[row]!
    if (ms === beforeMs) continue
    beforeMs = ms
    points.add(ms, lat[row]!, lon[row]!)
  }
}
