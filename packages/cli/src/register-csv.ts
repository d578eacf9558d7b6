import { type Depot, isName, type RegisteredVan } from '@km0/contracts'
import type { Numbered } from '@km0/serving'
import { CsvError, parse } from 'csv-parse/sync'
import { z } from 'zod'
import { madridDayStartMs } from './madrid-day.ts'

/** What is wrong with a file, by line; line 1 is the heading. */
export interface CsvProblem {
  readonly line: number
  readonly problem: string
}

export type CsvRows<Row> = { readonly rows: readonly Numbered<Row>[] } | { readonly problems: readonly CsvProblem[] }

const text = (most: number) => z.string().max(most, `is longer than ${most} characters`)
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
    const startMs = madridDayStartMs(date)
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
  markets: z.string().transform((list) =>
    list
      .split(';')
      .map((market) => market.trim())
      .filter((market) => market !== ''),
  ),
  shift_start: optional(clock),
  shift_end: optional(clock),
}

/** Columns of each file, in the order of the help text. Those with a `?` may be left out. */
export const VAN_COLUMNS = 'van,name?,plate?,depot?,in_service_from?,in_service_to?'
export const DEPOT_COLUMNS = 'id,name,lat,lon,markets?,shift_start?,shift_end?'

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
    inServiceToMs: row.in_service_to === null ? null : endOfDayMs(row.in_service_to),
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

function endOfDayMs(startMs: number): number {
  // 36 hours on is within the next day, whatever the clocks do.
  const next = new Date(startMs + 36 * 3_600_000).toISOString().slice(0, 10)
  return madridDayStartMs(next) ?? startMs
}

function readRows<Shape extends z.ZodRawShape, Row>(
  csv: string,
  schema: z.ZodObject<Shape>,
  required: readonly string[],
  toRow: (row: z.infer<z.ZodObject<Shape>>) => Row,
): CsvRows<Row> {
  const cells = readCells(csv)
  if ('problems' in cells) return cells
  const known = Object.keys(schema.shape)
  const [heading, ...body] = cells.rows
  if (heading === undefined) return { problems: [{ line: 1, problem: 'the file is empty' }] }
  const columns = heading.cells.map((cell) => cell.trim().toLowerCase())
  const problems: CsvProblem[] = [
    ...columns.filter((column) => !known.includes(column)).map((column) => `there is no column "${column}"; known are ${known.join(', ')}`),
    ...required.filter((column) => !columns.includes(column)).map((column) => `column "${column}" is missing`),
    ...columns.filter((column, index) => columns.indexOf(column) !== index).map((column) => `column "${column}" stands there twice`),
  ].map((problem) => ({ line: heading.line, problem }))
  if (problems.length > 0) return { problems }
  const rows: Numbered<Row>[] = []
  for (const { line, cells: row } of body) {
    if (row.length !== columns.length) {
      problems.push({ line, problem: `${row.length} values instead of ${columns.length}` })
      continue
    }
    const given = Object.fromEntries(known.map((column) => [column, row[columns.indexOf(column)]?.trim() ?? '']))
    const parsed = schema.safeParse(given)
    if (parsed.success) rows.push({ line, row: toRow(parsed.data) })
    else problems.push(...problemsOf(parsed.error, given, line))
  }
  return problems.length > 0 ? { problems } : { rows }
}

/** One problem a column: a union tells its own and those of its members. */
function problemsOf(error: z.ZodError, given: Readonly<Record<string, string>>, line: number): CsvProblem[] {
  const byColumn = new Map<string, string>()
  for (const issue of error.issues) {
    const column = String(issue.path[0])
    const members = issue.code === 'invalid_union' ? issue.errors.flat() : []
    const message = members.find((member) => member.code !== 'invalid_value')?.message ?? issue.message
    if (!byColumn.has(column)) byColumn.set(column, message)
  }
  return [...byColumn].map(([column, message]) => ({ line, problem: `${column} "${given[column] ?? ''}" ${message}` }))
}

interface Line {
  readonly line: number
  readonly cells: readonly string[]
}

function readCells(csv: string): { readonly rows: readonly Line[] } | { readonly problems: readonly CsvProblem[] } {
  try {
    const records = parse(csv, { bom: true, info: true, relax_column_count: true, skip_empty_lines: true }) as unknown as {
      record: string[]
      info: { lines: number }
    }[]
    return { rows: records.map(({ record, info }) => ({ line: info.lines, cells: record })) }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    return { problems: [{ line: typeof error.lines === 'number' ? error.lines : 1, problem: error.message }] }
  }
}
