import { type BatchRange, madridDay, type Period } from '@km0/contracts'

import type { VanName } from './rows.ts'
import type { StepKind } from './steps.ts'
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
 * later point, so a day is the sum of its hours: days of Madrid begin at whole hours of UTC.
 */
export class TravelOperator {
  private hour: TravelRow | null = null
  private day: TravelRow | null = null
  private readonly range: BatchRange
  private readonly van: VanName
  private readonly sink: BatchSink

  constructor(range: BatchRange, van: VanName, sink: BatchSink) {
    this.range = range
    this.van = van
    this.sink = sink
  }

  /** Adds the next point, and what joins it to the one before (`none` for the first). */
  add(eventMs: number, kind: StepKind, stepMm: number): void {
    if (this.hour === null || eventMs >= this.hour.endMs) this.hour = this.openHour(eventMs)
    const { hour } = this
    hour.positions += 1
    if (kind === 'segment') hour.distanceMm += stepMm
    else if (kind === 'jump') {
      hour.jumps += 1
      hour.jumpsMm += stepMm
    } else if (kind === 'gap') {
      hour.gaps += 1
      hour.gapsMm += stepMm
    }
  }

  /** No point comes any more. */
  end(): void {
    this.closeHour()
    this.closeDay()
  }

  private openHour(eventMs: number): TravelRow {
    this.closeHour()
    if (this.day === null || eventMs >= this.day.endMs) {
      this.closeDay()
      this.day = emptyRow(madridDay(eventMs))
    }
    const startMs = Math.floor(eventMs / HOUR_MS) * HOUR_MS
    return emptyRow({ startMs, endMs: startMs + HOUR_MS })
  }

  private closeHour(): void {
    if (this.hour !== null && this.day !== null) {
      addTo(this.day, this.hour)
      this.close('hora', this.hour)
    }
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

function emptyRow({ startMs, endMs }: Period): TravelRow {
  return { startMs, endMs, distanceMm: 0, positions: 0, jumps: 0, jumpsMm: 0, gaps: 0, gapsMm: 0 }
}

function addTo(day: TravelRow, hour: TravelRow): void {
  day.distanceMm += hour.distanceMm
  day.positions += hour.positions
  day.jumps += hour.jumps
  day.jumpsMm += hour.jumpsMm
  day.gaps += hour.gaps
  day.gapsMm += hour.gapsMm
}
