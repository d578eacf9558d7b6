import { along, type Point } from '../geography/earth.ts'
import type { Route } from '../geography/route.ts'

/** A route with the second at which the van is at each of its points. */
export interface Drive {
  readonly route: Route
  /** Seconds since departure, one for each point of the route. */
  readonly seconds: readonly number[]
  readonly durationMs: number
}

const ACCELERATION_MS2 = 1.4
const BRAKING_MS2 = 1.8
const CRAWL_MS = 1.5

/**
 * Drives a route from standstill to standstill: what is usual on each stretch times `driver` (0.92 cautious … 1.06 brisk),
 * never accelerating or braking harder than a loaded van.
 */
export function drive(route: Route, driver: number): Drive {
  const last = route.points.length - 1
  const speeds = route.cruiseMs.map((cruiseMs, at) => (at === 0 || at === last ? CRAWL_MS : cruiseMs * driver))
  for (let at = 1; at <= last; at += 1) {
    speeds[at] = Math.min(speeds[at]!, Math.sqrt(speeds[at - 1]! ** 2 + 2 * ACCELERATION_MS2 * stepM(route, at)))
  }
  for (let at = last - 1; at >= 0; at -= 1) {
    speeds[at] = Math.min(speeds[at]!, Math.sqrt(speeds[at + 1]! ** 2 + 2 * BRAKING_MS2 * stepM(route, at + 1)))
  }
  const seconds = [0]
  for (let at = 1; at <= last; at += 1) {
    seconds.push(seconds[at - 1]! + (2 * stepM(route, at)) / (speeds[at - 1]! + speeds[at]!))
  }
  return { route, seconds, durationMs: Math.ceil(seconds.at(-1)! * 1000) }
}

/** Where the van is so long after departure; at the end of the route when it has arrived. */
export function pointOfDrive(way: Drive, elapsedMs: number): Point {
  const second = elapsedMs / 1000
  let low = 0
  let high = way.seconds.length - 1
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (way.seconds[middle]! <= second) low = middle
    else high = middle
  }
  const spanS = way.seconds[high]! - way.seconds[low]!
  const share = spanS <= 0 ? 1 : Math.min(1, Math.max(0, (second - way.seconds[low]!) / spanS))
  return along(way.route.points[low]!, way.route.points[high]!, share)
}

function stepM(route: Route, at: number): number {
  return route.metres[at]! - route.metres[at - 1]!
}
