import { describe, expect, it } from 'vitest'
import { madridDay, madridInstantMs } from '../vans/madrid.ts'
import { dueBatches } from './batches.ts'
import { MARKETS, productName } from './catalogue.ts'
import type { Campaign } from './demand.ts'
import { recallAt } from './recall.ts'
import { parseStockCommand } from './stock-options.ts'
import { type StockRecord, type StockSettings, stockStream } from './stock-stream.ts'

const MINUTE_MS = 60_000
const NOON_MS = madridInstantMs(madridDay(1_789_380_000_000), 12 * 60)

const settings = (changes: Partial<StockSettings> = {}): StockSettings => ({
  seed: 1,
  products: 30,
  perSecond: 30,
  campaigns: false,
  forced: [],
  oddities: true,
  lateReplicaMs: 0,
  recalls: [],
  ...changes,
})

function take(wanted: StockSettings, fromMs: number, minutes: number, onCampaign?: (campaign: Campaign) => void): StockRecord[] {
  const records: StockRecord[] = []
  for (const record of stockStream(wanted, fromMs, onCampaign)) {
    if (record.arrivalMs >= fromMs + minutes * MINUTE_MS) break
    records.push(record)
  }
  return records
}

interface Value {
  readonly tipus: string
  readonly id?: string
  readonly data_ms: number
  readonly dades: {
    readonly producte: string
    readonly mercat: string
    readonly estoc_actual: number
    readonly delta: number
    readonly replica: string
  }
}
const parsed = (record: StockRecord) => JSON.parse(record.value) as Value
const changesOf = (records: StockRecord[]) => records.filter((record) => record.kind === 'change').map(parsed)

describe('the ordering service', () => {
  it('writes the same for the same seed, and something else for another', () => {
    expect(take(settings(), NOON_MS, 3)).toEqual(take(settings(), NOON_MS, 3))
    expect(take(settings({ seed: 2 }), NOON_MS, 3)).not.toEqual(take(settings(), NOON_MS, 3))
  })

  it('goes on after a restart as if there had been none', () => {
    const whole = take(settings({ campaigns: true, lateReplicaMs: 60_000 }), NOON_MS, 12)
    const laterMs = NOON_MS + 7 * MINUTE_MS + 4321
    const rest = take(settings({ campaigns: true, lateReplicaMs: 60_000 }), laterMs, 5 - 4321 / MINUTE_MS)
    expect(rest).toEqual(whole.filter((record) => record.arrivalMs >= laterMs))
  })

  it('writes in order of arrival, out of order of event, and never before the event', () => {
    const records = take(settings(), NOON_MS, 10)
    expect(records.every((record, at) => at === 0 || record.arrivalMs >= records[at - 1]!.arrivalMs)).toBe(true)
    expect(records.every((record) => record.arrivalMs > record.eventMs)).toBe(true)
    expect(records.some((record, at) => at > 0 && record.eventMs < records[at - 1]!.eventMs)).toBe(true)
  })

  it('has values of the contract; every stock is the one before plus the change, never below 0', () => {
    // A shelf's events all are in the log once those of the last minutes have come.
    const values = changesOf(take(settings({ oddities: false }), NOON_MS - 6 * MINUTE_MS, 16)).sort((a, b) => a.data_ms - b.data_ms)
    const newest = new Map<string, number>()
    const wrong: Value[] = []
    let checked = 0
    for (const value of values) {
      const { tipus, id, data_ms, dades } = value
      if (tipus !== 'estoc.actualitzat' || !/^[0-9a-z]+-[0-9a-z]+-[0-9a-z]+-\d+$/.test(id ?? '') || dades.estoc_actual < 0)
        wrong.push(value)
      const shelf = `${dades.producte}|${dades.mercat}`
      const before = newest.get(shelf)
      const complete = data_ms > NOON_MS && data_ms < NOON_MS + 4 * MINUTE_MS
      const filledAnew = dades.delta > 10
      if (complete && before !== undefined && !filledAnew) {
        if (dades.estoc_actual - dades.delta !== before) wrong.push(value)
        checked += 1
      }
      newest.set(shelf, dades.estoc_actual)
    }
    expect(wrong).toEqual([])
    expect(checked).toBeGreaterThan(5_000)
    expect(new Set(values.map((value) => value.id)).size).toBe(values.length)
  })

  it('has two replicas with delays of their own: p99 6 s and 40 s', () => {
    const delays = new Map<string, number[]>()
    for (const record of take(settings({ oddities: false, perSecond: 60 }), NOON_MS, 12)) {
      const { replica } = parsed(record).dades
      const known = delays.get(replica)
      if (known === undefined) delays.set(replica, [record.arrivalMs - record.eventMs])
      else known.push(record.arrivalMs - record.eventMs)
    }
    const p99 = (replica: string) => delays.get(replica)!.sort((a, b) => a - b)[Math.floor(delays.get(replica)!.length * 0.99)]!
    expect([...delays.keys()].sort()).toEqual(['inv-bcn', 'inv-gir'])
    expect(Math.abs(p99('inv-gir') / 6_000 - 1)).toBeLessThan(0.15)
    expect(Math.abs(p99('inv-bcn') / 40_000 - 1)).toBeLessThan(0.15)
  })

  it('has twins with the id of another event, events without id, other kinds, and some broken ones', () => {
    const records = take(settings({ perSecond: 120 }), NOON_MS, 10)
    const share = (kind: string) => records.filter((record) => record.kind === kind).length / records.length
    expect(Math.abs(share('twin') - 0.0043)).toBeLessThan(0.001)
    expect(Math.abs(share('other') - 0.13)).toBeLessThan(0.01)
    const ids = new Set(changesOf(records).map((value) => value.id))
    const twins = records.filter((record) => record.kind === 'twin').map(parsed)
    // A twin may come before its event, or without it at the borders of the span.
    expect(twins.filter((twin) => ids.has(twin.id)).length).toBeGreaterThan(twins.length * 0.9)
    expect(changesOf(records).some((value) => value.id === undefined)).toBe(true)
    expect(records.some((record) => record.kind === 'broken')).toBe(true)
  })

  it('triples the load in a campaign, and shelves run low then', () => {
    const campaign = { fromMs: NOON_MS + 5 * MINUTE_MS, untilMs: NOON_MS + 15 * MINUTE_MS, products: [1, 5, 9, 20] }
    const heard: Campaign[] = []
    const records = take(settings({ forced: [campaign] }), NOON_MS, 20, (begun) => heard.push(begun))
    const events = (fromMinute: number) =>
      records.filter((record) => Math.floor((record.eventMs - NOON_MS) / (5 * MINUTE_MS)) === fromMinute / 5).length
    const usual = events(0)
    expect(events(5) / usual).toBeGreaterThan(2.5)
    expect(events(10) / usual).toBeGreaterThan(2)
    expect(events(5) / usual).toBeLessThan(3.5)
    expect(heard).toEqual([campaign])
    const low = (products: number[]) => {
      const names = new Set(products.map(productName))
      return new Set(
        changesOf(records)
          .filter((value) => names.has(value.dades.producte) && value.dades.estoc_actual < 10)
          .map((value) => `${value.dades.producte}|${value.dades.mercat}`),
      ).size
    }
    expect(low(campaign.products)).toBeGreaterThan(0)
  })

  it('all but empties the shelves of a batch that is withdrawn, for some minutes', () => {
    const recall = recallAt(1, 0, NOON_MS + 5 * MINUTE_MS, 4, 30)
    const records = take(settings({ oddities: false, recalls: [recall] }), NOON_MS, 40)
    for (const { product, market } of recall.shelves) {
      const stock = changesOf(records)
        .filter(({ dades }) => dades.producte === productName(product) && dades.mercat === MARKETS[market]!.name)
        .sort((a, b) => a.data_ms - b.data_ms)
        .map(({ data_ms, dades }) => [Math.floor((data_ms - recall.atMs) / MINUTE_MS), dades.estoc_actual] as const)
      expect(stock.find(([minute]) => minute === 0)?.[1]).toBeLessThan(10)
      expect(stock.filter(([minute]) => minute > 0 && minute < 9).every(([, left]) => left < 12)).toBe(true)
      expect(stock.some(([minute, left]) => minute >= 9 && left > 10)).toBe(true)
    }
    expect(recall.shelves.every(({ market }) => MARKETS[market]!.open === null)).toBe(true)
  })

  it('leaves one market idle at night', () => {
    const nightMs = NOON_MS + 11 * 60 * MINUTE_MS
    const markets = new Set(
      changesOf(take(settings(), nightMs, 10))
        .filter((value) => value.data_ms >= nightMs && value.dades.delta < 0)
        .map((value) => value.dades.mercat),
    )
    expect(MARKETS.map((market) => market.name).filter((name) => !markets.has(name))).toEqual(['ripoll'])
  })
})

describe('batches', () => {
  it('hold what is due, at most so many, in order', async () => {
    const nowMs = Date.now()
    const record = (arrivalMs: number): StockRecord => ({
      key: 'k',
      value: String(arrivalMs - nowMs),
      arrivalMs,
      eventMs: arrivalMs,
      kind: 'change',
    })
    const records = [
      ...Array.from({ length: 5 }, (_, at) => record(nowMs - 100 + at)),
      record(nowMs + 60),
      record(nowMs + 70),
      record(nowMs + 80),
    ]
    const batches: string[][] = []
    const pace = { fromMs: nowMs - 100, machineMs: nowMs, speed: Number.POSITIVE_INFINITY }
    for await (const batch of dueBatches(records, { pace, signal: new AbortController().signal, maxRecords: 3, lingerMs: 150 })) {
      batches.push(batch.map((item) => item.value))
    }
    expect(batches).toEqual([
      ['-100', '-99', '-98'],
      ['-97', '-96'],
      ['60', '70', '80'],
    ])
    expect(Date.now() - nowMs).toBeGreaterThanOrEqual(149)
  })
})

describe('the command line', () => {
  it('reads a span, campaigns and partitions', () => {
    expect(
      parseStockCommand('--start-ms 1 --duration-s 60 --campaign 600@30 --recall 6@20 --partitions 0,3 --late-replica-ms 40000'.split(' ')),
    ).toMatchObject({
      kind: 'run',
      span: { startMs: 1, durationMs: 60_000 },
      forced: [{ atS: 30, lastsS: 600 }],
      recalls: [{ atS: 20, shelves: 6 }],
      partitions: [0, 3],
      lateReplicaMs: 40_000,
      perSecond: 70,
      products: 120,
    })
    expect(parseStockCommand(['--help'])).toEqual({ kind: 'help' })
  })

  it.each(['--start-ms 1', '--campaign x', '--campaign 5', '--recall 0', '--recall all', '--partitions 0,x', '--products 0', '--nothing'])(
    '%s is refused',
    (line) => {
      expect(() => parseStockCommand(line.split(' '))).toThrow(/--/)
    },
  )
})
