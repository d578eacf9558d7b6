import { DEFAULT_POSITIONS_SETTINGS, type Emission } from '@km0/contracts'
import { type DirtyCause, dirtyHours, HOUR_MS, type MissedPoint, type SessionSpan, unseenHours } from '@km0/serving/dirty-hours'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arrivals, closed, fixes } from './arbitrary-log.ts'
import { type LogRecord, LogWriter, lastRows, MINUTE, runBatch, runLive, SECOND, T0 } from './driver.ts'

const RULES = { ...DEFAULT_POSITIONS_SETTINGS, maxGapMs: 7 * 24 * HOUR_MS }

/** The hour of a van to which a row belongs, `van|hour`. */
function hourOf(key: string, value: string): string {
  const { tipus, repartidor, inici_ms, fi_ms } = JSON.parse(value)
  const hourMs = tipus === 'sessio' ? Math.floor(inici_ms / HOUR_MS) * HOUR_MS : Math.ceil(fi_ms / HOUR_MS) * HOUR_MS - HOUR_MS
  return `${key.startsWith('recorregut|') && key.includes('|dia|') ? 'day ' : ''}${repartidor}|${hourMs}`
}

/** Hours of the rows that are in one and not in the other, or differ. */
function differing(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): Set<string> {
  const hours = new Set<string>()
  for (const [key, value] of one) if (other.get(key) !== value) hours.add(hourOf(key, value))
  for (const [key, value] of other) if (one.get(key) !== value) hours.add(hourOf(key, value))
  return hours
}

const isShared = (key: string) => key.startsWith('distancia|') || key.startsWith('sessio|')

function liveRows(emissions: readonly Emission[]): Map<string, string> {
  const last = [...lastRows(emissions)].filter(([key]) => isShared(key))
  return new Map(last.map(([key, value]) => [key, value.replace(/,"revisio":\d+}/, '}')]))
}

function missedOf(emissions: readonly Emission[]): MissedPoint[] {
  return emissions
    .filter(({ output }) => output === 'tardans')
    .map(({ key, value, partition, offset }) => {
      const { motiu, data_ms } = JSON.parse(value)
      return { van: key ?? '', eventMs: data_ms, reason: motiu, epoch: 1, partition, offset }
    })
}

function sessionsOf(rows: Iterable<readonly [string, string]>): SessionSpan[] {
  return [...rows]
    .filter(([key]) => key.startsWith('sessio|'))
    .map(([, value]) => JSON.parse(value))
    .map(({ repartidor, inici_ms, fi_ms }) => ({ van: repartidor, startMs: inici_ms, lastMs: fi_ms }))
}

const marked = (hours: ReturnType<typeof dirtyHours>, cause?: DirtyCause) =>
  new Set(hours.filter(({ causes }) => cause === undefined || causes.has(cause)).map(({ van, hourMs }) => `${van}|${hourMs}`))

const delays = fc.array(fc.oneof(fc.integer({ min: 0, max: 20 * SECOND }), fc.integer({ min: 0, max: 50 * MINUTE })), {
  minLength: 1,
  maxLength: 40,
})

describe('dirty hours', () => {
  it('every (hour, van) in which batch and live rows differ is marked, whatever is late', () => {
    let [different, dirty] = [0, 0]
    fc.assert(
      fc.property(fixes, delays, fc.constantFrom(0, 10 * MINUTE), (points, delaysMs, allowedLatenessMs) => {
        const log = closed(arrivals(points, delaysMs))
        const emissions = runLive(log, { livePoints: false, allowedLatenessMs })
        const live = liveRows(emissions)
        const batch = new Map(runBatch(log).map(({ key, value }) => [key, value]))
        const shared = new Map([...batch].filter(([key]) => isShared(key)))
        const hours = dirtyHours(missedOf(emissions), sessionsOf(live), RULES)
        const wrong = differing(live, shared)
        expect([...wrong].filter((hour) => !marked(hours).has(hour))).toEqual([])
        different += wrong.size
        dirty += hours.filter(({ causes }) => causes.has('windows') || causes.has('session')).length
      }),
      { numRuns: 150 },
    )
    // It marks what can change, and not everything.
    expect(different).toBeGreaterThan(50)
    expect(different / dirty).toBeGreaterThan(0.3)
  })

  it('points that come after a batch run mark every hour and day that a run with them changes', () => {
    fc.assert(
      fc.property(fixes, fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), (points, picks) => {
        const whole = arrivals(points, [0]).records
        const late = new Set(picks.map((pick) => pick % whole.length))
        const before = new Map(runBatch(whole.filter((_, index) => !late.has(index))).map(({ key, value }) => [key, value]))
        const after = new Map(runBatch(whole).map(({ key, value }) => [key, value]))
        const missed = [...late].map((index): MissedPoint => {
          const { repartidor, data_ms } = JSON.parse(whole[index]?.text ?? '')
          return { van: repartidor, eventMs: data_ms, reason: 'tard', epoch: 1, partition: 0, offset: index }
        })
        const hours = dirtyHours(missed, sessionsOf(before), RULES)
        const days = marked(hours, 'day')
        const wrong = [...differing(before, after)]
        expect(wrong.filter((hour) => !hour.startsWith('day ') && !marked(hours).has(hour))).toEqual([])
        expect(wrong.filter((hour) => hour.startsWith('day ') && !days.has(hour.slice(4)))).toEqual([])
      }),
      { numRuns: 150 },
    )
  })

  it('a point marks its windows and those of the next point, the hour in which its session begins, and the last hour of its day', () => {
    const at = T0 + 58 * MINUTE
    const missed: MissedPoint = { van: 'a', eventMs: at, reason: 'tard', epoch: 1, partition: 0, offset: 7 }
    const served = [
      { van: 'a', startMs: T0 - 90 * MINUTE, lastMs: at - 2 * MINUTE },
      { van: 'a', startMs: at + 2 * MINUTE, lastMs: at + 200 * MINUTE },
      { van: 'a', startMs: at + 300 * MINUTE, lastMs: at + 310 * MINUTE },
      { van: 'b', startMs: at, lastMs: at },
    ]
    const causes = (hours: ReturnType<typeof dirtyHours>) =>
      hours.map(({ van, hourMs, causes: of }) => [van, (hourMs - T0) / HOUR_MS, [...of].sort().join(' ')])
    expect(causes(dirtyHours([missed], served, RULES))).toEqual([
      ['a', -2, 'session'],
      ['a', 0, 'windows'],
      ['a', 1, 'session windows'],
      // 2026-09-14 ends in Madrid at 22:00 UTC.
      ['a', 13, 'day'],
    ])
    const isCovered = (_van: string, hourMs: number) => hourMs >= T0
    expect(causes(dirtyHours([missed], served, RULES, isCovered))).toEqual([['a', -2, 'session']])
  })

  it('a point at the end of its session marks the gap before the next', () => {
    const missed: MissedPoint = { van: 'a', eventMs: T0 + MINUTE, reason: 'tard', epoch: 1, partition: 0, offset: 7 }
    const served = [{ van: 'a', startMs: T0 + 5 * HOUR_MS, lastMs: T0 + 6 * HOUR_MS }]
    const gap = dirtyHours([missed], served, RULES).filter(({ causes }) => causes.has('gap'))
    expect(gap.map(({ hourMs }) => hourMs - T0)).toEqual([5 * HOUR_MS])
  })

  it('the phone that was off for 22 minutes: all that the batch changes is marked', () => {
    const log = new LogWriter()
    const fix = (second: number, arrivalMs?: number) =>
      log.position('furgoneta-3', T0 + second * SECOND, 41.98 + second / 20_000, 2.82, arrivalMs)
    for (let second = 0; second <= 3000; second += 10) fix(second)
    for (let second = 3010; second < 4320; second += 10) log.position('altra', T0 + second * SECOND, 41.9, 2.8)
    for (let second = 3010; second < 4320; second += 10) fix(second, T0 + 4320 * SECOND)
    for (let second = 4320; second <= 6000; second += 10) fix(second)
    const records: LogRecord[] = log.heartbeat(T0 + 3 * HOUR_MS).records
    const emissions = runLive(records)
    const batch = new Map(
      runBatch(records)
        .filter(({ key }) => isShared(key))
        .map(({ key, value }) => [key, value]),
    )
    const hours = dirtyHours(missedOf(emissions), sessionsOf(liveRows(emissions)), RULES)
    const wrong = differing(liveRows(emissions), batch)
    expect([...wrong].sort()).toEqual([`furgoneta-3|${T0}`, `furgoneta-3|${T0 + HOUR_MS}`])
    expect([...wrong].every((hour) => marked(hours).has(hour))).toBe(true)
    expect(new Set(hours.map(({ van }) => van))).toEqual(new Set(['furgoneta-3']))
  })

  it('a hole in the log: every hour that a run with what was in it changes is marked', () => {
    const hole = fc.record({ from: fc.nat(), length: fc.integer({ min: 1, max: 60 }) })
    fc.assert(
      fc.property(fixes, hole, (points, { from, length }) => {
        const whole = arrivals(points, [0]).records
        const start = from % whole.length
        const lost = whole.slice(start, start + length)
        const shared = (records: readonly LogRecord[]) =>
          new Map(
            runBatch(records)
              .filter(({ key }) => isShared(key))
              .map(({ key, value }) => [key, value]),
          )
        const before = shared(whole.filter((record) => !lost.includes(record)))
        const spans = lost.map(({ timestampMs }) => timestampMs)
        const [fromMs, toMs] = [Math.min(...spans), Math.max(...spans)]
        const sessions = sessionsOf(before)
        const hours = [...new Set(points.map(({ van }) => van))].flatMap((van) =>
          unseenHours(
            { van, fromMs, toMs },
            sessions.filter((session) => session.van === van),
            RULES,
          ),
        )
        const wrong = [...differing(before, shared(whole))]
        expect(wrong.filter((hour) => !marked(hours).has(hour))).toEqual([])
      }),
      { numRuns: 150 },
    )
  })
})
