import { metresBetween } from '@km0/contracts/metres-between'
import type { Van } from '../van/prepare-fleet.ts'

/** How many of the others were last seen within a distance of where this van was; 0 for one without a position. */
export function countNear(van: Van, others: readonly Van[], distanceMm: number): number {
  const here = van.point
  if (here === null) return 0
  return others.filter((other) => other.van !== van.van && other.point !== null && metresBetween(here, other.point) * 1_000 <= distanceMm)
    .length
}
