import { type BatchRange, madridDay, type Period } from '@km0/contracts'

import type { VanName } from './rows.ts'
import type { StepKind, StepRules } from './steps.ts'
import type { BatchSink } from './van-batch.ts'

const HOUR_MS = 3_600_000

/** Distance travelled in one period. */
export interface TravelRow extends Period {
  distanceMm: number
  positions: number
  jumps: number
  jumpsMm: number
  gaps: number
  gapsMm: number
}

/**
 * Distance by hour of UTC and by day of Madrid (section 8), for the points of one van in event order. Each step belongs to the period of its
 * later point, so a day is the sum of its hours.
 */
export class TravelOperator {
  private hour: TravelRow | null = null
  private day: TravelRow | null = null
  private readonly rules: StepRules
  private readonly range: BatchRange
  private readonly van: VanName
  private readonly sink: BatchSink

  constructor(rules: StepRules, range: BatchRange, van: VanName, sink: BatchSink) {
    this.rules = rules
    this.range = range
    this.van = van
    this.sink = sink
  }

  /** Adds the next point; `stepMm` and `durationMs` lead to it from the one before (null for the first). */
  add(eventMs: number, stepMm: number | null, durationMs: number): void {
    if (this.hour === null || eventMs >= this.hour.endMs) {
      this.closeHour()
      const startMs = Math.floor(eventMs / HOUR_MS) * HOUR_MS
      this.hour = emptyRow({ startMs, endMs: startMs + HOUR_MS })
    }
    if (this.day === null || eventMs >= this.day.endMs) {
      this.closeDay()
      this.day = emptyRow(madridDay(eventMs))
    }
    const kind = stepMm === null ? 'none' : this.rules.kind(stepMm, durationMs)
    count(this.hour, kind, stepMm ?? 0)
    count(this.day, kind, stepMm ?? 0)
  }

  /** No point comes any more. */
  end(): void {
    this.closeHour()
    this.closeDay()
  }

  private closeHour(): void {
    if (this.hour !== null) this.close('hora', this.hour)
    this.hour = null
  }

  private closeDay(): void {
    if (this.day !== null) this.close('dia', this.day)
    this.day = null
  }

  private close(period: 'hora' | 'dia', row: TravelRow): void {
    if (row.endMs <= this.range.fromMs || row.endMs > this.range.toMs) return
    this.sink.travel(this.van, period, row)
  }
}

function emptyRow(period: Period): TravelRow {
  return { ...period, distanceMm: 0, positions: 0, jumps: 0, jumpsMm: 0, gaps: 0, gapsMm: 0 }
}

function count(row: TravelRow, kind: StepKind, stepMm: number): void {
  row.positions += 1
  if (kind === 'segment') row.distanceMm += stepMm
  if (kind === 'jump') {
    row.jumps += 1
    row.jumpsMm += stepMm
  }
  if (kind === 'gap') {
    row.gaps += 1
    row.gapsMm += stepMm
  }
}
