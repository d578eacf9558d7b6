import type { LowStockView, StockEpisodeView, StockHistoryView, StockNoticeView, StockSnapshot } from '@km0/contracts/stock-panel'
import { describe, expect, test } from 'vitest'
import { prepareHistory } from './prepare-history.ts'
import { newNotices } from './prepare-notices.ts'
import { prepareStock } from './prepare-stock.ts'
import { applyStockDelta, stockModelOf, stockNowMs } from './stock-model.ts'

const NOW = 1_789_380_000_000
const MINUTE = 60_000

const episode = (product: string, more: Partial<StockEpisodeView> = {}): StockEpisodeView => ({
  product,
  market: 'girona',
  startMs: NOW - 10 * MINUTE,
  endMs: null,
  minimum: 6,
  threshold: 10,
  lastWindowMs: NOW - 10 * MINUTE,
  stock: 7,
  stockMs: NOW - MINUTE,
  acknowledgement: null,
  ...more,
})
const low = (product: string, stock: number, market = 'girona'): LowStockView => ({
  product,
  market,
  stock,
  threshold: 10,
  stockMs: NOW - MINUTE,
})
const notice = (id: number): StockNoticeView => ({
  id,
  product: 'pa',
  market: 'girona',
  startMs: NOW,
  reason: 'begun',
  stock: 6,
  atMs: NOW,
})
const snapshot = (more: Partial<StockSnapshot>): StockSnapshot => ({
  sequence: 4,
  nowMs: NOW,
  watermarkMs: NOW - 3 * MINUTE,
  markets: ['girona', 'olot'],
  episodes: [],
  low: [],
  notices: [],
  ...more,
})
const seen = { actor: { id: 'a', name: 'Núria', roles: [] }, note: '', atMs: NOW }

describe('what the browser knows', () => {
  test('a delta changes, adds and takes away; one that does not follow asks for a snapshot', () => {
    const model = stockModelOf(snapshot({ episodes: [episode('pa'), episode('sal')], low: [low('pa', 7)], notices: [notice(1)] }), 50)
    const next = applyStockDelta(
      model,
      {
        sequence: 5,
        nowMs: NOW + 1_000,
        watermarkMs: NOW,
        episodes: [episode('pa', { minimum: 3 })],
        episodesGone: [`sal|girona|${NOW - 10 * MINUTE}`],
        low: [low('oli', 2)],
        lowGone: ['pa|girona'],
        notices: [notice(2)],
      },
      60,
    )
    expect([...(next?.episodes.values() ?? [])].map((row) => [row.product, row.minimum])).toEqual([['pa', 3]])
    expect([...(next?.low.keys() ?? [])]).toEqual(['oli|girona'])
    expect(next?.notices.map(({ id }) => id)).toEqual([1, 2])
    expect(stockNowMs(next!, 560)).toBe(NOW + 1_500)
    expect(applyStockDelta(model, { sequence: 7, nowMs: NOW, watermarkMs: null }, 60)).toBeNull()
  })
})

describe('the lists', () => {
  const model = stockModelOf(
    snapshot({
      episodes: [
        episode('seen', { acknowledgement: seen, stock: 0 }),
        episode('older', { startMs: NOW - 60 * MINUTE }),
        episode('newer'),
        episode('out', { startMs: NOW - 90 * MINUTE, stock: -2 }),
        episode('over', { endMs: NOW - 5 * MINUTE }),
        episode('away', { market: 'olot' }),
      ],
      low: [low('newer', 7), low('falling', 9), low('away', 1, 'olot')],
    }),
    0,
  )

  test('open episodes come by urgency, ended ones apart, one market alone when asked', () => {
    const { open, ended } = prepareStock(model, 'girona', NOW)
    expect(open.map(({ episode: { product }, level }) => `${product} ${level}`)).toEqual([
      'out empty',
      'newer low',
      'older low',
      'seen empty',
    ])
    expect(open[2]?.durationMs).toBe(60 * MINUTE)
    expect(ended.map(({ episode: { product }, durationMs }) => [product, durationMs])).toEqual([['over', 5 * MINUTE]])
    expect(prepareStock(model, null, NOW).open).toHaveLength(5)
  })

  test('what is below the threshold now says when no alert has come yet', () => {
    expect(prepareStock(model, null, NOW).low.map((row) => [row.low.product, row.pending])).toEqual([
      ['away', false],
      ['newer', false],
      ['falling', true],
    ])
  })
})

describe('notices', () => {
  test('are shown once a browser; a first visit begins with those to come', () => {
    const first = newNotices([notice(1), notice(2)], null)
    expect(first).toEqual({ show: [], remember: [1, 2] })
    const next = newNotices([notice(1), notice(2), notice(3)], first.remember)
    expect(next.show.map(({ id }) => id)).toEqual([3])
    // After a reload, or a restart of the server, the same ones come again.
    expect(newNotices([notice(2), notice(3)], next.remember).show).toEqual([])
  })
})

describe('the chart of the last day', () => {
  const view: StockHistoryView = {
    product: 'pa',
    market: 'girona',
    slotSizeMs: 5 * MINUTE,
    fromMs: NOW - 100 * MINUTE,
    toMs: NOW,
    threshold: 10,
    points: [
      { slotMs: NOW - 200 * MINUTE, minimum: 40, last: 40 },
      { slotMs: NOW - 50 * MINUTE, minimum: 2, last: 8 },
      { slotMs: NOW - 25 * MINUTE, minimum: 30, last: 30 },
    ],
  }

  test('draws stock as steps, the least of each stretch, the threshold, and what has stayed since', () => {
    const shape = prepareHistory(view, 100, 46)
    expect(shape).toMatchObject({ maximum: 40, thresholdY: 33, lowest: { x: 50, y: 41, stock: 2 }, since: 'M80 13H100' })
    expect(shape?.line).toBe('M0 3V3H0H50V41V35H55H75V13V13H80')
  })

  test('is nothing when nothing is known', () => {
    expect(prepareHistory({ ...view, points: [] }, 100, 40)).toBeNull()
  })
})
