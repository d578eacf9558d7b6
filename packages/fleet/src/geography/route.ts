import { asideM, distanceM, type Point } from './earth.ts'
import { ROADS_OF_TOWN, type Road } from './roads.ts'
import { TOWNS } from './towns.ts'

/** A door beside a road: where a van delivers or sleeps. */
export interface Place {
  readonly road: Road
  /** Metres from the road's beginning. */
  readonly alongM: number
  readonly point: Point
}

/** A way to drive: points with metres from its beginning, and what is usual to drive from each point to the next. */
export interface Route {
  readonly points: readonly Point[]
  readonly metres: readonly number[]
  readonly cruiseMs: readonly number[]
  readonly lengthM: number
}

const TOWN_LIMIT_M = 650
const TOWN_SPEED_MS = 38 / 3.6
const YARD_SPEED_MS = 15 / 3.6

/** The door that lies so far from a town along one of its roads, and so many metres beside it. */
export function placeNear(town: number, road: Road, distanceFromTownM: number, besideM: number): Place {
  const reachM = Math.min(distanceFromTownM, road.lengthM * 0.45)
  const alongM = road.from === town ? reachM : road.lengthM - reachM
  const at = locate(road, alongM)
  return { road, alongM, point: asideM(at.point, at.before, at.after, besideM) }
}

/** The shortest way between two places along the roads. */
export function routeBetween(from: Place, to: Place): Route {
  const way = new RouteBuilder()
  way.add(from.point, YARD_SPEED_MS)
  if (from.road === to.road) {
    way.addRoad(from.road, from.alongM, to.alongM)
  } else {
    const best = bestTowns(from, to)
    way.addRoad(from.road, from.alongM, townAlongM(from.road, best.leave))
    let town = best.leave
    for (const road of roadsBetween(best.leave, best.enter)) {
      const end = road.from === town ? road.to : road.from
      way.addRoad(road, townAlongM(road, town), townAlongM(road, end))
      town = end
    }
    way.addRoad(to.road, townAlongM(to.road, best.enter), to.alongM)
  }
  way.add(to.point, YARD_SPEED_MS)
  return way.build()
}

/** Metres along the roads between two towns. */
export function roadDistanceM(from: number, to: number): number {
  return treeFrom(from).distanceM[to]!
}

/** The road on which the place lies makes four ways: out by either end, in by either end. */
function bestTowns(from: Place, to: Place): { leave: number; enter: number } {
  let best = { leave: from.road.from, enter: to.road.from }
  let bestM = Number.POSITIVE_INFINITY
  for (const leave of [from.road.from, from.road.to]) {
    for (const enter of [to.road.from, to.road.to]) {
      const lengthM =
        Math.abs(townAlongM(from.road, leave) - from.alongM) +
        roadDistanceM(leave, enter) +
        Math.abs(townAlongM(to.road, enter) - to.alongM)
      if (lengthM < bestM) {
        best = { leave, enter }
        bestM = lengthM
      }
    }
  }
  return best
}

function townAlongM(road: Road, town: number): number {
  return road.from === town ? 0 : road.lengthM
}

interface Tree {
  readonly distanceM: readonly number[]
  /** The last road on the way to each town. */
  readonly lastRoad: readonly (Road | undefined)[]
}

const trees = new Map<number, Tree>()

/** Shortest ways from a town to all others (Dijkstra 1959). Kept: there are fewer than a hundred towns. */
function treeFrom(source: number): Tree {
  const known = trees.get(source)
  if (known !== undefined) return known
  const distances = TOWNS.map(() => Number.POSITIVE_INFINITY)
  const lastRoad: (Road | undefined)[] = TOWNS.map(() => undefined)
  const open = new Set(TOWNS.keys())
  distances[source] = 0
  while (open.size > 0) {
    let town = -1
    for (const candidate of open) if (town < 0 || distances[candidate]! < distances[town]!) town = candidate
    open.delete(town)
    for (const road of ROADS_OF_TOWN[town]!) {
      const end = road.from === town ? road.to : road.from
      const throughM = distances[town]! + road.lengthM
      if (throughM < distances[end]!) {
        distances[end] = throughM
        lastRoad[end] = road
      }
    }
  }
  const tree = { distanceM: distances, lastRoad }
  trees.set(source, tree)
  return tree
}

function roadsBetween(from: number, to: number): Road[] {
  const tree = treeFrom(from)
  const roads: Road[] = []
  for (let town = to; town !== from; ) {
    const road = tree.lastRoad[town]
    if (road === undefined) throw new Error(`no road leads to ${TOWNS[to]!.name}`)
    roads.push(road)
    town = road.from === town ? road.to : road.from
  }
  return roads.reverse()
}

function locate(road: Road, alongM: number): { point: Point; before: Point; after: Point } {
  let next = road.metres.findIndex((metres) => metres > alongM)
  if (next < 1) next = road.points.length - 1
  const before = road.points[next - 1]!
  const after = road.points[next]!
  const stretchM = road.metres[next]! - road.metres[next - 1]!
  const share = stretchM === 0 ? 0 : (alongM - road.metres[next - 1]!) / stretchM
  return {
    before,
    after,
    point: { lat: before.lat + (after.lat - before.lat) * share, lon: before.lon + (after.lon - before.lon) * share },
  }
}

class RouteBuilder {
  readonly #points: Point[] = []
  readonly #metres: number[] = []
  readonly #cruiseMs: number[] = []

  add(point: Point, cruiseMs: number): void {
    const last = this.#points.at(-1)
    const stepM = last === undefined ? 0 : distanceM(last, point)
    if (last !== undefined && stepM < 1) return
    this.#points.push(point)
    this.#metres.push((this.#metres.at(-1) ?? 0) + stepM)
    this.#cruiseMs.push(cruiseMs)
  }

  /** Adds the stretch of a road between two distances from its beginning, in either direction. */
  addRoad(road: Road, fromM: number, toM: number): void {
    this.add(locate(road, fromM).point, speedAt(road, fromM))
    const forward = toM > fromM
    for (let step = 0; step < road.points.length; step += 1) {
      const at = forward ? step : road.points.length - 1 - step
      const metres = road.metres[at]!
      const between = forward ? metres > fromM && metres < toM : metres < fromM && metres > toM
      if (between) this.add(road.points[at]!, speedAt(road, metres))
    }
    this.add(locate(road, toM).point, speedAt(road, toM))
  }

  build(): Route {
    return { points: this.#points, metres: this.#metres, cruiseMs: this.#cruiseMs, lengthM: this.#metres.at(-1) ?? 0 }
  }
}

function speedAt(road: Road, alongM: number): number {
  const toTownM = Math.min(alongM, road.lengthM - alongM)
  return toTownM < TOWN_LIMIT_M ? Math.min(TOWN_SPEED_MS, road.cruiseMs) : road.cruiseMs
}
