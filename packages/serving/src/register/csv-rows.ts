import { CsvError, parse } from 'csv-parse/sync'
import type { z } from 'zod'
import type { Numbered } from '../register.ts'

/** What is wrong with a file, by line; line 1 is the heading. */
export interface CsvProblem {
  readonly line: number
  readonly problem: string
}

export type CsvRows<Row> = { readonly rows: readonly Numbered<Row>[] } | { readonly problems: readonly CsvProblem[] }

/**
 * The rows of a CSV file whose first line names its columns: all of them, or what is wrong with each line. `schema` has a text a column; columns
 * that are not required may be left out.
 */
export function readRows<Shape extends z.ZodRawShape, Row>(
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
  return [...byColumn].map(([column, message]) => ({ line, problem: `${column} "${shown(given[column] ?? '')}" ${message}` }))
}

/** A zone may be long. */
const shown = (value: string) => (value.length > 60 ? `${value.slice(0, 57)}…` : value)

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
