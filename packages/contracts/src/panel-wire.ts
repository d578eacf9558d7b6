import type { DistanceView, PanelDelta, PanelSnapshot } from './panel.ts'

/**
 * How snapshots and deltas travel on the socket. Both ends use these four functions and nothing else knows the form, so a packed one can
 * replace it. Windows are the bulk (35 rows a van): they go as one array of numbers a van, a fifth of the size of objects.
 */

const NUMBERS_PER_WINDOW = 7

/** van, depot, then 7 numbers a window: start, end, distance, positions, jumps, displacement, revision. */
type WireDistances = readonly (readonly [van: string, depotId: string | null, windows: readonly number[]])[]

export type WireSnapshot = Omit<PanelSnapshot, 'distances'> & { readonly distances: WireDistances }
export type WireDelta = Omit<PanelDelta, 'distances'> & { readonly distances?: WireDistances }

export function encodeSnapshot(snapshot: PanelSnapshot): WireSnapshot {
  return { ...snapshot, distances: encodeDistances(snapshot.distances) }
}

/** The snapshot that `encodeSnapshot` was given, distances grouped by van. Throws when it comes from another version of the server. */
export function decodeSnapshot(wire: unknown): PanelSnapshot {
  const given = wire as WireSnapshot
  return { ...given, distances: decodeDistances(given.distances) }
}

export function encodeDelta(delta: PanelDelta): WireDelta {
  const { distances, ...rest } = delta
  return distances === undefined ? rest : { ...rest, distances: encodeDistances(distances) }
}

/** The delta that `encodeDelta` was given, distances grouped by van. Throws when it comes from another version of the server. */
export function decodeDelta(wire: unknown): PanelDelta {
  const { distances, ...rest } = wire as WireDelta
  return distances === undefined ? rest : { ...rest, distances: decodeDistances(distances) }
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
      const [windowStartMs, windowEndMs, distanceMm, positions, jumps, displacementMm, revision] = numbers.slice(at) as [
        number,
        number,
        number,
        number,
        number,
        number,
        number,
      ]
      rows.push({ van, depotId, windowStartMs, windowEndMs, distanceMm, positions, jumps, displacementMm, revision })
    }
  }
  return rows
}
