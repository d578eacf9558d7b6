import type { Van } from './prepare-fleet.ts'

/** Slower than this is standing still for a person. */
const MOVING_KMH = 5

/** What a van said of itself with its last position, as far as it did: speed in km/h while it moved, battery in per cent. */
export function lastKnown({ point }: Pick<Van, 'point'>): { readonly speedKmh: number | null; readonly batteryPercent: number | null } {
  const speedKmh = point?.speedMmPerS == null ? null : Math.round(point.speedMmPerS * 0.0036)
  return { speedKmh: speedKmh !== null && speedKmh >= MOVING_KMH ? speedKmh : null, batteryPercent: point?.batteryPercent ?? null }
}
