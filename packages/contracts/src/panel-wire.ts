import type { DistanceView, PanelDelta, PanelSnapshot } from './panel.ts'
import { decodePoints, encodePoints, type WirePoints } from './panel-wire-points.ts'

/**
 * How snapshots and deltas travel on the socket. Both ends use these four functions and nothing else knows the form, so a packed one can
 * replace it. Windows are the bulk (35 rows a van): they go as one array of numbers a van, a fifth of the size of objects.
 */

const NUMBERS_PER_WINDOW = 7

/** van, depot, then 7 numbers a window: start, end, distance, positions, jumps, displacement, revision. */
type WireDistances = readonly (readonly [van: string, depotId: string | null, windows: readonly number[]])[]

export type WireSnapshot = Omit<PanelSnapshot, 'distances' | 'points'> & { readonly distances: WireDistances; readonly points: WirePoints }
export type WireDelta = Omit<PanelDelta, 'distances' | 'points'> & { readonly distances?: WireDistances; readonly points?: WirePoints }

export function encodeSnapshot(snapshot: PanelSnapshot): WireSnapshot {
  return { ...snapshot, points: encodePoints(snapshot.points), distances: encodeDistances(snapshot.distances) }
}

/** The snapshot that `encodeSnapshot` was given, distances grouped by van. Throws when it comes from another version of the server. */
export function decodeSnapshot(wire: unknown): PanelSnapshot {
  const given = wire as WireSnapshot
  return { ...given, points: decodePoints(given.points), distances: decodeDistances(given.distances) }
}

export function encodeDelta(delta: PanelDelta): WireDelta {
  const { distances, points, ...rest } = delta
  return {
    ...rest,
    ...(points === undefined ? {} : { points: encodePoints(points) }),
    ...(distances === undefined ? {} : { distances: encodeDistances(distances) }),
  }
}

/** The delta that `encodeDelta` was given, distances grouped by van. Throws when it comes from another version of the server. */
export function decodeDelta(wire: unknown): PanelDelta {
  const { distances, points, ...rest } = wire as WireDelta
  return {
    ...rest,
    ...(points === undefined ? {} : { points: decodePoints(points) }),
    ...(distances === undefined ? {} : { distances: decodeDistances(distances) }),
  }
}

function encodeDistances(rows: readonly DistanceView[]): WireDistances {
  const byVan = new Map<string, [string, string | null, number[]]>()
  for (const row of rows) {
    let entry = byVan.get(row.van)
    if (entry === undefined) {
      entry = [row.van, row.depotId, []]
      byVan.set(row.van, entry)
    }
    entry[2].push(row.windowStartMs, row.windowEndMs, row.distanceMm, row.positions, row.jumps, row.displacementMm, row.revision)
  }
  return [...byVan.values()]
}

function decodeDistances(wire: WireDistances): DistanceView[] {
  const rows: DistanceView[] = []
  for (const [van, depotId, numbers] of wire) {
    if (numbers.length % NUMBERS_PER_WINDOW !== 0)
      throw new Error(`the windows of ${van} hold ${numbers.length} numbers, not a multiple of 7`)
    for (let at = 0; at < numbers.length; at += NUMBERS_PER_WINDOW) {
      const [windowStartMs = 0, windowEndMs = 0, distanceMm = 0] = [numbers[at], numbers[at + 1], numbers[at + 2]]
      const [positions = 0, jumps = 0, displacementMm = 0, revision = 0] = [
        numbers[at + 3],
        numbers[at + 4],
        numbers[at + 5],
        numbers[at + 6],
      ]
      rows.push({ van, depotId, windowStartMs, windowEndMs, distanceMm, positions, jumps, displacementMm, revision })
    }
  }
  return rows
}
