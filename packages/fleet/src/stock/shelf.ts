import { Random } from '../random.ts'
import { MARKETS, type Market } from './catalogue.ts'
import type { Demand } from './demand.ts'

/** A change of stock where and when it happens. */
export interface Change {
  readonly product: number
  readonly market: Market
  readonly eventMs: number
  readonly stock: number
  readonly delta: number
  /** Unique: product, market, minute and number in the minute. */
  readonly id: string
}

const MINUTE_MS = 60_000
/** A shelf is counted and filled anew so often; a run that begins later needs to go back only to the last time. */
const CYCLE_MINUTES = 180

/**
 * One product in one market, minute by minute. Sales take one to three; what falls below the reorder point is delivered some minutes
 * later, in a campaign a good while later, so that shelves run low now and then, and mostly in campaigns.
 */
export class Shelf {
  readonly #seed: number
  readonly #demand: Demand
  readonly #product: number
  readonly #market: number
  readonly #recalls: ReadonlySet<number>
  #minute = Number.NEGATIVE_INFINITY
  #stock = 0
  #deliveryMinute: number | null = null

  /** `recalls`: minutes in which a batch is withdrawn. */
  constructor(seed: number, demand: Demand, product: number, market: number, recalls: ReadonlySet<number> = new Set()) {
    this.#seed = seed
    this.#demand = demand
    this.#product = product
    this.#market = market
    this.#recalls = recalls
  }

  /** The changes of a minute (milliseconds / 60 000), by event time. Minutes may be asked for in any order; in order is quick. */
  changes(minute: number): Change[] {
    const cycleFrom = this.#cycleFrom(minute)
    if (this.#minute !== minute - 1 || minute === cycleFrom) {
      this.#minute = cycleFrom - 1
      for (let earlier = cycleFrom; earlier < minute; earlier += 1) this.#live(earlier, cycleFrom)
    }
    return this.#live(minute, cycleFrom)
  }

  #cycleFrom(minute: number): number {
    const offset = new Random(this.#seed, this.#product, this.#market, 72).integer(0, CYCLE_MINUTES - 1)
    return Math.floor((minute - offset) / CYCLE_MINUTES) * CYCLE_MINUTES + offset
  }

  #live(minute: number, cycleFrom: number): Change[] {
    const random = new Random(this.#seed, this.#product, this.#market, minute, 73)
    const market = MARKETS[this.#market]!
    const expected = this.#demand.perMinute(this.#product, market, minute * MINUTE_MS)
    const changes: Change[] = []
    const change = (eventMs: number, delta: number) => {
      this.#stock += delta
      const id = `${this.#product.toString(36)}-${this.#market.toString(36)}-${minute.toString(36)}-${changes.length}`
      changes.push({ product: this.#product, market, eventMs, stock: this.#stock, delta, id })
    }
    if (minute === cycleFrom) {
      this.#stock = 0
      this.#deliveryMinute = null
      change(minute * MINUTE_MS, Math.ceil(40 + expected * random.between(20, 60)))
    }
    if (this.#deliveryMinute === minute) {
      this.#deliveryMinute = null
      change(minute * MINUTE_MS + 1, Math.ceil(30 + expected * random.between(15, 40)))
    }
    const campaign = this.#demand.campaignOf(this.#product, minute * MINUTE_MS)
    if (campaign !== undefined && minute === Math.floor(campaign.fromMs / MINUTE_MS)) {
      // Ordered ahead for the campaign: for most shelves enough, for some not.
      const minutes = (campaign.untilMs - campaign.fromMs) / MINUTE_MS
      change(minute * MINUTE_MS + 1, Math.ceil(expected * minutes * random.between(1.2, 2.4)))
    }
    if (this.#recalls.has(minute)) {
      const left = Math.min(this.#stock, random.integer(1, 8))
      if (left < this.#stock) change(minute * MINUTE_MS + 1, left - this.#stock)
      this.#deliveryMinute = minute + random.integer(9, 25)
    }
    for (const eventMs of instants(random, minute, expected)) {
      const wanted = random.chance(0.06) ? -random.integer(1, 2) : random.integer(1, 3)
      const sold = Math.min(wanted, this.#stock)
      if (sold !== 0) change(eventMs, -sold)
    }
    if (this.#deliveryMinute === null && this.#stock < 20 + expected * 13) {
      this.#deliveryMinute = minute + random.integer(2, campaign === undefined ? 6 : 14)
    }
    this.#minute = minute
    return changes
  }
}

/** Instants of a minute at which something happens, in order: as many as a Poisson draw gives (Knuth's method, in steps of 30). */
function instants(random: Random, minute: number, expected: number): number[] {
  let count = 0
  for (let left = expected; left > 0; left -= 30) {
    const limit = Math.exp(-Math.min(left, 30))
    for (let product = random.unit(); product > limit; product *= random.unit()) count += 1
  }
  return Array.from({ length: count }, () => minute * MINUTE_MS + 2 + random.integer(0, MINUTE_MS - 3)).sort((a, b) => a - b)
}
