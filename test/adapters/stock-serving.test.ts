import { EVERYTHING, encodeSource, type LiveStockValue, type Scope, type StockEpisodeValue, TOPICS } from '@km0/contracts'
import { openServing, openStockServing, type ResultRecord, type StockServing } from '@km0/serving'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const NOW = 1_789_380_000_000
const MINUTE = 60_000
const OPTIONS = { endedAfterMs: NOW - 86_400_000, noticedAfterMs: NOW - 86_400_000, limit: 100 }

let services: TestServices<{ postgres: true }>
let serving: StockServing
let cluster = 0
let offset = 0

beforeAll(async () => {
  services = await startServices({ postgres: true })
  const databaseUrl = services.environment.DATABASE_URL ?? ''
  const schema = openServing({ databaseUrl, applicationName: 'test' })
  await schema.migrate()
  await schema.importDepots([
    { line: 1, row: { id: 'vic', name: 'Vic', lat: 42, lon: 2, markets: ['vic'], shiftStart: null, shiftEnd: null } },
  ])
  await schema.close()
  serving = openStockServing({ databaseUrl, applicationName: 'test' })
})
afterAll(async () => {
  await serving?.close()
  await services?.stop()
})
beforeEach(() => {
  // Each test has a log of its own.
  cluster += 1
  offset = 0
})

function batch(topic: string, records: readonly { key: string; value: object; epoch?: number; at: number }[]) {
  const written: ResultRecord[] = records.map(({ key, value, epoch = 1, at }) => ({
    offset: offset++,
    key,
    value: Buffer.from(JSON.stringify(value)),
    headers: encodeSource({ epoch, partition: 0, offset: at }),
  }))
  return { topic, partition: cluster, nextOffset: offset, clusterId: 'c', writtenAtMs: NOW, records: written }
}

const episode = (product: string, market: string, more: Partial<StockEpisodeValue> = {}): StockEpisodeValue => ({
  producte: product,
  mercat: market,
  inici_ms: NOW - 10 * MINUTE,
  fi_ms: null,
  estoc_minim: 8,
  llindar: 10,
  darrera_finestra_ms: NOW - 10 * MINUTE,
  avisos: [{ motiu: 'comenca', estoc: 8, data_ms: NOW - 3 * MINUTE }],
  ...more,
})
const keyOf = ({ inici_ms, producte, mercat }: StockEpisodeValue) => `${inici_ms}|${producte}|${mercat}`
const apply = (value: StockEpisodeValue, at: number, epoch = 1) =>
  serving.applyEpisodeBatch(batch(TOPICS.stockEpisodes.name, [{ key: keyOf(value), value, at, epoch }]))
const live = (product: string, market: string, stock: number, minutesAgo: number): LiveStockValue => ({
  producte: product,
  mercat: market,
  estoc_actual: stock,
  data_ms: NOW - minutesAgo * MINUTE,
  arribada_ms: NOW - minutesAgo * MINUTE + 700,
  llindar: 10,
})
const sell = (values: readonly LiveStockValue[]) =>
  serving.applyLiveBatch(
    batch(
      TOPICS.stockLive.name,
      values.map((value, index) => ({ key: `${value.producte}|${value.mercat}`, value, at: 100 + offset + index })),
    ),
  )
const only: Scope = { kind: 'limited', depots: [], markets: ['olot'] }
const ofDepot: Scope = { kind: 'limited', depots: ['vic'], markets: [] }

describe('the store of stock', () => {
  it('keeps an episode once, however often it comes, and tells each reason once', async () => {
    const begun = episode('llet', 'girona')
    const halved = { ...begun, estoc_minim: 3, avisos: [...begun.avisos, { motiu: 'meitat' as const, estoc: 3, data_ms: NOW - MINUTE }] }
    await apply(begun, 1)
    await apply(begun, 1)
    await apply(halved, 5)
    // A slow owner of before, and a crash: what was is applied again.
    await apply(begun, 1)
    await apply(halved, 5)
    const { episodes, notices } = await serving.read(EVERYTHING, OPTIONS)
    expect(episodes).toMatchObject([{ product: 'llet', market: 'girona', endMs: null, minimum: 3, threshold: 10, acknowledgement: null }])
    expect(notices.map(({ reason, stock }) => [reason, stock])).toEqual([
      ['begun', 8],
      ['halved', 3],
    ])
  })

  it('keeps what people say for the episode, through re-emission and to its end; the newest is in force', async () => {
    const value = episode('pa', 'girona')
    await apply(value, 1)
    const command = {
      product: 'pa',
      market: 'girona',
      startMs: value.inici_ms,
      actor: { id: 'local:1', name: 'Núria', roles: ['dispatcher'] },
    }
    expect(await serving.acknowledge(EVERYTHING, { ...command, note: 'en camí', atMs: NOW })).toBe(true)
    expect(await serving.acknowledge(EVERYTHING, { ...command, note: 'arriba a les 5', atMs: NOW + 1 })).toBe(true)
    await apply(value, 1)
    await apply({ ...value, fi_ms: NOW + MINUTE }, 9)
    const { episodes } = await serving.read(EVERYTHING, OPTIONS)
    const found = episodes.find(({ product }) => product === 'pa')
    expect(found).toMatchObject({ endMs: NOW + MINUTE, acknowledgement: { note: 'arriba a les 5', actor: { name: 'Núria' } } })
    expect(await serving.acknowledge(EVERYTHING, { ...command, startMs: 5, note: '', atMs: NOW })).toBe(false)
    expect(await serving.acknowledge(only, { ...command, note: '', atMs: NOW })).toBe(false)
  })

  it('lists what is below its threshold now, and shows each scope its own markets', async () => {
    await sell([live('sal', 'olot', 3, 9), live('sal', 'vic', 30, 8), live('oli', 'vic', 2, 7)])
    await sell([live('sal', 'vic', 4, 2), live('oli', 'vic', 11, 1)])
    const low = async (scope: Scope) =>
      (await serving.read(scope, OPTIONS)).low.map(({ product, market, stock }) => `${product} ${market} ${stock}`)
    expect(await low(EVERYTHING)).toEqual(['sal vic 4', 'sal olot 3'])
    expect(await low(only)).toEqual(['sal olot 3'])
    expect(await low(ofDepot)).toEqual(['sal vic 4'])
    expect((await serving.read(EVERYTHING, OPTIONS)).markets).toEqual(['olot', 'vic'])
    expect((await serving.read(ofDepot, OPTIONS)).markets).toEqual(['vic'])
  })

  it('keeps the last day of a product: least and last of each stretch, led by what was known before', async () => {
    await sell([
      live('cafe', 'girona', 50, 2_000),
      live('cafe', 'girona', 40, 60),
      live('cafe', 'girona', 12, 59),
      live('cafe', 'girona', 20, 59.5),
    ])
    await sell([live('cafe', 'girona', 12, 59), live('cafe', 'girona', 7, 5)])
    const { threshold, points } = await serving.readHistory(EVERYTHING, { product: 'cafe', market: 'girona', fromMs: NOW - 1_440 * MINUTE })
    expect(threshold).toBe(10)
    expect(points.map(({ minimum, last }) => [minimum, last])).toEqual([
      [50, 50],
      [12, 12],
      [7, 7],
    ])
    expect(await serving.readHistory(only, { product: 'cafe', market: 'girona', fromMs: 0 })).toEqual({ threshold: null, points: [] })
  })

  it('forgets the open episodes of a version that is no more, keeps the alerts of both, and drops what is old', async () => {
    const alert = (updates: number, epoch: number, at: number) =>
      batch(TOPICS.stockAlerts.name, [
        {
          key: `${NOW}|mel|girona`,
          value: { producte: 'mel', mercat: 'girona', inici_ms: NOW, fi_ms: NOW + 5 * MINUTE, estoc_minim: 1, actualitzacions: updates },
          epoch,
          at,
        },
      ])
    await serving.applyAlertBatch(alert(2, 1, 50))
    await serving.applyAlertBatch(alert(3, 2, 7))
    await serving.applyAlertBatch(alert(9, 1, 99))
    await apply(episode('mel', 'girona'), 1, 1)
    const mark = { particio: 0, offset: 3, marca_aigua_ms: NOW, fonts_ms: [NOW, null], darrera_arribada_ms: NOW, epoca: 2 }
    await serving.applyMarkBatch(batch(TOPICS.stockMarks.name, [{ key: '0', value: mark, at: 1 }]))
    const { episodes, watermarkMs } = await serving.read(EVERYTHING, OPTIONS)
    expect(episodes.some(({ product }) => product === 'mel')).toBe(false)
    expect(watermarkMs).toBe(NOW)
    expect(await serving.dropEpisodes(NOW + 2 * MINUTE)).toBe(1)
    expect((await serving.read(EVERYTHING, OPTIONS)).notices.some(({ product }) => product === 'pa')).toBe(false)
  })

  it('refuses what is no result, and says which', async () => {
    const refused = await serving.applyEpisodeBatch(batch(TOPICS.stockEpisodes.name, [{ key: 'x', value: { producte: 'a|b' }, at: 1 }]))
    expect(refused).toMatchObject([{ offset: 0 }])
    const day = await serving.applyLiveBatch(batch(TOPICS.stockLive.name, [{ key: 'a|b', value: { producte: 'a' }, at: 1 }]))
    expect(day).toHaveLength(1)
  })
})
