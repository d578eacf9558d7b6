import type { BatchRange } from '@km0/contracts'
import { paneStartMs, type Session } from '@km0/windowing'
import type { DistanceRow, DistanceState } from './distance.ts'
import type { PositionsOperators } from './operators.ts'
import { distanceKey, distanceValue, sessionKey, sessionValue, travelKey, travelValue, type VanName, vanName } from './rows.ts'
import { emptySignalState } from './signal.ts'
import { type FlatPoints, lengthMm, POINT_NUMBERS } from './steps.ts'
import { TravelOperator, type TravelRow } from './travel.ts'

/** Takes the rows of a batch run. A row may be used again after the call: copy what is kept. */
export interface BatchSink {
  distance(van: VanName, startMs: number, endMs: number, row: Readonly<DistanceRow>): void
  session(van: VanName, session: Readonly<Session>): void
  travel(van: VanName, period: 'hora' | 'dia', row: Readonly<TravelRow>): void
}

/** A sink that writes rows as they stand on the wire. */
export function wireSink(emit: (key: string, value: string) => void): BatchSink {
  return {
    distance: (van, startMs, endMs, row) => emit(distanceKey(van, endMs), distanceValue(van, startMs, endMs, row, 0)),
    session: (van, session) => emit(sessionKey(van, session.startMs), sessionValue(van, session)),
    travel: (van, period, row) => emit(travelKey(van, period, row.startMs), travelValue(van, period, row)),
  }
}

/**
 * Gives the rows of one van to `sink`: windows, sessions, hours and days of `range`. `points` are in event order, each time once. They may
 * begin at `batchNeedsFromMs` or after the last point before it. The watermark follows the points, so nothing is late and state stays small.
 */
export function vanRows(operators: PositionsOperators, range: BatchRange, name: string, points: FlatPoints, sink: BatchSink): void {
  const { shape, distance, signal, rules } = operators
  const van = vanName(name)
  const panes: DistanceState = []
  const sessions = emptySignalState()
  const travel = new TravelOperator(range, van, sink)
  let watermarkMs = Number.NEGATIVE_INFINITY
  const advanceTo = (markMs: number): void => {
    for (const endMs of distance.ends(panes, Math.max(watermarkMs, range.fromMs), Math.min(markMs, range.toMs))) {
      sink.distance(van, endMs - shape.sizeMs, endMs, distance.row(panes, endMs))
    }
    for (const session of signal.close(sessions, markMs)) {
      if (session.startMs < range.fromMs || session.startMs >= range.toMs) continue
      sink.session(van, session)
    }
    watermarkMs = markMs
    const spent = distance.spentPanes(panes, watermarkMs)
    if (spent > 0) panes.splice(0, spent)
  }
  let paneEndMs = Number.NEGATIVE_INFINITY
  for (let at = 0; at < points.length; at += POINT_NUMBERS) {
    const eventMs = points[at]!
    const beforeMs = at === 0 ? eventMs : points[at - POINT_NUMBERS]!
    if (eventMs >= paneEndMs || eventMs - beforeMs > operators.settings.sessionGapMs) {
      advanceTo(eventMs)
      paneEndMs = paneStartMs(shape, eventMs) + shape.slideMs
    }
    const stepMm = at === 0 ? null : lengthMm(points, at - POINT_NUMBERS, points, at)
    distance.append(panes, eventMs, points[at + 1]!, points[at + 2]!, stepMm, eventMs - beforeMs)
    signal.add(sessions, eventMs, watermarkMs)
    travel.add(eventMs, stepMm === null ? 'none' : rules.kind(stepMm, eventMs - beforeMs), stepMm ?? 0)
  }
  advanceTo(Number.POSITIVE_INFINITY)
  travel.end()
}
