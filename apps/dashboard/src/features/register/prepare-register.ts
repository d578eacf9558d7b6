import { type Market, REGISTER_KINDS, type RegisterKind, type RegisterView, type Shift, WEEKDAYS } from '@km0/contracts/dispatch'
import { madridDate } from '@km0/contracts/madrid'
import type { Depot, RegisteredVan } from '@km0/contracts/panel'
import { calendarsOf, type ShiftNow } from '@km0/contracts/shift-calendar'
import { compareNames } from '../van/prepare-fleet.ts'

/** Which register is open; part of the address. */
export function partOf(text: string | string[] | undefined): RegisterKind {
  return REGISTER_KINDS.find((kind) => kind === text) ?? 'vans'
}

/** Rows of the table of vans at most; a search finds the others. */
export const VANS_SHOWN = 400

export type Service = 'in' | 'retired' | 'future'

export interface VanRow {
  readonly van: RegisteredVan
  readonly depotName: string | null
  readonly service: Service
  /** First and last day in service, `YYYY-MM-DD`; '' when there is none. */
  readonly from: string
  readonly to: string
}

/** Vans that a search finds, by name; those out of service last. */
export function prepareVanRows(view: RegisterView, search: string, nowMs: number): VanRow[] {
  const depots = new Map(view.depots.map((depot) => [depot.id, depot.name]))
  const words = plain(search).split(' ').filter(Boolean)
  const rows = view.vans.map((van): VanRow => {
    const { depotId, inServiceFromMs, inServiceToMs } = van
    return {
      van,
      depotName: depotId === null ? null : (depots.get(depotId) ?? depotId),
      service: (inServiceToMs ?? Number.POSITIVE_INFINITY) <= nowMs ? 'retired' : (inServiceFromMs ?? 0) > nowMs ? 'future' : 'in',
      from: inServiceFromMs === null ? '' : madridDate(inServiceFromMs),
      // The end is where the day after the last one begins.
      to: inServiceToMs === null ? '' : madridDate(inServiceToMs - 1),
    }
  })
  const found = rows.filter(({ van, depotName }) => {
    const text = plain(`${van.van} ${van.name} ${van.plate ?? ''} ${depotName ?? ''}`)
    return words.every((word) => text.includes(word))
  })
  return found.sort((a, b) => Number(a.service === 'retired') - Number(b.service === 'retired') || compareNames(a.van.name, b.van.name))
}

/** The last day in service of a van that is taken out of it now: yesterday, or its first day when that is later. */
export function retiredDay(row: VanRow, nowMs: number): string {
  const yesterday = madridDate(nowMs - 86_400_000)
  return [row.from, yesterday].sort().at(-1) as string
}

export interface DepotRow {
  readonly depot: Depot
  readonly vans: number
  readonly marketNames: readonly string[]
}

export function prepareDepotRows(view: RegisterView): DepotRow[] {
  const markets = new Map(view.markets.map((market) => [market.id, market.name]))
  return view.depots.map((depot) => ({
    depot,
    vans: view.vans.filter(({ depotId }) => depotId === depot.id).length,
    marketNames: depot.markets.map((market) => markets.get(market) ?? market),
  }))
}

export interface MarketRow {
  readonly market: Market
  readonly depotNames: readonly string[]
  /** Corners of its zone; null: it has none. */
  readonly positions: number | null
}

export function prepareMarketRows(view: RegisterView): MarketRow[] {
  return view.markets.map((market) => ({
    market,
    depotNames: view.depots.filter(({ markets }) => markets.includes(market.id)).map(({ name }) => name),
    positions:
      market.zone === null ? null : positionsOf(market.zone.type === 'Polygon' ? [market.zone.coordinates] : market.zone.coordinates),
  }))
}

const positionsOf = (polygons: readonly (readonly (readonly unknown[])[])[]) =>
  polygons.reduce((sum, rings) => sum + rings.reduce((count, ring) => count + Math.max(0, ring.length - 1), 0), 0)

export interface ShiftRow {
  readonly depot: Depot
  /** By weekday, Monday first: its hours, none on a day off. null: no calendar; the depot's daily hours, where it has some, stand in each day. */
  readonly week: readonly (readonly string[])[] | null
  /** Dates that differ from their weekday, in order, none of the past. */
  readonly exceptions: readonly { readonly date: string; readonly hours: readonly string[] }[]
  readonly now: ShiftNow | null
}

export function prepareShiftRows(view: RegisterView, nowMs: number): ShiftRow[] {
  const calendars = calendarsOf(view.depots, view.shifts)
  const today = madridDate(nowMs)
  return view.depots.map((depot) => {
    const own = view.shifts.filter(({ depotId }) => depotId === depot.id)
    const calendar = calendars.get(depot.id)
    const daily = depot.shiftStart === null || depot.shiftEnd === null ? [] : [`${depot.shiftStart}–${depot.shiftEnd}`]
    const dates = [...new Set(own.map(({ day }) => day).filter((day) => day.includes('-') && day >= today))].sort()
    return {
      depot,
      week: calendar === undefined ? null : WEEKDAYS.map((day) => (own.length > 0 ? hoursOf(own, day) : daily)),
      exceptions: dates.map((date) => ({ date, hours: hoursOf(own, date) })),
      now: calendar?.at(nowMs) ?? null,
    }
  })
}

function hoursOf(shifts: readonly Shift[], day: string): string[] {
  const own = shifts.filter((shift) => shift.day === day && shift.start !== null)
  return own.map(({ start, end }) => `${start}–${end}`)
}

/** Lower case without accents. */
const plain = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .trim()
