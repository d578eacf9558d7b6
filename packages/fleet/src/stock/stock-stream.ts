import { encodeOtherEvent, encodeStockChange, type StockChange } from '@km0/contracts'
import { Random } from '../random.ts'
import { MARKETS, productName } from './catalogue.ts'
import { type Campaign, Demand, type DemandSettings } from './demand.ts'
import { type Recall, recallMinutes } from './recall.ts'
import { type Change, Shelf } from './shelf.ts'

/** A record on its way to the log. */
export interface StockRecord {
  /** Whatever the ordering service chose: here the order, so that a product's events are spread over all partitions. */
  readonly key: string
  readonly value: string
  readonly arrivalMs: number
  readonly eventMs: number
  /** `change`, or what is odd about it. */
  readonly kind: 'change' | 'twin' | 'other' | 'broken'
}

export interface StockSettings extends DemandSettings {
  /** Twins, events without id, other kinds and broken values by chance. */
  readonly oddities: boolean
  /** Added to the delay of the slow replica. */
  readonly lateReplicaMs: number
  readonly recalls: readonly Recall[]
}

/** Two replicas of the ordering service, each with its own delay: lognormal, given by median and p99. */
const REPLICAS = [
  { name: 'inv-gir', medianMs: 500, sigma: deviation(500, 6_000) },
  { name: 'inv-bcn', medianMs: 3_000, sigma: deviation(3_000, 40_000) },
] as const
const SLOW = REPLICAS[1]
const MAX_DELAY_MS = 290_000
const MINUTE_MS = 60_000
/** The latest that a twin comes after its event. */
const TWIN_MS = 20_000

const TWIN_SHARE = 0.005
const WITHOUT_ID_SHARE = 0.02
const OTHER_SHARE = 0.15
const BROKEN_SHARE = 1 / 20_000
const OTHER_KINDS = ['comanda.creada', 'comanda.pagada', 'comanda.cancel-lada', 'preu.canviat'] as const

/** p99 of a lognormal lies 2.326 deviations above its median. */
function deviation(medianMs: number, p99Ms: number): number {
  return Math.log(p99Ms / medianMs) / 2.326
}

/**
 * The records of the ordering service whose arrival is at or after `fromMs`, in order of arrival, without end. Equal settings give
 * equal records, and a stream from a later instant is the rest of one from an earlier. `onCampaign` hears of each campaign.
 */
export function* stockStream(
  settings: StockSettings,
  fromMs: number,
  onCampaign: (campaign: Campaign) => void = () => {},
): Generator<StockRecord, never> {
  const demand = new Demand(settings)
  const shelves = Array.from({ length: settings.products * MARKETS.length }, (_, index) => {
    const product = Math.floor(index / MARKETS.length)
    const market = index % MARKETS.length
    return new Shelf(settings.seed, demand, product, market, recallMinutes(settings.recalls, product, market))
  })
  const waiting = new Map<number, StockRecord[]>()
  const firstMinute = Math.floor(fromMs / MINUTE_MS)
  // Events from before may still be under way.
  const lookBack = Math.ceil((MAX_DELAY_MS + TWIN_MS + settings.lateReplicaMs) / MINUTE_MS) + 1
  let told: number | undefined
  for (let minute = firstMinute - lookBack; ; minute += 1) {
    const campaign = demand.campaignAt(minute * MINUTE_MS)
    if (campaign !== undefined && minute >= firstMinute && campaign.fromMs !== told) {
      told = campaign.fromMs
      onCampaign(campaign)
    }
    for (const shelf of shelves) {
      for (const change of shelf.changes(minute)) {
        for (const record of recordsOf(settings, change)) {
          if (record.arrivalMs < fromMs) continue
          const arrivalMinute = Math.floor(record.arrivalMs / MINUTE_MS)
          const others = waiting.get(arrivalMinute)
          if (others === undefined) waiting.set(arrivalMinute, [record])
          else others.push(record)
        }
      }
    }
    const due = waiting.get(minute) ?? []
    waiting.delete(minute)
    yield* due.sort((a, b) => a.arrivalMs - b.arrivalMs)
  }
}

/** What a change becomes in the log: its event, perhaps a twin from the other replica, perhaps an event of another kind beside it. */
function recordsOf(settings: StockSettings, change: Change): StockRecord[] {
  const random = new Random(settings.seed, change.product, MARKETS.indexOf(change.market), change.eventMs, change.stock, 74)
  const replica = random.pick(REPLICAS)
  const order = `comanda-${random.integer(0, 999_999).toString().padStart(6, '0')}`
  const event: StockChange = {
    ...(settings.oddities && random.chance(WITHOUT_ID_SHARE) ? {} : { id: change.id }),
    eventMs: change.eventMs,
    product: productName(change.product),
    market: change.market.name,
    stock: change.stock,
    delta: change.delta,
    replica: replica.name,
  }
  const arrivalMs = change.eventMs + delayMs(random, replica, settings)
  const broken = settings.oddities && random.chance(BROKEN_SHARE)
  const value = broken ? breakValue(encodeStockChange(event), random) : encodeStockChange(event)
  const records: StockRecord[] = [{ key: order, value, arrivalMs, eventMs: change.eventMs, kind: broken ? 'broken' : 'change' }]
  if (!settings.oddities) return records
  if (event.id !== undefined && random.chance(TWIN_SHARE)) records.push(twin(random, event, order, arrivalMs, settings))
  if (random.chance(OTHER_SHARE)) {
    const other = encodeOtherEvent(random.pick(OTHER_KINDS), `${change.id}-o`, change.eventMs, { comanda: order })
    records.push({ key: order, value: other, arrivalMs, eventMs: change.eventMs, kind: 'other' })
  }
  return records
}

/** The same event by the other replica, under a key of its own, or by the same one once more. */
function twin(random: Random, event: StockChange, order: string, arrivalMs: number, settings: StockSettings): StockRecord {
  const eventMs = event.eventMs
  if (random.chance(0.5)) {
    return { key: order, value: encodeStockChange(event), arrivalMs: arrivalMs + random.integer(20, TWIN_MS), eventMs, kind: 'twin' }
  }
  const other = REPLICAS.find((replica) => replica.name !== event.replica) ?? SLOW
  const value = encodeStockChange({ ...event, replica: other.name })
  return { key: `${order}-${other.name}`, value, arrivalMs: eventMs + delayMs(random, other, settings), eventMs, kind: 'twin' }
}

function delayMs(random: Random, replica: (typeof REPLICAS)[number], settings: StockSettings): number {
  const usual = Math.min(MAX_DELAY_MS, Math.round(replica.medianMs * Math.exp(replica.sigma * random.normal())))
  return usual + (replica === SLOW ? settings.lateReplicaMs : 0)
}

/** What a careless client writes. */
function breakValue(value: string, random: Random): string {
  const how = [
    (text: string) => text.slice(0, -7),
    (text: string) => text.replace(/"estoc_actual":-?\d+/, '"estoc_actual":"molt"'),
    (text: string) => text.replace(/"mercat":"/, '"mercat":"a|'),
    (text: string) => text.replace(/"data_ms":(\d+)\d{3}/, '"data_ms":$1'),
  ]
  return random.pick(how)(value)
}
