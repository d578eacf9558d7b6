// What happened to other people's batch jobs, as small tests of ours; each is named by its row of the collection of field reports.
import { describe, expect, it } from 'vitest'
import { LogWriter, lastRows, MINUTE, parsed, runBatch, runLive, SECOND } from './driver.ts'

const VAN = 'furgoneta-3'
const HOUR = 60 * MINUTE
const MIDNIGHT = Date.parse('2026-03-28T23:00:00Z')

/** A point every ten minutes of `[fromMs, toMs)`. */
function drive(fromMs: number, toMs: number): LogWriter {
  const log = new LogWriter()
  for (let ms = fromMs, n = 0; ms < toMs; ms += 10 * MINUTE, n += 1) log.position(VAN, ms, 41.98 + n / 10_000, 2.82)
  return log
}

const rows = (log: LogWriter, period: 'dia' | 'hora') =>
  parsed(runBatch(log.records), `recorregut|${VAN}|${period}|`).map(({ value }) => value as Record<string, number>)
const iso = (ms: unknown) => new Date(Number(ms)).toISOString()

describe('the days on which clocks change', () => {
  it('T01: the spring day begins at its own midnight and has 23 hours; each event is in one day', () => {
    const log = drive(MIDNIGHT - 3 * HOUR, MIDNIGHT + 26 * HOUR)
    const days = rows(log, 'dia')
    expect(days.map(({ inici_ms, fi_ms }) => [iso(inici_ms), iso(fi_ms)])).toEqual([
      ['2026-03-27T23:00:00.000Z', '2026-03-28T23:00:00.000Z'],
      ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
      ['2026-03-29T22:00:00.000Z', '2026-03-30T22:00:00.000Z'],
    ])
    expect(days.map(({ posicions }) => posicions)).toEqual([18, 23 * 6, 3 * 6])
  })

  it('T01: the autumn day has 25 hours', () => {
    const days = rows(drive(Date.parse('2026-10-24T20:00:00Z'), Date.parse('2026-10-26T01:00:00Z')), 'dia')
    expect(days.map(({ inici_ms, fi_ms, posicions }) => [(fi_ms! - inici_ms!) / HOUR, posicions])).toEqual([
      [24, 12],
      [25, 150],
      [24, 12],
    ])
  })

  it('T03: the hour that does not exist in Madrid crashes nothing: keys are of UTC, each once', () => {
    const keys = runBatch(drive(MIDNIGHT, MIDNIGHT + 23 * HOUR).records).map(({ key }) => key)
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys.filter((key) => key.includes('|hora|'))).toHaveLength(23)
  })

  it('T03: the hour that exists twice in Madrid makes two rows', () => {
    const from = Date.parse('2026-10-24T23:00:00Z')
    const hours = rows(drive(from, from + 4 * HOUR), 'hora').map(({ inici_ms }) => iso(inici_ms).slice(11, 16))
    expect(hours).toEqual(['23:00', '00:00', '01:00', '02:00'])
  })

  it('T04: a day of July is whole, whatever the offset of the day on which it is asked for', () => {
    const from = Date.parse('2026-07-13T22:00:00Z')
    const [day] = parsed(
      runBatch(drive(from - HOUR, from + 25 * HOUR).records, { fromMs: from, toMs: from + 24 * HOUR }),
      `recorregut|${VAN}|dia|`,
    )
    expect(day?.value).toMatchObject({ inici_ms: from, fi_ms: from + 24 * HOUR, posicions: 24 * 6 })
  })

  it('T05: there is no hole in the hours of UTC of the spring day', () => {
    const starts = rows(drive(MIDNIGHT, MIDNIGHT + 23 * HOUR), 'hora').map(({ inici_ms }) => inici_ms! - MIDNIGHT)
    expect(starts).toEqual(Array.from({ length: 23 }, (_, hour) => hour * HOUR))
  })
})

describe('the end of the input', () => {
  it('T11: a day whose last event is at 23:58 has all its windows and sessions, and live has the same once it is closed', () => {
    const log = new LogWriter()
    const last = Date.parse('2026-09-14T21:58:00Z')
    for (let ms = last - 20 * MINUTE; ms <= last; ms += 30 * SECOND) log.position(VAN, ms, 41.98, 2.82 + (ms - last) / 1e10)
    const shared = (all: Iterable<readonly [string, string]>) => [...all].filter(([key]) => /^(distancia|sessio)\|/.test(key)).sort()
    const batch = shared(runBatch(log.records).map(({ key, value }) => [key, value] as const))
    expect(batch.filter(([key]) => key.startsWith('distancia'))).toHaveLength(25)
    expect(shared(lastRows(runLive(log.records))).length).toBeLessThan(batch.length)
    expect(shared(lastRows(runLive(log.heartbeat(last + HOUR).records)))).toEqual(batch)
  })
})

describe('a gap', () => {
  it('T13: of a year costs no more than a gap of an hour, in batch and live', () => {
    const log = (gapMs: number) => new LogWriter().position(VAN, MIDNIGHT, 41.98, 2.82).position(VAN, MIDNIGHT + gapMs, 41.99, 2.82)
    const year = 365 * 24 * HOUR
    const counts = (gapMs: number) => [
      runBatch(log(gapMs).records).length,
      runLive(log(gapMs).heartbeat(MIDNIGHT + gapMs + HOUR).records).length,
    ]
    // Another day and hour begin; nothing else.
    expect(counts(year)).toEqual(counts(2 * 24 * HOUR))
    // A step a minute would be a hundred million of them: the time limit of the test tells.
    for (let n = 0; n < 200; n += 1) counts(year)
  })
})
