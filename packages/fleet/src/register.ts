import { moved } from './geography/earth.ts'
import { DEPOTS, type DepotPlan, vanPlan } from './vans/depots.ts'
import type { Hours } from './vans/shifts.ts'

/** First day on which the demo's vans are in service. */
const IN_SERVICE_FROM = '2026-01-01'
/** Vans that stand in reserve, and one that is gone: registered, never heard. */
const RESERVE = { id: 'reserva', name: 'Reserva', vans: 8 }
const RETIRED_TO = '2026-06-30'
/** Corners and radius of a market's zone: nearly all rounds of its depot are within. */
const ZONE_CORNERS = 12
const ZONE_RADIUS_M = 30_000

export const REGISTERS = ['depots', 'shifts', 'markets', 'vans'] as const
export type RegisterName = (typeof REGISTERS)[number]

/** A part of the demo fleet's register, for `km0 … import`. */
export function registerCsv(which: RegisterName, vans: number, hours: Hours): string {
  switch (which) {
    case 'depots':
      return depotsCsv(hours)
    case 'shifts':
      return shiftsCsv(hours)
    case 'markets':
      return marketsCsv()
    case 'vans':
      return vansCsv(vans)
  }
}

/** The fleet's vans, then those in reserve and the one that is out of service. */
function vansCsv(vans: number): string {
  const driven = Array.from({ length: vans }, (_, index) => vanPlan(index + 1)).map((plan) => [
    ...[plan.van, `Furgoneta ${plan.number}`, plan.plate, plan.depot.id],
    ...[IN_SERVICE_FROM, ''],
  ])
  const reserve = Array.from({ length: RESERVE.vans }, (_, index) => [
    ...[`reserva-${index + 1}`, `Reserva ${index + 1}`, '', RESERVE.id],
    ...[IN_SERVICE_FROM, ''],
  ])
  const retired = ['reserva-0', 'Reserva 0', '', RESERVE.id, IN_SERVICE_FROM, RETIRED_TO]
  return csv(['van', 'name', 'plate', 'depot', 'in_service_from', 'in_service_to'], [...driven, ...reserve, retired])
}

/** Markets are joined by `;`. With the demo's hours no daily shift is given: the calendar has them around the clock. */
function depotsCsv(hours: Hours): string {
  const rows = DEPOTS.map((depot) => [
    ...[depot.id, depot.name, ...coordinates(depot), depot.markets.join(';')],
    ...(hours === 'madrid' ? [depot.shiftStart, depot.shiftEnd] : ['', '']),
  ])
  const [first] = DEPOTS as [DepotPlan]
  return csv(
    ['id', 'name', 'lat', 'lon', 'markets', 'shift_start', 'shift_end'],
    [...rows, [RESERVE.id, RESERVE.name, ...coordinates(first), '', '', '']],
  )
}

/** Around the clock for the demo, which never rests; else from Monday to Saturday. Nobody drives what is in reserve. */
function shiftsCsv(hours: Hours): string {
  const rows = DEPOTS.flatMap(({ id, shiftStart, shiftEnd }) =>
    hours === 'always'
      ? [[id, 'mon-sun', '00:00', '00:00']]
      : [
          [id, 'mon-sat', shiftStart, shiftEnd],
          [id, 'sun', '', ''],
        ],
  )
  return csv(['depot', 'day', 'start', 'end'], [...rows, [RESERVE.id, 'mon-sun', '', '']])
}

/** Each market with a zone around its depot. */
function marketsCsv(): string {
  const rows = DEPOTS.flatMap((depot) => depot.markets.map((market) => [market, titleOf(market), zoneAround(depot)]))
  return csv(['id', 'name', 'zone'], rows)
}

function zoneAround(depot: DepotPlan): string {
  const ring = Array.from({ length: ZONE_CORNERS + 1 }, (_, corner) => {
    const angle = ((corner % ZONE_CORNERS) / ZONE_CORNERS) * 2 * Math.PI
    const { lat, lon } = moved(depot.place.point, ZONE_RADIUS_M * Math.cos(angle), ZONE_RADIUS_M * Math.sin(angle))
    return [Number(lon.toFixed(5)), Number(lat.toFixed(5))]
  })
  return JSON.stringify({ type: 'Polygon', coordinates: [ring] })
}

const coordinates = ({ place: { point } }: DepotPlan) => [point.lat.toFixed(6), point.lon.toFixed(6)]

/** `la-bisbal`: La Bisbal. */
const titleOf = (market: string) =>
  market
    .split('-')
    .map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
    .join(' ')

function csv(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const quoted = (cell: string) => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)
  return `${[header, ...rows].map((cells) => cells.map(quoted).join(',')).join('\n')}\n`
}
