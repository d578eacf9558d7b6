import {
  ALL_TIME,
  type BatchHost,
  type BatchRange,
  type BatchRow,
  DEFAULT_POSITIONS_SETTINGS,
  madridDay,
  offTheClock,
  type PositionsSettings,
  RECORD_FLAGS,
  readPositionRecord,
} from '@km0/contracts'
import { compareText } from '@km0/windowing'

import { type PositionsOperators, positionsOperators } from './operators.ts'
import type { FlatPoints } from './steps.ts'
import { vanRows, wireSink } from './van-batch.ts'

/** A batch run over positions. Throws a RangeError that names the setting that makes no sense. */
export function createPositionsBatch(settings: PositionsSettings = DEFAULT_POSITIONS_SETTINGS, range: BatchRange = ALL_TIME): BatchHost {
  return new PositionsBatch(positionsOperators(settings), range)
}

/**
 * From which event time on a range run needs each van's points; it also needs the last point before. Of sessions it needs all points up to
 * the first gap that ends at or after the range's end.
 */
export function batchNeedsFromMs(settings: PositionsSettings, fromMs: number): number {
  if (!Number.isFinite(fromMs)) return fromMs
  const stepMs = Math.max(settings.maxSegmentMs, settings.sessionGapMs)
  return Math.min(madridDay(fromMs).startMs, fromMs - settings.windowSizeMs - stepMs)
}

class PositionsBatch implements BatchHost {
  private readonly operators: PositionsOperators
  private readonly range: BatchRange
  private readonly vans = new Map<string, VanPoints>()

  constructor(operators: PositionsOperators, range: BatchRange) {
    this.operators = operators
    this.range = range
  }

  onRecord(
    partition: number,
    offset: number,
    timestampMs: number,
    _key: string | null,
    text: string | null,
    byteLength: number,
    validUtf8: boolean,
  ): number {
    const { settings } = this.operators
    const record = readPositionRecord(text, byteLength, validUtf8, settings.refuseNullIsland)
    if (record.kind !== 'position') return RECORD_FLAGS[record.kind]
    const reason = offTheClock(record.eventMs, timestampMs, settings.maxFutureMs, settings.maxAgeMs)
    if (reason !== null) return reason === 'futur' ? RECORD_FLAGS.future : RECORD_FLAGS.ancient
    let points = this.vans.get(record.van)
    if (points === undefined) {
      points = new VanPoints()
      this.vans.set(record.van, points)
    }
    points.add(partition, offset, record.eventMs, record.lat, record.lon)
    return RECORD_FLAGS.accepted
  }

  rows(): BatchRow[] {
    const rows: BatchRow[] = []
    const sink = wireSink((key, value) => rows.push({ key, value }))
    for (const [name, points] of this.vans) vanRows(this.operators, this.range, name, points.inEventOrder(), sink)
    return rows.sort((a, b) => compareText(a.key, b.key))
  }
}

/** Points of one van as they come. */
class VanPoints {
  private readonly eventMs: number[] = []
  private readonly lat: number[] = []
  private readonly lon: number[] = []
  private readonly partition: number[] = []
  private readonly offset: number[] = []

  add(partition: number, offset: number, eventMs: number, lat: number, lon: number): void {
    this.eventMs.push(eventMs)
    this.lat.push(lat)
    this.lon.push(lon)
    this.partition.push(partition)
    this.offset.push(offset)
  }

  /** By event time, each time once: of equal times the point that is first in the log, by (partition, offset). */
  inEventOrder(): FlatPoints {
    const { eventMs, lat, lon, partition, offset } = this
    const order = Uint32Array.from(eventMs.keys())
    order.sort((a, b) => eventMs[a]! - eventMs[b]! || partition[a]! - partition[b]! || offset[a]! - offset[b]!)
    const points: FlatPoints = []
    let beforeMs = Number.NEGATIVE_INFINITY
    for (const index of order) {
      if (eventMs[index] === beforeMs) continue
      beforeMs = eventMs[index]!
      points.push(beforeMs, lat[index]!, lon[index]!)
    }
    return points
  }
}
