import { moved, type Point } from '../geography/earth.ts'
import { ROADS_OF_TOWN } from '../geography/roads.ts'
import { type Place, placeNear } from '../geography/route.ts'
import { townIndex } from '../geography/towns.ts'

/** A yard where vans sleep. */
export interface DepotPlan {
  readonly id: string
  readonly name: string
  readonly town: number
  readonly place: Place
  readonly markets: readonly string[]
  /** Local time of Europe/Madrid, used with realistic hours. */
  readonly shiftStart: string
  readonly shiftEnd: string
}

export const DEPOTS: readonly DepotPlan[] = [
  depot('girona', 'Girona', 'Vilablareix', ['girona', 'salt', 'banyoles'], '06:30', '21:30'),
  depot('figueres', 'Figueres', 'Figueres', ['figueres', 'roses'], '06:30', '21:30'),
  depot('blanes', 'Blanes', 'Blanes', ['blanes', 'lloret'], '07:00', '22:00'),
  depot('olot', 'Olot', 'Olot', ['olot', 'ripoll'], '06:00', '21:00'),
  depot('palafrugell', 'Palafrugell', 'Palafrugell', ['palafrugell', 'palamos', 'la-bisbal'], '07:00', '22:00'),
]

/** Depot of each van by its number, over and over: 50, 30, 20, 20 and 20 of 140. */
const TURN = [0, 1, 0, 2, 3, 0, 4, 1, 0, 2, 0, 1, 3, 4]

/** A van of the demo fleet. Its number says everything about it. */
export interface VanPlan {
  readonly van: string
  readonly number: number
  readonly plate: string
  readonly depot: DepotPlan
  /** Its own place in the yard. */
  readonly yard: Place
}

/** The van with this number (from 1): name, plate, depot and place in the yard. */
export function vanPlan(number: number): VanPlan {
  const depot = DEPOTS[TURN[(number - 1) % TURN.length]!]!
  const rank = Math.floor((number - 1) / TURN.length)
  const spot = { row: rank % 3, column: Math.floor(rank / 3) * TURN.length + ((number - 1) % TURN.length) }
  return {
    van: `furgoneta-${number}`,
    number,
    plate: plateOf(number),
    depot,
    yard: { ...depot.place, point: yardSpot(depot.place.point, spot.row, spot.column % 12) },
  }
}

/** Spanish plates: four digits and three consonants. */
function plateOf(number: number): string {
  const letters = 'BCDFGHJKLMNPRSTVWXYZ'
  const scrambled = (number * 7919) % 1_000_000
  const letter = (place: number) => letters[Math.floor(scrambled / 17 ** place) % letters.length]!
  return `${String((scrambled * 31) % 10_000).padStart(4, '0')} ${letters[8 + (number % 3)]!}${letter(1)}${letter(2)}`
}

function yardSpot(centre: Point, row: number, column: number): Point {
  return moved(centre, (column - 5.5) * 4.5, (row - 1) * 14)
}

function depot(id: string, name: string, town: string, markets: readonly string[], shiftStart: string, shiftEnd: string): DepotPlan {
  const at = townIndex(town)
  return { id, name, town: at, place: placeNear(at, ROADS_OF_TOWN[at]![0]!, 500, 45), markets, shiftStart, shiftEnd }
}
