import type { Point } from '../geography/earth.ts'
import { ROADS_OF_TOWN } from '../geography/roads.ts'
import { type Place, placeNear, roadDistanceM, routeBetween } from '../geography/route.ts'
import { TOWNS } from '../geography/towns.ts'
import { Random } from '../random.ts'
import type { VanPlan } from './depots.ts'
import { type Drive, drive } from './drive.ts'
import type { Shift } from './shifts.ts'

/** A stretch of a van's day. `covered`: below ground, where no fix is made. */
export type Stretch =
  | { readonly fromMs: number; readonly untilMs: number; readonly kind: 'standing'; readonly point: Point; readonly covered: boolean }
  | { readonly fromMs: number; readonly untilMs: number; readonly kind: 'driving'; readonly drive: Drive }

const MINUTE_MS = 60_000
const BREAK_AFTER_MS = 255 * MINUTE_MS
const ROUND_RADIUS_M = 48_000
/** Share of deliveries in a car park below ground, where the van is silent for longer than a drop. */
const COVERED_SHARE = 0.028

/**
 * Everything a van does in a day: rounds from its yard through neighbouring towns, drops of 2 to 6 minutes, a pause of 35 to 50
 * minutes every four hours or so, and back in time. The stretches join without a gap from `shift.fromMs` to `shift.untilMs`.
 */
export function planDay(seed: number, van: VanPlan, shift: Shift): Stretch[] {
  const day = new DayPlanner(new Random(seed, van.number, shift.day, 21), van, shift)
  return day.plan()
}

class DayPlanner {
  readonly #random: Random
  readonly #van: VanPlan
  readonly #shift: Shift
  readonly #driver: number
  readonly #stretches: Stretch[] = []
  #atMs: number
  #place: Place
  #sinceBreakMs: number

  constructor(random: Random, van: VanPlan, shift: Shift) {
    this.#random = random
    this.#van = van
    this.#shift = shift
    this.#driver = random.between(0.92, 1.06)
    this.#atMs = shift.fromMs
    this.#place = van.yard
    this.#sinceBreakMs = shift.fromMs
  }

  plan(): Stretch[] {
    const { work } = this.#shift
    if (work !== null) {
      this.#standUntil(work.fromMs, false)
      this.#sinceBreakMs = this.#atMs
      while (this.#round(work.untilMs)) this.#standUntil(this.#atMs + this.#random.integer(12, 30) * MINUTE_MS, false)
    }
    this.#standUntil(this.#shift.untilMs, false)
    return this.#stretches
  }

  /** One round; false when the day is over. */
  #round(backByMs: number): boolean {
    for (const stop of this.#stops()) {
      const way = drive(routeBetween(this.#place, stop), this.#driver)
      const wayBack = drive(routeBetween(stop, this.#van.yard), this.#driver)
      const { minutes, covered } = this.#dwell(way.durationMs)
      if (this.#atMs + way.durationMs + minutes * MINUTE_MS + wayBack.durationMs > backByMs) {
        this.#goHome()
        return false
      }
      this.#go(way, stop)
      this.#standUntil(this.#atMs + Math.round(minutes * MINUTE_MS), covered)
    }
    this.#goHome()
    return this.#atMs < backByMs
  }

  #dwell(wayMs: number): { minutes: number; covered: boolean } {
    if (this.#atMs + wayMs - this.#sinceBreakMs > BREAK_AFTER_MS) {
      this.#sinceBreakMs = this.#atMs + wayMs
      return { minutes: this.#random.between(35, 50), covered: false }
    }
    if (this.#random.chance(COVERED_SHARE)) return { minutes: this.#random.between(5, 16), covered: true }
    return { minutes: this.#random.between(2, 6), covered: false }
  }

  #goHome(): void {
    if (this.#place === this.#van.yard) return
    this.#go(drive(routeBetween(this.#place, this.#van.yard), this.#driver), this.#van.yard)
  }

  #go(way: Drive, to: Place): void {
    this.#stretches.push({ kind: 'driving', fromMs: this.#atMs, untilMs: this.#atMs + way.durationMs, drive: way })
    this.#atMs += way.durationMs
    this.#place = to
  }

  #standUntil(untilMs: number, covered: boolean): void {
    const end = Math.min(untilMs, this.#shift.untilMs)
    if (end <= this.#atMs) return
    this.#stretches.push({ kind: 'standing', fromMs: this.#atMs, untilMs: end, point: this.#place.point, covered })
    this.#atMs = end
  }

  /** Doors of one round: a few towns around a centre, the nearest next, and in each some doors along its roads. */
  #stops(): Place[] {
    const { depot } = this.#van
    const near = TOWNS.map((_, town) => town).filter((town) => roadDistanceM(depot.town, town) < ROUND_RADIUS_M)
    const centre = this.#weighted(near)
    const around = near.filter((town) => roadDistanceM(centre, town) < 14_000)
    const left = new Set(around.slice().sort((a, b) => roadDistanceM(centre, a) - roadDistanceM(centre, b)))
    const towns = [...left].slice(0, this.#random.integer(3, 7))
    const stops: Place[] = []
    for (let at = depot.town; towns.length > 0; ) {
      towns.sort((a, b) => roadDistanceM(at, a) - roadDistanceM(at, b))
      at = towns.shift()!
      for (let doors = this.#doorsIn(at); doors > 0; doors -= 1) stops.push(this.#doorIn(at))
    }
    return stops
  }

  #doorsIn(town: number): number {
    return this.#random.integer(2, Math.min(9, 4 + Math.floor(Math.sqrt(TOWNS[town]!.inhabitants) / 40)))
  }

  #doorIn(town: number): Place {
    const side = this.#random.chance(0.5) ? 1 : -1
    return placeNear(town, this.#random.pick(ROADS_OF_TOWN[town]!), this.#random.between(120, 900), side * this.#random.between(12, 40))
  }

  /** More inhabitants, more parcels: by the square root, so that small towns are served too. */
  #weighted(towns: readonly number[]): number {
    const weights = towns.map((town) => Math.sqrt(TOWNS[town]!.inhabitants))
    let left = this.#random.unit() * weights.reduce((sum, weight) => sum + weight, 0)
    for (const [index, town] of towns.entries()) {
      left -= weights[index]!
      if (left < 0) return town
    }
    return towns.at(-1)!
  }
}
