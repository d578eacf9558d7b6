import { type Depot, isName, type Market, madridDateMs, madridDay, type RegisteredVan, type Shift, WEEKDAYS } from '@km0/contracts'
import { z } from 'zod'
import { type CsvRows, readRows } from './csv-rows.ts'
import { zoneText } from './zone.ts'

/** PostgreSQL takes no NUL, and nobody types the others. */
const hasControl = (value: string) => [...value].some((character) => character < ' ')
const text = (most: number) =>
  z
    .string()
    .max(most, `is longer than ${most} characters`)
    .refine((value) => !hasControl(value), 'has control characters')
const name = z.string().refine(isName, 'is not 1 to 64 characters without control characters')
const optional = <Schema extends z.ZodType>(schema: Schema) => z.union([z.literal('').transform(() => null), schema])
const coordinate = (most: number) =>
  z
    .string()
    .regex(/^-?\d+(\.\d+)?$/, 'is not a decimal number with a point')
    .transform(Number)
    .refine((degrees) => Math.abs(degrees) <= most, `is not within ±${most}`)
const clock = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'is not a time HH:MM')
const day = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}$/, 'is not a date YYYY-MM-DD')
  .transform((date, context) => {
    const startMs = madridDateMs(date)
    if (startMs === null) context.addIssue(`is not a day of the calendar`)
    return startMs ?? 0
  })

const vanColumns = {
  van: name,
  name: optional(text(100)),
  plate: optional(text(20)),
  depot: optional(name),
  in_service_from: optional(day),
  in_service_to: optional(day),
}

const depotColumns = {
  id: name,
  name: text(100).min(1, 'is empty'),
  lat: coordinate(90),
  lon: coordinate(180),
  markets: z
    .string()
    .refine((list) => !hasControl(list), 'has control characters')
    .transform((list) =>
      list
        .split(';')
        .map((market) => market.trim())
        .filter((market) => market !== ''),
    ),
  shift_start: optional(clock),
  shift_end: optional(clock),
}

const marketColumns = { id: name, name: text(100).min(1, 'is empty'), zone: optional(zoneText) }

/** `mon` … `sun`, `mon-fri`, or a date. */
const shiftDay = z.string().transform((given, context) => {
  const [first, last, ...more] = given.toLowerCase().split('-')
  const [from, to] = [first, last ?? first].map((weekday) => WEEKDAYS.indexOf(weekday as (typeof WEEKDAYS)[number])) as [number, number]
  if (more.length === 0 && from >= 0 && to >= from) return WEEKDAYS.slice(from, to + 1) as readonly string[]
  if (madridDateMs(given) === null) context.addIssue('is neither mon … sun, nor mon-fri, nor a date YYYY-MM-DD')
  return [given]
})
const shiftColumns = { depot: name, day: shiftDay, start: optional(clock), end: optional(clock) }

/** Columns of each file, in the order of the help text. Those with a `?` may be left out. */
export const VAN_COLUMNS = 'van,name?,plate?,depot?,in_service_from?,in_service_to?'
export const DEPOT_COLUMNS = 'id,name,lat,lon,markets?,shift_start?,shift_end?'
export const MARKET_COLUMNS = 'id,name,zone?'
export const SHIFT_COLUMNS = 'depot,day,start?,end?'

/** Vans in a CSV file: the van's name in the log, then what people call it, plate, depot, first and last day in service (Europe/Madrid). */
export function readVans(csv: string): CsvRows<RegisteredVan> {
  const schema = z.object(vanColumns).superRefine(({ in_service_from: from, in_service_to: to }, context) => {
    if (from !== null && to !== null && to < from) {
      context.addIssue({ code: 'custom', path: ['in_service_to'], message: 'is before in_service_from' })
    }
  })
  return readRows(csv, schema, ['van'], (row) => ({
    van: row.van,
    name: row.name ?? row.van,
    plate: row.plate,
    depotId: row.depot,
    inServiceFromMs: row.in_service_from,
    // The last day counts whole.
    inServiceToMs: row.in_service_to === null ? null : madridDay(row.in_service_to).endMs,
  }))
}

/** Depots in a CSV file. Markets are separated by semicolons; shift hours are local. */
export function readDepots(csv: string): CsvRows<Depot> {
  return readRows(csv, z.object(depotColumns), ['id', 'name', 'lat', 'lon'], (row) => ({
    id: row.id,
    name: row.name,
    lat: row.lat,
    lon: row.lon,
    markets: row.markets,
    shiftStart: row.shift_start,
    shiftEnd: row.shift_end,
  }))
}

/** Markets in a CSV file. A zone is GeoJSON: a Polygon or MultiPolygon, or a Feature or FeatureCollection of them. */
export function readMarkets(csv: string): CsvRows<Market> {
  return readRows(csv, z.object(marketColumns), ['id', 'name'], ({ id, name: called, zone }) => ({ id, name: called, zone }))
}

/** Shifts in a CSV file, a row a depot and day; `mon-fri` gives five. Without hours: nobody works that day. */
export function readShifts(csv: string): CsvRows<Shift> {
  const schema = z.object(shiftColumns).superRefine(({ start, end }, context) => {
    if ((start === null) !== (end === null))
      context.addIssue({ code: 'custom', path: ['end'], message: 'needs a start, and a start an end' })
  })
  const read = readRows(csv, schema, ['depot', 'day'], ({ depot, day: days, start, end }) =>
    days.map((weekday) => ({ depotId: depot, day: weekday, start, end })),
  )
  if ('problems' in read) return read
  return { rows: read.rows.flatMap(({ line, row }) => row.map((shift) => ({ line, row: shift }))) }
}
