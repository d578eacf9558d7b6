import { Random } from '../random.ts'
import { MARKETS } from './catalogue.ts'

/** A batch that is withdrawn: shelves of these products and markets are all but emptied within a minute. */
export interface Recall {
  readonly atMs: number
  readonly shelves: readonly { readonly product: number; readonly market: number }[]
}

/** A recall of `count` shelves of markets that are open all day, by the seed. `atMs` is the minute's beginning. */
export function recallAt(seed: number, index: number, atMs: number, count: number, products: number): Recall {
  const random = new Random(seed, index, 76)
  const open = MARKETS.flatMap((market, number) => (market.open === null ? [number] : []))
  const shelves = Array.from({ length: count }, () => ({ product: random.integer(0, products - 1), market: random.pick(open) }))
  return { atMs, shelves }
}

/** Minutes (milliseconds / 60 000) in which a shelf is emptied. */
export function recallMinutes(recalls: readonly Recall[], product: number, market: number): ReadonlySet<number> {
  const own = recalls.filter(({ shelves }) => shelves.some((shelf) => shelf.product === product && shelf.market === market))
  return new Set(own.map(({ atMs }) => Math.floor(atMs / 60_000)))
}
