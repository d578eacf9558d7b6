import { Random } from '../random.ts'
import { madridOffsetMs } from '../vans/madrid.ts'
import { MARKETS, type Market, productWeight } from './catalogue.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** A span in which some products sell so much more that the whole load triples. */
export interface Campaign {
  readonly fromMs: number
  readonly untilMs: number
  /** Numbers of the products. */
  readonly products: readonly number[]
}

export interface DemandSettings {
  readonly seed: number
  readonly products: number
  /** Stock changes a second, over all markets, by day and without a campaign. */
  readonly perSecond: number
  readonly campaigns: boolean
  readonly forced: readonly Campaign[]
}

const CAMPAIGN_SLOT_MS = 90 * MINUTE_MS
const CAMPAIGN_SHARE = 0.6
const CAMPAIGN_PRODUCTS = 8
/** Load in a campaign over load without. */
const CAMPAIGN_FACTOR = 3
const NIGHT_SHARE = 0.4

/** How much each product sells in each market in each minute: a function of settings and time. */
export class Demand {
  readonly #settings: DemandSettings
  readonly #weightSum: number
  readonly #marketSum = MARKETS.reduce((sum, market) => sum + market.weight, 0)
  #slot: { readonly number: number; readonly campaign: Campaign | undefined } | undefined

  constructor(settings: DemandSettings) {
    this.#settings = settings
    const products = Array.from({ length: settings.products }, (_, index) => productWeight(index)).reduce((sum, weight) => sum + weight, 0)
    this.#weightSum = products * this.#marketSum
  }

  /** Expected changes a minute of a product in a market; `atMs` is the minute's beginning. */
  perMinute(product: number, market: Market, atMs: number): number {
    const { perSecond } = this.#settings
    const usual = (perSecond * 60 * productWeight(product) * market.weight) / this.#weightSum
    const campaign = this.campaignOf(product, atMs)
    if (campaign === undefined) return usual * activity(market, atMs)
    const extra = (perSecond * 60 * (CAMPAIGN_FACTOR - 1) * market.weight) / (this.#marketSum * campaign.products.length)
    return (usual + extra) * activity(market, atMs)
  }

  /** The campaign that runs at an instant; undefined when there is none. */
  campaignAt(instantMs: number): Campaign | undefined {
    const forced = this.#settings.forced.find((campaign) => instantMs >= campaign.fromMs && instantMs < campaign.untilMs)
    if (forced !== undefined || !this.#settings.campaigns) return forced
    const campaign = this.#inSlot(Math.floor(instantMs / CAMPAIGN_SLOT_MS))
    return campaign !== undefined && instantMs >= campaign.fromMs && instantMs < campaign.untilMs ? campaign : undefined
  }

  /** The campaign in which a product is; undefined when there is none. */
  campaignOf(product: number, instantMs: number): Campaign | undefined {
    const campaign = this.campaignAt(instantMs)
    return campaign?.products.includes(product) ? campaign : undefined
  }

  /** The campaign by chance of a slot of time, none or one. Every shelf asks for the same one, so it is kept. */
  #inSlot(number: number): Campaign | undefined {
    if (this.#slot?.number === number) return this.#slot.campaign
    const random = new Random(this.#settings.seed, number, 71)
    let campaign: Campaign | undefined
    if (random.chance(CAMPAIGN_SHARE)) {
      const fromMs = number * CAMPAIGN_SLOT_MS + random.integer(0, 60) * MINUTE_MS
      const untilMs = fromMs + random.integer(10, 25) * MINUTE_MS
      campaign = { fromMs, untilMs, products: campaignProducts(random, this.#settings.products) }
    }
    this.#slot = { number, campaign }
    return campaign
  }
}

/** The products of a campaign: some of them are not the ones that sell best anyway. */
export function campaignProducts(random: Random, products: number): number[] {
  return Array.from({ length: Math.min(CAMPAIGN_PRODUCTS, products) }, () => random.integer(0, products - 1)).filter(
    (product, index, all) => all.indexOf(product) === index,
  )
}

/** 1 by day, less at night, 0 while a market is closed. */
function activity(market: Market, atMs: number): number {
  const hour = Math.floor(((atMs + madridHourOffsetMs(atMs)) % DAY_MS) / HOUR_MS)
  if (market.open !== null) return hour >= market.open.fromHour && hour < market.open.untilHour ? 1 : 0
  return hour >= 8 && hour < 22 ? 1 : NIGHT_SHARE
}

const offsets = new Map<number, number>()

/** The offset changes on full hours only, so one look-up an hour is enough. */
function madridHourOffsetMs(atMs: number): number {
  const hour = Math.floor(atMs / HOUR_MS)
  const known = offsets.get(hour)
  if (known !== undefined) return known
  if (offsets.size > 100) offsets.clear()
  const offsetMs = madridOffsetMs(hour * HOUR_MS)
  offsets.set(hour, offsetMs)
  return offsetMs
}
