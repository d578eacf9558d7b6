import { DEPOTS, vanPlan } from './vans/depots.ts'
import type { Hours } from './vans/shifts.ts'

/** First day on which the demo's vans are in service. */
const IN_SERVICE_FROM = '2026-01-01'

/** vans.csv of the demo fleet, for `km0 vans import`. None has an end of service. */
export function vansCsv(vans: number): string {
  const rows = Array.from({ length: vans }, (_, index) => vanPlan(index + 1)).map((plan) => [
    plan.van,
    `Furgoneta ${plan.number}`,
    plan.plate,
    plan.depot.id,
    IN_SERVICE_FROM,
    '',
  ])
  return csv(['van', 'name', 'plate', 'depot', 'in_service_from', 'in_service_to'], rows)
}

/** depots.csv of the demo fleet. Markets are joined by `;`. With the demo's hours no shift is given: it never rests. */
export function depotsCsv(hours: Hours): string {
  const rows = DEPOTS.map((depot) => [
    depot.id,
    depot.name,
    depot.place.point.lat.toFixed(6),
    depot.place.point.lon.toFixed(6),
    depot.markets.join(';'),
    hours === 'madrid' ? depot.shiftStart : '',
    hours === 'madrid' ? depot.shiftEnd : '',
  ])
  return csv(['id', 'name', 'lat', 'lon', 'markets', 'shift_start', 'shift_end'], rows)
}

/** No cell of ours needs quotes; one that would is a broken invariant. */
function csv(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows].map((cells) => {
    if (cells.some((cell) => /[",\n]/.test(cell))) throw new Error(`a cell needs quotes: ${cells.join(' | ')}`)
    return cells.join(',')
  })
  return `${lines.join('\n')}\n`
}
