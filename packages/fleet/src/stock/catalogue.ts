import { DEPOTS } from '../vans/depots.ts'

/** A market, its share of the trade, and when it sells by the clock of Madrid. */
export interface Market {
  readonly name: string
  readonly weight: number
  /** Hours `[from, until)`; null: orders come at any hour, fewer at night. */
  readonly open: { readonly fromHour: number; readonly untilHour: number } | null
}

const WEIGHTS: Readonly<Record<string, number>> = { girona: 3, salt: 1.5, figueres: 2, olot: 1.5, blanes: 1.3, lloret: 1.3 }
/** Sells over the counter only: nothing happens there at night. */
const COUNTER_ONLY = 'ripoll'

/** The markets that the depots serve. */
export const MARKETS: readonly Market[] = DEPOTS.flatMap((depot) => depot.markets).map((name) => ({
  name,
  weight: WEIGHTS[name] ?? 1,
  open: name === COUNTER_ONLY ? { fromHour: 8, untilHour: 20 } : null,
}))

const GOODS = [
  'formatge-curat',
  'vi-negre',
  'oli-oliva',
  'botifarra',
  'fuet',
  'pernil-dolc',
  'pa-de-pages',
  'coca',
  'mel',
  'avellanes',
  'ametlles',
  'arros-de-pals',
  'pomes',
  'peres',
  'tomaquets',
  'cebes-figueres',
  'mongetes',
  'fesols',
  'anxoves-escala',
  'gambes-palamos',
  'sardines',
  'musclos',
  'ous',
  'iogurt',
  'mato',
  'recuit',
  'cava',
  'ratafia',
  'cervesa',
  'aigua',
] as const
const SIZES = ['petit', 'mitja', 'gran', 'familiar'] as const

/** Name of a product by its number (from 0): thirty goods in four sizes, then numbered ones. */
export function productName(index: number): string {
  const goods = GOODS[index % GOODS.length]!
  const size = SIZES[Math.floor(index / GOODS.length)]
  if (size === 'petit') return goods
  return size === undefined ? `${goods}-${Math.floor(index / GOODS.length)}` : `${goods}-${size}`
}

/** Share of the trade by rank: the n-th product sells 1/√n of the first. */
export function productWeight(index: number): number {
  return 1 / Math.sqrt(index + 1)
}
