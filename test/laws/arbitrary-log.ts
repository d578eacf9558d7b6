import fc from 'fast-check'
import { type LogRecord, LogWriter, MINUTE, SECOND, T0 } from './driver.ts'

/** A point of a van, before anybody has decided when it arrives. */
export interface Fix {
  readonly van: string
  readonly eventMs: number
  readonly lat: number
  readonly lon: number
}

// Names that sort differently by code unit and code point, or are words of JavaScript's own.
const VANS = ['furgoneta-1', 'furgoneta-2', 'dièsel|ñ', '__proto__', '\u{1f69a}', '\uffee']

/** Spans that windows, slides and gaps make interesting. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 20 * SECOND }) },
  { weight: 2, arbitrary: fc.constantFrom(MINUTE - 1, MINUTE, 3 * MINUTE - 1, 3 * MINUTE, 3 * MINUTE + 1, 5 * MINUTE) },
  { weight: 1, arbitrary: fc.integer({ min: 3 * MINUTE, max: 40 * MINUTE }) },
)

/** Fixes in event order, one van's never twice at the same time. */
export const fixes: fc.Arbitrary<Fix[]> = fc
  .array(
    fc.record({
      van: fc.constantFrom(...VANS),
      stepMs: step,
      north: fc.integer({ min: -400, max: 400 }),
      east: fc.integer({ min: -400, max: 400 }),
      jump: fc.boolean().map((yes) => (yes ? 0 : 1)),
    }),
    { minLength: 1, maxLength: 120 },
  )
  .map((steps) => {
    let eventMs = T0
    return steps.map(({ van, stepMs, north, east, jump }, i) => {
      eventMs += stepMs
      return { van, eventMs, lat: 41.98 + north / 1e5 + (jump === 0 && i % 17 === 5 ? 0.3 : 0), lon: 2.82 + east / 1e5 }
    })
  })

/** Fixes with an arrival in event order plus a delay; sorted by arrival they are a log. */
export interface Arrivals {
  readonly records: LogRecord[]
  readonly lastMs: number
}

/** The log of fixes that arrive `delaysMs[i]` after they were made, in one partition. */
export function arrivals(points: readonly Fix[], delaysMs: readonly number[]): Arrivals {
  const writer = new LogWriter()
  const arriving = points.map((fix, i) => ({ fix, arrivalMs: fix.eventMs + (delaysMs[i % delaysMs.length] ?? 0), i }))
  arriving.sort((a, b) => a.arrivalMs - b.arrivalMs || a.i - b.i)
  for (const { fix, arrivalMs } of arriving) writer.position(fix.van, fix.eventMs, fix.lat, fix.lon, arrivalMs)
  return { records: writer.records, lastMs: arriving.at(-1)?.arrivalMs ?? T0 }
}

/** The same log and a heartbeat that closes all. */
export function closed({ records, lastMs }: Arrivals): LogRecord[] {
  const atMs = lastMs + 60 * MINUTE
  const heartbeat = JSON.stringify({ tipus: 'batec', data_ms: atMs })
  return [...records, { partition: 0, offset: records.length, timestampMs: atMs, text: heartbeat }]
}

/** A log in two partitions with everything in it: late points, twins, settings, heartbeats, broken values, clocks that lie. */
export const anyLog: fc.Arbitrary<LogRecord[]> = fc
  .record({
    points: fixes,
    delaysMs: fc.array(fc.oneof(fc.integer({ min: -90 * SECOND, max: 20 * SECOND }), fc.integer({ min: 0, max: 30 * MINUTE })), {
      minLength: 1,
      maxLength: 40,
    }),
    extras: fc.array(fc.constantFrom('none', 'none', 'none', 'twin', 'heartbeat', 'settings', 'lateness', 'broken', 'null', 'ancient'), {
      minLength: 1,
      maxLength: 60,
    }),
  })
  .map(({ points, delaysMs, extras }) => {
    const writers = [new LogWriter(0), new LogWriter(1)] as const
    arrivals(points, delaysMs).records.forEach((record, i) => {
      const writer = writers[VANS.indexOf(JSON.parse(record.text ?? '').repartidor) % 2 === 0 ? 0 : 1]
      const at = record.timestampMs
      writer.value(at, record.text)
      const extra = extras[i % extras.length]
      if (extra === 'twin') writer.value(at + 1, (record.text ?? '').replace('"lat":41', '"lat":40'))
      if (extra === 'heartbeat') writer.heartbeat(at)
      if (extra === 'settings') writer.settings(at, 20 * SECOND, 0)
      if (extra === 'lateness') writer.settings(at, 45 * SECOND, 10 * MINUTE)
      if (extra === 'broken') writer.value(at, '{"repartidor":"x","lat":"41,9"}')
      if (extra === 'null') writer.value(at, null)
      if (extra === 'ancient') writer.position('furgoneta-1', at - 700_000_000, 41, 2, at)
    })
    return writers.flatMap(({ records }) => records)
  })
