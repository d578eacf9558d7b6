import { ALL_TIME, DEFAULT_POSITIONS_SETTINGS, type Emission } from '@km0/contracts'
import { batchNeedsFromMs, createPositionsHost } from '@km0/pipelines'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyLog, arrivals, closed, type Fix, fixes } from './arbitrary-log.ts'
import { feed, type LogRecord, LogWriter, lastRows, MINUTE, parsed, runBatch, runLive, SECOND, T0 } from './driver.ts'

const isResult = (key: string) => key.startsWith('distancia|') || key.startsWith('sessio|')

/** The rows that live and batch share. */
function liveResults(emissions: readonly Emission[]): [string, string][] {
  return [...lastRows(emissions)].filter(([key]) => isResult(key)).sort(([a], [b]) => (a < b ? -1 : 1))
}

function batchResults(records: readonly LogRecord[]): [string, string][] {
  return runBatch(records)
    .filter(({ key }) => isResult(key))
    .map(({ key, value }) => [key, value])
}

describe('laws of positions', () => {
  it('any order of arrival without late points gives the batch rows', () => {
    const delays = fc.array(fc.integer({ min: 0, max: 45 * SECOND }), { minLength: 1, maxLength: 50 })
    fc.assert(
      fc.property(fixes, delays, (points, delaysMs) => {
        const log = closed(arrivals(points, delaysMs))
        const emissions = runLive(log, { livePoints: false })
        expect(emissions.filter(({ output }) => output !== 'panell')).toEqual([])
        expect(liveResults(emissions)).toEqual(batchResults(log))
      }),
      { numRuns: 150 },
    )
  })

  it('allowed lateness long enough gives the batch rows of distance, whatever is late', () => {
    const delays = fc.array(fc.integer({ min: 0, max: 50 * MINUTE }), { minLength: 1, maxLength: 50 })
    fc.assert(
      fc.property(fixes, delays, (points, delaysMs) => {
        const log = arrivals(points, delaysMs).records
        const last = log.at(-1)!
        const ended = [...log, { ...last, offset: log.length, text: JSON.stringify({ tipus: 'batec', data_ms: last.timestampMs }) }]
        const live = lastRows(runLive(ended, { livePoints: false, allowedLatenessMs: 60 * MINUTE }))
        const batch = new Map(batchResults(log))
        for (const [key, value] of live) {
          if (key.startsWith('distancia|')) expect(value.replace(/,"revisio":\d+}/, '}'), key).toBe(batch.get(key))
        }
      }),
      { numRuns: 100 },
    )
  })

  it('a snapshot taken and restored at any record changes nothing, nor the bytes of a later one', () => {
    fc.assert(
      fc.property(anyLog, fc.nat(), (log, cut) => {
        const at = cut % (log.length + 1)
        const straight = createPositionsHost()
        for (const record of log) feed(straight, record)
        const first = createPositionsHost()
        for (const record of log.slice(0, at)) feed(first, record)
        const before = first.drain()
        const snapshot = first.snapshot()
        const second = createPositionsHost()
        second.restore(snapshot)
        expect(second.snapshot()).toBe(snapshot)
        for (const record of log.slice(at)) {
          expect(feed(second, record)).toBe(feed(first, record))
        }
        const after = second.drain()
        expect(first.drain()).toEqual(after)
        expect([...before, ...after]).toEqual(straight.drain())
        expect(second.snapshot()).toBe(first.snapshot())
        expect(second.snapshot()).toBe(straight.snapshot())
      }),
      { numRuns: 200 },
    )
  })

  it('partitions are independent: any interleaving gives each the same results', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const alone = [0, 1].map((partition) => runLive(log.filter((record) => record.partition === partition)))
        const byTime = [...log].sort((a, b) => a.timestampMs - b.timestampMs || a.partition - b.partition || a.offset - b.offset)
        const inOrder = byTime.map(({ partition }, i) => {
          const nth = byTime.slice(0, i).filter((other) => other.partition === partition).length
          return log.filter((record) => record.partition === partition)[nth]!
        })
        const mixed = runLive(inOrder)
        for (const partition of [0, 1]) expect(mixed.filter((emission) => emission.partition === partition)).toEqual(alone[partition])
      }),
      { numRuns: 60 },
    )
  })

  it('twins change no result', () => {
    const again = fc.array(fc.nat(), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(fixes, again, (points, indexes) => {
        const { records } = arrivals(points, [0, 8 * SECOND, SECOND])
        const copies = new Set(indexes.map((index) => index % records.length))
        const doubled = records.flatMap((record, i) => (copies.has(i) ? [record, record] : [record]))
        const renumbered = doubled.map((record, offset) => ({ ...record, offset }))
        const results = (log: readonly LogRecord[]) => runLive(log).map(({ output, key, value }) => ({ output, key, value }))
        expect(results(renumbered)).toEqual(results(records))
        expect(runBatch(renumbered)).toEqual(runBatch(records))
      }),
      { numRuns: 100 },
    )
  })

  it('a range run, from the points that it needs only, equals the cut of the whole', () => {
    fc.assert(
      fc.property(
        fixes,
        fc.integer({ min: -30, max: 200 }),
        fc.integer({ min: 1, max: 120 }),
        fc.nat(59_999),
        (points, from, span, odd) => {
          const { records } = arrivals(points, [0])
          const fromMs = T0 + from * MINUTE + odd
          const toMs = fromMs + span * MINUTE
          const whole = parsed(runBatch(records)).filter(({ key, value }) => {
            const end = Number(key.startsWith('sessio|') ? value.inici_ms : value.fi_ms)
            return key.startsWith('sessio|') ? end >= fromMs && end < toMs : end > fromMs && end <= toMs
          })
          expect(parsed(runBatch(needed(points, records, fromMs, toMs), { fromMs, toMs }))).toEqual(whole)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('ranges side by side are the whole', () => {
    fc.assert(
      fc.property(fixes, fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 4 }), (points, cuts) => {
        const { records } = arrivals(points, [0])
        const borders = [...new Set(cuts)].sort((a, b) => a - b).map((cut) => T0 + cut * 37_000)
        const starts = [ALL_TIME.fromMs, ...borders]
        const pieces = starts.flatMap((fromMs, i) => runBatch(records, { fromMs, toMs: borders[i] ?? ALL_TIME.toMs }))
        expect(pieces.sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual(runBatch(records))
      }),
      { numRuns: 60 },
    )
  })

  it('state does not grow over a day, with a fleet that sends all day', () => {
    const host = createPositionsHost({ ...DEFAULT_POSITIONS_SETTINGS, allowedLatenessMs: 10 * MINUTE })
    const sizes: number[] = []
    const writer = new LogWriter()
    for (let second = 0; second < 86_400; second += 5) {
      const van = `furgoneta-${(second / 5) % 7}`
      // Every 40th point comes 8 minutes late, so panes and revisions are at work.
      const eventMs = T0 + second * SECOND - (second % 200 === 0 ? 8 * MINUTE : 0)
      writer.position(van, eventMs, 41.98 + (second % 977) / 1e5, 2.82 + (second % 613) / 1e5, T0 + second * SECOND)
      feed(host, writer.records.at(-1)!)
      host.drain()
      if (second % 3600 === 3595) sizes.push(host.snapshot().length)
    }
    expect(sizes.length).toBe(24)
    expect(Math.max(...sizes.slice(2))).toBeLessThan(Math.max(...sizes.slice(0, 2)) * 1.1)
  })

  it('vans that are gone leave nothing: distances and sessions after minutes, the live point after 7 days', () => {
    const writer = new LogWriter()
    for (let van = 0; van < 500; van += 1) writer.position(`van-${van}`, T0 + van * SECOND, 41.98, 2.82)
    const host = createPositionsHost()
    for (const record of writer.records) feed(host, record)
    const busy = host.snapshot().length
    const { records } = new LogWriter().heartbeat(T0 + 30 * MINUTE).heartbeat(T0 + 8 * 86_400 * SECOND)
    feed(host, records[0]!)
    expect(operatorsIn(host.snapshot())).toEqual(['live'])
    feed(host, records[1]!)
    expect(host.snapshot().length).toBeLessThan(busy / 50)
  })
})

/** Operators that a snapshot holds any state of. */
function operatorsIn(snapshot: string): string[] {
  const operators = snapshot.split('\n').map((line) => JSON.parse(line).operator as string | undefined)
  return [...new Set(operators.filter((operator) => operator !== undefined))]
}

/** Of a whole log what section 8 says that a range run needs. */
function needed(points: readonly Fix[], records: readonly LogRecord[], fromMs: number, toMs: number): LogRecord[] {
  const needsMs = batchNeedsFromMs(DEFAULT_POSITIONS_SETTINGS, fromMs)
  const keep = new Set<string>()
  for (const van of new Set(points.map((fix) => fix.van))) {
    const times = points.filter((fix) => fix.van === van).map((fix) => fix.eventMs)
    const before = times.filter((eventMs) => eventMs < needsMs).at(-1)
    const gapEnd = times.find((eventMs, i) => eventMs >= toMs && i > 0 && eventMs - times[i - 1]! > 3 * MINUTE) ?? Number.POSITIVE_INFINITY
    for (const eventMs of times) if (eventMs === before || (eventMs >= needsMs && eventMs < gapEnd)) keep.add(`${van}|${eventMs}`)
  }
  return records.filter(({ text }) => {
    const { repartidor, data_ms } = JSON.parse(text ?? '') as { repartidor: string; data_ms: number }
    return keep.has(`${repartidor}|${data_ms}`)
  })
}
