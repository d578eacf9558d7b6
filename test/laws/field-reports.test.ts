// What happened to other people's systems, as small tests of the core; each is named by its row of the collection of field reports.
import { RECORD_FLAGS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { describe, expect, it } from 'vitest'
import { feed, type LogRecord, LogWriter, lastRows, MINUTE, parsed, rowsOf, runBatch, runLive, SECOND, T0 } from './driver.ts'

const VAN = 'furgoneta-3'
const HOUR = 60 * MINUTE

/** The windows of `van` that live has emitted, by end in minutes after T0: the members asked for. */
function windows(records: readonly LogRecord[], member: string, van = VAN): Map<number, unknown> {
  const rows = [...lastRows(runLive(records)).entries()].filter(([key]) => key.startsWith(`distancia|${van}|`))
  return new Map(rows.map(([key, value]) => [(Number(key.split('|')[2]) - T0) / MINUTE, JSON.parse(value)[member]]))
}

/** Live windows and sessions equal those of the batch, when nothing was late. */
function expectLiveIsBatch(records: readonly LogRecord[]): void {
  const shared = (key: string) => key.startsWith('distancia|') || key.startsWith('sessio|')
  const live = [...lastRows(runLive(records))].filter(([key]) => shared(key)).sort(([a], [b]) => (a < b ? -1 : 1))
  const batch = runBatch(records).filter(({ key }) => shared(key))
  expect(live).toEqual(batch.map(({ key, value }) => [key, value]))
}

describe('order of arrival', () => {
  it('S01: the newest point is the one with the greatest event time, not the last that came', () => {
    const log = new LogWriter().position(VAN, T0 + 6188 * SECOND, 41.98, 2.82).position(VAN, T0, 41.9, 2.7, T0 + 6190 * SECOND)
    const live = rowsOf(runLive(log.records), 'viu')
    expect(live.map(({ value }) => value.data_ms)).toEqual([T0 + 6188 * SECOND])
    // The older one is late for every live window; in the batch it fills its own, and no other.
    const batch = parsed(runBatch(log.records), 'distancia|')
    const holdingBoth = batch.filter(({ value }) => value.posicions !== 1)
    expect(batch).toHaveLength(10)
    expect(holdingBoth).toEqual([])
  })

  it('S02: of ten places with one and the same time one counts, the first, and no leg takes no time', () => {
    const log = new LogWriter().position(VAN, T0 - 10 * SECOND, 48.4242, 35.0083)
    for (let i = 0; i < 10; i += 1) log.position(VAN, T0, 48.424_170_1 - i / 2000, 35.008_325_6 - i / 4000, T0 + i)
    log.heartbeat(T0 + HOUR)
    expect(windows(log.records, 'posicions').get(1)).toBe(2)
    expect(windows(log.records, 'salts').get(1)).toBe(0)
    expect(windows(log.records, 'distancia_mm').get(1)).toBeLessThan(5000)
    expectLiveIsBatch(log.records)
  })

  it('S03: a cache that is drained between live points gives the windows of the sorted input', () => {
    const fixes = Array.from({ length: 60 }, (_, i) => ({ eventMs: T0 + i * 30 * SECOND, lat: 41.98 + i / 2000 }))
    const sorted = new LogWriter()
    for (const { eventMs, lat } of fixes) sorted.position(VAN, eventMs, lat, 2.82)
    const mixed = new LogWriter().settings(T0, HOUR, 0)
    const cached = fixes.slice(0, 30)
    const live = fixes.slice(30)
    for (let i = 0; i < 30; i += 1) {
      for (const { eventMs, lat } of [live[i]!, cached[i]!]) mixed.position(VAN, eventMs, lat, 2.82, T0 + HOUR / 2 + i * 10 * SECOND)
    }
    mixed.heartbeat(T0 + 4 * HOUR)
    expectLiveIsBatch(mixed.records)
    expect(runBatch(mixed.records)).toEqual(runBatch(sorted.records))
  })

  it('S04: six points that arrive as 1, 4, 2, 5, 3, 6 make the path of their event times', () => {
    const write = (order: readonly number[]) => {
      const log = new LogWriter()
      order.forEach((n, i) => {
        log.position(VAN, T0 + n * 5 * SECOND, 41.98 + n / 1000, 2.82, T0 + 31 * SECOND + i)
      })
      return log.heartbeat(T0 + HOUR).records
    }
    const rows = (records: LogRecord[]) => rowsOf(runLive(records), 'panell', 'distancia|')
    expect(rows(write([1, 4, 2, 5, 3, 6]))).toEqual(rows(write([1, 2, 3, 4, 5, 6])))
  })

  it('S09: two reports within a second, swapped, draw no leg back', () => {
    const log = new LogWriter()
    const at = (seconds: number, metres: number) =>
      log.position(VAN, T0 + seconds * SECOND, 41.98 + metres / 111_195, 2.82, T0 + 95 * SECOND)
    at(0, 0)
    at(40.4, 404)
    at(40.1, 401)
    at(90, 900)
    log.heartbeat(T0 + HOUR)
    expect(Number(windows(log.records, 'distancia_mm').get(5)) / 1000).toBeCloseTo(900, 1)
  })
})

describe('places that cannot be', () => {
  it('S05: a frozen point between good ones adds no distance: its legs are jumps, in live as in batch', () => {
    const log = new LogWriter()
    for (let i = 0; i < 10; i += 1) {
      log.position(VAN, T0 + i * 20 * SECOND, 29.531_95 + i / 1e5, 75.234_753)
      log.position(VAN, T0 + (i * 20 + 10) * SECOND, 29.531_645, 75.186_903)
    }
    log.heartbeat(T0 + HOUR)
    expect(windows(log.records, 'distancia_mm').get(5)).toBe(0)
    expect(windows(log.records, 'salts').get(5)).toBe(19)
    expectLiveIsBatch(log.records)
  })

  it('S06: 4,308 km there and back in 12 s are two jumps and no distance; the live point is in doubt, the next is not', () => {
    const log = new LogWriter()
      .position(VAN, T0, 48.066_075, 11.552_966)
      .position(VAN, T0 + 6 * SECOND, 10, 3.002_836)
      .position(VAN, T0 + 12 * SECOND, 48.066_1, 11.552_966)
      .heartbeat(T0 + HOUR)
    expect(windows(log.records, 'distancia_mm').get(1)).toBe(0)
    expect(windows(log.records, 'salts').get(1)).toBe(2)
    expect(rowsOf(runLive(log.records), 'viu').map(({ value }) => value.dubtos)).toEqual([false, true, false])
    expect(parsed(runBatch(log.records), `recorregut|${VAN}|hora|`)[0]?.value).toMatchObject({ distancia_mm: 0, salts: 2 })
  })

  it('S11: a position frozen at home with fresh times, then 2.9 km away: the distance is there once, where it was made good', () => {
    const log = new LogWriter()
    for (let minute = 0; minute <= 47; minute += 1) log.position(VAN, T0 + minute * MINUTE, 41.98, 2.82)
    log.position(VAN, T0 + 48 * MINUTE, 41.98 + 2.9 / 111.195, 2.82).heartbeat(T0 + 2 * HOUR)
    const distances = windows(log.records, 'distancia_mm')
    for (let end = 1; end <= 48; end += 1) expect(distances.get(end), `minute ${end}`).toBe(0)
    for (let end = 49; end <= 53; end += 1) expect(Number(distances.get(end)) / 1e6).toBeCloseTo(2.9, 2)
    expect(parsed(runBatch(log.records), `recorregut|${VAN}|dia|`)[0]?.value.distancia_mm).toBe(distances.get(49))
  })

  it('S12: a parked van drifts and its distance grows, but its displacement does not, and the live point says that it stands', () => {
    const log = new LogWriter()
    let seed = 7
    const noise = () => {
      seed = (seed * 16_807) % 2_147_483_647
      return ((seed / 2_147_483_647 - 0.5) * 20) / 111_195
    }
    for (let i = 0; i < 360; i += 1) log.position(VAN, T0 + i * 10 * SECOND, 41.98 + noise(), 2.82 + noise())
    log.heartbeat(T0 + 2 * HOUR)
    for (const displacement of windows(log.records, 'desplacament_mm').values()) expect(displacement).toBeLessThan(30_000)
    expect(windows(log.records, 'distancia_mm').get(30)).toBeGreaterThan(100_000)
    const states = rowsOf(runLive(log.records), 'viu').map(({ value }) => value.estat)
    expect(new Set(states.slice(12))).toEqual(new Set(['aturada']))
    expectLiveIsBatch(log.records)
  })

  it('S13: jumps of 80 m in a workshop every 30 s are slower than a jump: they count as distance, the displacement stays small', () => {
    const log = new LogWriter()
    for (let i = 0; i < 40; i += 1) log.position(VAN, T0 + i * 30 * SECOND, 41.98 + (i % 2) * (80 / 111_195), 2.82)
    log.heartbeat(T0 + HOUR)
    expect(windows(log.records, 'salts').get(10)).toBe(0)
    expect(windows(log.records, 'desplacament_mm').get(10)).toBeLessThan(81_000)
    expectLiveIsBatch(log.records)
  })
})

describe('clocks that lie', () => {
  it('S14: one row a day ahead is refused and takes none of ten honest rows with it', () => {
    const log = new LogWriter().position(VAN, T0 + 24 * HOUR, 41.98, 2.82, T0)
    for (let i = 0; i < 10; i += 1) log.position(VAN, T0 + i * SECOND, 41.98, 2.82)
    const host = createPositionsHost()
    const flags = log.records.map((record) => feed(host, record))
    expect(flags[0]! & RECORD_FLAGS.future).toBeTruthy()
    expect(flags.slice(1).every((flag) => (flag & RECORD_FLAGS.accepted) !== 0)).toBe(true)
  })

  it('B08: ten good points between ten of a chip that restarted its calendar: ten count, ten are refused, nothing else differs', () => {
    const rollover = 619_315_200_000
    const mixed = new LogWriter()
    const good = new LogWriter()
    for (let n = 0; n < 10; n += 1) {
      const ms = T0 + n * 20 * SECOND
      mixed.position(VAN, ms, 41.98 + n / 1000, 2.82).position(VAN, ms - rollover, 41.98, 2.82, ms)
      good.position(VAN, ms, 41.98 + n / 1000, 2.82)
    }
    for (const log of [mixed, good]) log.heartbeat(T0 + HOUR)
    const refused = rowsOf(runLive(mixed.records), 'rebutjats').map(({ value }) => value.motiu)
    expect(refused).toEqual(Array(10).fill('antic'))
    expect([...lastRows(runLive(mixed.records))]).toEqual([...lastRows(runLive(good.records))])
    expectLiveIsBatch(mixed.records)
  })

  it('D10: a point two days ahead pins no last position: the next normal one is shown', () => {
    const log = new LogWriter().position(VAN, T0 + 2 * 24 * HOUR, 43, 3, T0).position(VAN, T0 + SECOND, 41.98, 2.82)
    expect(rowsOf(runLive(log.records), 'viu').map(({ value }) => [value.data_ms, value.lat])).toEqual([[T0 + SECOND, 41.98]])
  })

  it('S15: two hours of a wrong clock are counted, and the windows of all other vans are right', () => {
    const log = new LogWriter()
    for (let i = 0; i < 60; i += 1) {
      log.position('A', T0 + 2 * HOUR + i * 10 * SECOND, 41.98, 2.82, T0 + i * 10 * SECOND)
      for (const van of ['B', 'C']) log.position(van, T0 + i * 10 * SECOND, 41.98 + i / 10_000, 2.82, T0 + i * 10 * SECOND)
    }
    log.heartbeat(T0 + HOUR)
    expect(rowsOf(runLive(log.records), 'rebutjats').filter(({ value }) => value.motiu === 'futur')).toHaveLength(60)
    for (const van of ['B', 'C']) expect(windows(log.records, 'posicions', van).get(5)).toBe(30)
    expectLiveIsBatch(log.records)
  })

  it('S16: after test data of the future the real data counts at once, without a restart', () => {
    const log = new LogWriter().position(VAN, T0 + 365 * 24 * HOUR, 41.98, 2.82, T0).position(VAN, T0, 41.98, 2.82)
    log.heartbeat(T0 + HOUR)
    expect(windows(log.records, 'posicions').get(1)).toBe(1)
  })

  it('S17: time driven on by one van makes another late: it is counted, and the batch has it', () => {
    const log = new LogWriter().position('A', T0 + HOUR, 41.98, 2.82).position('B', T0, 41.98, 2.82, T0 + HOUR + 2 * SECOND)
    log.heartbeat(T0 + 2 * HOUR)
    expect(rowsOf(runLive(log.records), 'tardans')).toEqual([{ key: 'B', value: { motiu: 'tard', data_ms: T0, finestres_tancades: 5 } }])
    expect(windows(log.records, 'posicions', 'B').size).toBe(0)
    expect(parsed(runBatch(log.records), 'distancia|B|')).toHaveLength(5)
  })

  it('S18: when the whole fleet stops, heartbeats close its windows and list every van', () => {
    const log = new LogWriter()
    for (let van = 0; van < 140; van += 1) log.position(`van-${van}`, T0 + van, 41.98, 2.82)
    expect(lastRows(runLive(log.records)).size).toBe(140)
    for (let second = 10; second <= 600; second += 10) log.heartbeat(T0 + second * SECOND)
    const emissions = runLive(log.records)
    const silent = rowsOf(emissions, 'panell', 'senyal|').filter(({ value }) => value.estat === 'sense-senyal')
    expect(silent).toHaveLength(140)
    // 3 minutes of silence, 45 s of delay, 10 s between heartbeats.
    const offsets = emissions
      .filter(({ value }) => value.includes('sense-senyal'))
      .map(({ offset }) => log.records[offset]!.timestampMs - T0)
    expect(Math.max(...offsets)).toBeLessThanOrEqual(235 * SECOND + 140)
  })

  it('S39: frozen places with fresh times look alive by signal; that they stand is seen', () => {
    const log = new LogWriter()
    for (let i = 0; i < 90; i += 1) log.position(VAN, T0 + i * 10 * SECOND, 41.98, 2.82)
    const emissions = runLive(log.records)
    expect(rowsOf(emissions, 'panell', 'senyal|').map(({ value }) => value.estat)).toEqual(['amb-senyal'])
    expect(rowsOf(emissions, 'viu').at(-1)?.value.estat).toBe('aturada')
  })
})

describe('borders', () => {
  it('S20: a gap of exactly 180,000 ms joins, one of 180,001 splits; and nothing is final before the gap and the delay', () => {
    const sessions = (gapMs: number) => {
      const log = new LogWriter().position(VAN, T0, 41.98, 2.82).position(VAN, T0 + gapMs, 41.98, 2.82)
      const live = rowsOf(runLive([...log.records, ...closing(log)]), 'panell', 'sessio|')
      expect(live).toEqual(parsed(runBatch(log.records), 'sessio|'))
      return live.map(({ value }) => value.posicions)
    }
    const closing = (log: LogWriter) => [{ ...new LogWriter().heartbeat(T0 + HOUR).records[0]!, offset: log.records.length }]
    expect(sessions(180_000)).toEqual([2])
    expect(sessions(180_001)).toEqual([1, 1])
    const log = new LogWriter().position(VAN, T0, 41.98, 2.82)
    expect(rowsOf(runLive(log.heartbeat(T0 + 180_000 + 45_000).records), 'panell', 'sessio|')).toHaveLength(0)
    expect(rowsOf(runLive(log.heartbeat(T0 + 180_001 + 45_000).records), 'panell', 'sessio|')).toHaveLength(1)
  })

  it('S21: a late point that joins two open sessions leaves one row, and no orphan', () => {
    const log = new LogWriter().settings(T0, HOUR, 0)
    log.position(VAN, T0, 41.98, 2.82).position(VAN, T0 + 5 * MINUTE, 41.98, 2.82)
    log.position(VAN, T0 + 2.5 * MINUTE, 41.98, 2.82, T0 + 6 * MINUTE).heartbeat(T0 + 3 * HOUR)
    expect(rowsOf(runLive(log.records), 'panell', 'sessio|')).toEqual([
      {
        key: `sessio|${VAN}|${T0}`,
        value: { tipus: 'sessio', repartidor: VAN, inici_ms: T0, fi_ms: T0 + 5 * MINUTE, posicions: 3 },
      },
    ])
  })

  it('S22: times before 2000 are refused, so no window begins by truncation', () => {
    const log = new LogWriter().position(VAN, -1, 41.98, 2.82, 0)
    expect(rowsOf(runLive(log.records), 'rebutjats')).toEqual([{ key: '', value: { motiu: 'invalid' } }])
  })

  it.each([0, 59_999, 60_000])('S23: a point %i ms after a border lies in exactly five windows', (afterMs) => {
    const log = new LogWriter().position(VAN, T0 + afterMs, 41.98, 2.82).heartbeat(T0 + HOUR)
    const ends = [...windows(log.records, 'posicions').keys()]
    const first = afterMs < 60_000 ? 1 : 2
    expect(ends).toEqual([0, 1, 2, 3, 4].map((n) => first + n))
  })
})

describe('lengths', () => {
  const length = (from: readonly [number, number], to: readonly [number, number]) => {
    const log = new LogWriter().position(VAN, T0, ...from).position(VAN, T0 + 20 * SECOND, ...to)
    return Number(windows(log.heartbeat(T0 + HOUR).records, 'desplacament_mm').get(1)) / 1000
  }

  it('S36: 0.01 degrees to the east at 41.98 north are 826.6 m, not 1,112', () => {
    expect(length([41.98, 2.82], [41.98, 2.83])).toBeCloseTo(826.6, 0)
  })

  it('S37: across 180 degrees the way is 222.4 km, not round the world', () => {
    expect(length([0.001, 179], [0.001, -179]) / 1000).toBeCloseTo(222.4, 1)
  })

  it('S38: between two identical points there are 0 metres, and NaN reaches no sum, between antipodes neither', () => {
    expect(length([41.9794, 2.8214], [41.9794, 2.8214])).toBe(0)
    expect(length([61.8868, 35.5923], [-61.8868, -144.4077]) / 1000).toBeCloseTo(20_015.1, 1)
  })
})

describe('a tunnel', () => {
  it('of 4 minutes, whose points are sent afterwards: live shows two sessions 10 s apart, batch one', () => {
    const log = new LogWriter()
    const fix = (second: number, arrivalMs?: number) => log.position(VAN, T0 + second * SECOND, 41.98 + second / 20_000, 2.82, arrivalMs)
    for (let second = 0; second <= 600; second += 10) fix(second)
    // In the tunnel nothing is sent; the fleet's other vans move time on.
    for (let second = 610; second < 840; second += 10) log.position('altra', T0 + second * SECOND, 41.9, 2.8)
    // Out of it: what was kept, oldest first, then the point of now.
    for (let second = 610; second <= 830; second += 10) fix(second, T0 + 840 * SECOND)
    fix(840)
    for (let second = 850; second <= 1200; second += 10) fix(second)
    log.heartbeat(T0 + HOUR)
    const spans = (rows: ReturnType<typeof parsed>) =>
      rows.map(({ value }) => [value.inici_ms, value.fi_ms].map((ms) => (Number(ms) - T0) / SECOND))
    const live = spans(rowsOf(runLive(log.records), 'panell', `sessio|${VAN}|`))
    expect(live).toHaveLength(2)
    expect(live[0]).toEqual([0, 600])
    expect(live[1]![0]! - live[0]![1]!).toBe(10)
    expect(live[1]![1]).toBe(1200)
    expect(spans(parsed(runBatch(log.records), `sessio|${VAN}|`))).toEqual([[0, 1200]])
  })
})
