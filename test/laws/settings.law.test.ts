import { ALL_TIME, DEFAULT_POSITIONS_SETTINGS, DEFAULT_STOCK_SETTINGS, type PositionsSettings } from '@km0/contracts'
import { createPositionsHost, createStockHost } from '@km0/pipelines'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arrivals, closed, type Fix, fixes } from './arbitrary-log.ts'
import { feed, LogWriter, MINUTE, parsed, rowsOf, runBatch, runLive, SECOND, T0 } from './driver.ts'

const VARIANTS: readonly Partial<PositionsSettings>[] = [
  { slideMs: 30 * SECOND },
  { windowSizeMs: 10 * MINUTE, slideMs: 10 * MINUTE },
  { windowSizeMs: 2 * MINUTE, slideMs: 15 * SECOND, sessionGapMs: 30 * SECOND, maxSegmentMs: 45 * SECOND },
  { maxSegmentMs: 0 },
  { topSpeedMmPerMs: 0 },
  { maxSegmentMs: 0, topSpeedMmPerMs: 0, sessionGapMs: 0 },
  { topSpeedMmPerMs: 0.5, sessionGapMs: 20 * MINUTE },
]

/** Haversine as section 4 has it, in whole millimetres. */
function mm(a: Fix, b: Fix): number {
  const radians = Math.PI / 180
  const north = Math.sin(((b.lat - a.lat) * radians) / 2) ** 2
  const east = Math.sin(((b.lon - a.lon) * radians) / 2) ** 2
  const term = Math.min(1, north + east * Math.cos(a.lat * radians) * Math.cos(b.lat * radians))
  return Math.round(2 * Math.atan2(Math.sqrt(term), Math.sqrt(1 - term)) * 6_371_008.8 * 1000)
}

/** Distance rows from scratch, by the words of section 4 with settings in place of its numbers. */
function distances(points: readonly Fix[], settings: PositionsSettings): unknown[] {
  const { windowSizeMs, slideMs, maxSegmentMs, topSpeedMmPerMs } = settings
  const rows: { key: string; value: unknown }[] = []
  for (const van of new Set(points.map((fix) => fix.van))) {
    const mine = points.filter((fix) => fix.van === van)
    const first = Math.floor(mine[0]!.eventMs / slideMs) * slideMs - windowSizeMs + slideMs
    for (let start = first; start <= mine.at(-1)!.eventMs; start += slideMs) {
      const inside = mine.filter(({ eventMs }) => eventMs >= start && eventMs < start + windowSizeMs)
      if (inside.length === 0) continue
      let distanceMm = 0
      let jumps = 0
      for (const fix of inside) {
        const before = mine[mine.indexOf(fix) - 1]
        if (before === undefined) continue
        const ms = fix.eventMs - before.eventMs
        if (maxSegmentMs > 0 && ms > maxSegmentMs) continue
        if (topSpeedMmPerMs > 0 && mm(before, fix) > topSpeedMmPerMs * ms) jumps += 1
        else distanceMm += mm(before, fix)
      }
      const value = {
        tipus: 'distancia',
        repartidor: van,
        inici_ms: start,
        fi_ms: start + windowSizeMs,
        distancia_mm: distanceMm,
        posicions: inside.length,
        salts: jumps,
        desplacament_mm: mm(inside[0]!, inside.at(-1)!),
      }
      rows.push({ key: `distancia|${van}|${start + windowSizeMs}`, value })
    }
  }
  return rows.sort((a, b) => (a.key < b.key ? -1 : 1))
}

describe('settings of positions', () => {
  it.each(VARIANTS)('%o: live and batch are what a computation from scratch gives', (variant) => {
    const settings = { ...DEFAULT_POSITIONS_SETTINGS, ...variant }
    const delays = fc.array(fc.integer({ min: 0, max: 45 * SECOND }), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(fixes, delays, (points, delaysMs) => {
        const want = distances(points, settings)
        const log = closed(arrivals(points, delaysMs))
        const live = rowsOf(runLive(log, variant), 'panell', 'distancia|').sort((a, b) => (a.key < b.key ? -1 : 1))
        expect(live).toEqual(want)
        expect(parsed(runBatch(log, ALL_TIME, settings), 'distancia|')).toEqual(want)
        const sessions = rowsOf(runLive(log, variant), 'panell', 'sessio|').sort((a, b) => (a.key < b.key ? -1 : 1))
        expect(sessions).toEqual(parsed(runBatch(log, ALL_TIME, settings), 'sessio|'))
      }),
      { numRuns: 40 },
    )
  })

  it('one that makes no sense is named', () => {
    const create = (variant: Partial<PositionsSettings>) => () => createPositionsHost({ ...DEFAULT_POSITIONS_SETTINGS, ...variant })
    expect(create({ slideMs: 7000 })).toThrow(/300000 ms with a slide of 7000 ms/)
    expect(create({ slideMs: 0 })).toThrow(/slide of 0 ms/)
    expect(create({ windowSizeMs: 30_000, slideMs: 60_000 })).toThrow(/size must be a positive multiple/)
    expect(create({ sessionGapMs: -1 })).toThrow(/sessionGapMs is -1/)
    expect(create({ delayMs: 0.5 })).toThrow(/delayMs is 0.5/)
    expect(create({ topSpeedMmPerMs: Number.NaN })).toThrow(/topSpeedMmPerMs/)
    expect(create({ stopLeastMs: 0 })).toThrow(/stopLeastMs/)
    expect(create({ stopMemoryMs: 1000 })).toThrow(/stopMemoryMs/)
  })

  it('a snapshot of others is refused, and the difference is named', () => {
    const snapshot = createPositionsHost().snapshot()
    const other = createPositionsHost({ ...DEFAULT_POSITIONS_SETTINGS, slideMs: 30 * SECOND })
    expect(() => other.restore(snapshot)).toThrow(/slideMs: 60000 there, 30000 here/)
    expect(() => createStockHost().restore(snapshot)).toThrow(/of the pipeline 'positions', not of 'stock'/)
    expect(() => other.restore(snapshot.replace('"version":2', '"version":999'))).toThrow(/version 999/)
    expect(() => other.restore('{')).toThrow(/damaged/)
    expect(() => other.restore('[]')).toThrow(/not a snapshot/)
  })

  it('delay and allowed lateness may change: a snapshot keeps those that were in force', () => {
    const before = createPositionsHost({ ...DEFAULT_POSITIONS_SETTINGS, delayMs: 10 * SECOND })
    const { records } = new LogWriter().heartbeat(T0).heartbeat(T0 + MINUTE)
    feed(before, records[0]!)
    const after = createPositionsHost({ ...DEFAULT_POSITIONS_SETTINGS, delayMs: 50 * SECOND, allowedLatenessMs: MINUTE })
    after.restore(before.snapshot())
    feed(after, records[1]!)
    expect([after.watermarkMs(0), after.finalMs(0)]).toEqual([T0 + 50 * SECOND, T0 + 50 * SECOND])
    const stock = (delayMs: number, thresholds: Record<string, number>) =>
      createStockHost({ ...DEFAULT_STOCK_SETTINGS, delayMs, thresholds })
    stock(7, { 'b|*': 2, 'a|*': 1 }).restore(stock(5, { 'a|*': 1, 'b|*': 2 }).snapshot())
    expect(() => stock(5, { 'a|*': 2 }).restore(stock(5, { 'a|*': 1 }).snapshot())).toThrow(/thresholds/)
  })

  it('null island is refused only while the setting says so', () => {
    const { records } = new LogWriter().position('a', T0, 0, 0)
    expect(rowsOf(runLive(records), 'rebutjats')).toEqual([{ key: '', value: { motiu: 'invalid' } }])
    expect(rowsOf(runLive(records, { refuseNullIsland: false }), 'rebutjats')).toEqual([])
  })
})

describe('settings of stock', () => {
  const alerts = (thresholds: Record<string, number>, product: string, market: string, stock: number) => {
    const host = createStockHost({ ...DEFAULT_STOCK_SETTINGS, thresholds, windowSizeMs: MINUTE, delayMs: 0 }, 1)
    const dades = { producte: product, mercat: market, estoc_actual: stock }
    const text = JSON.stringify({ tipus: 'estoc.actualitzat', data_ms: T0, dades })
    feed(host, { partition: 0, offset: 0, timestampMs: T0, text })
    feed(host, { ...new LogWriter().heartbeat(T0 + MINUTE).records[0]!, offset: 1 })
    return host.drain().map(({ key }) => key)
  }

  it('thresholds are of the product in the market, else the product, else the market, else the general one', () => {
    const thresholds = { 'vi|girona': 5, 'vi|*': 20, '*|girona': 30 }
    const low = (product: string, market: string, stock: number) => alerts(thresholds, product, market, stock).length === 1
    expect([low('vi', 'girona', 4), low('vi', 'girona', 5)]).toEqual([true, false])
    expect([low('vi', 'vic', 19), low('vi', 'vic', 20)]).toEqual([true, false])
    expect([low('pa', 'girona', 29), low('pa', 'girona', 30)]).toEqual([true, false])
    expect([low('pa', 'vic', 9), low('pa', 'vic', 10)]).toEqual([true, false])
  })

  it('windows have the size that is set', () => {
    expect(alerts({}, 'pa', 'vic', 1)).toEqual([`${T0}|pa|vic`])
  })

  it('one that makes no sense is named', () => {
    const create =
      (variant: object, sources = 1) =>
      () =>
        createStockHost({ ...DEFAULT_STOCK_SETTINGS, ...variant }, sources)
    expect(create({ windowSizeMs: 0 })).toThrow(/window of 0 ms/)
    expect(create({ threshold: Number.NaN })).toThrow(/threshold is NaN/)
    expect(create({ thresholds: { vi: 3 } })).toThrow(/threshold 'vi'/)
    expect(create({ allowedLatenessMs: -5 })).toThrow(/allowedLatenessMs is -5/)
    expect(create({}, 0)).toThrow(/at least one source partition/)
  })
})
