import { parseArgs } from 'node:util'
import { LakeReadOnlyError, type QueryResult, queryLake } from '@km0/lake'
import { type Command, CommandError } from './command.ts'
import { LAKE_ADDRESS_HELP, withLake } from './lake-open.ts'

const MAX_CELL = 60

export const lakeSql: Command = {
  words: ['lake', 'sql'],
  summary: 'ask the lake in SQL; it cannot be changed',
  help: `km0 lake sql "SELECT …" [--limit ROWS] [--json]

  Runs one reading statement of DuckDB's SQL over the tables positions, stock_events, late_positions, dead_letters, late_stock,
  stock_dead_letters. Times are ms since 1970: to_timestamp(event_ms / 1000). A member that has no column is in value: value->>'$.bateria'.
  An earlier version: FROM positions AT (VERSION => N).
  --limit ROWS   most rows to print, default 200
  --json         one JSON object a row
  ${LAKE_ADDRESS_HELP}`,
  run: async (args) => {
    const options = { limit: { type: 'string', default: '200' }, json: { type: 'boolean', default: false } } as const
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [sql] = positionals
    if (sql === undefined || positionals.length > 1) throw new CommandError('give one statement in quotes: km0 lake sql "SELECT …"')
    const limit = Number(values.limit)
    if (!Number.isInteger(limit) || limit < 1) throw new CommandError(`--limit ${values.limit}: a whole number of 1 or more`)
    const result = await withLake(true, async (lake) => {
      try {
        return await queryLake(lake, sql, limit)
      } catch (error) {
        if (
          error instanceof LakeReadOnlyError ||
          /^(?:Parser|Binder|Catalog|Conversion|Invalid Input) Error/.test((error as Error).message)
        )
          throw new CommandError((error as Error).message)
        throw error
      }
    })
    process.stdout.write(values.json ? asJsonLines(result) : asTable(result))
    if (result.isCut) process.stderr.write(`only the first ${limit} rows; --limit takes more\n`)
    return 0
  },
}

function asJsonLines({ columns, rows }: QueryResult): string {
  return rows.map((row) => `${JSON.stringify(Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null])))}\n`).join('')
}

/** Columns side by side; long cells are cut, and end in `…`. */
export function asTable({ columns, rows }: Pick<QueryResult, 'columns' | 'rows'>): string {
  const cell = (text: string | null) => {
    const line = (text ?? '').replace(/\s/g, ' ')
    return line.length > MAX_CELL ? `${line.slice(0, MAX_CELL - 1)}…` : line
  }
  const cells = [columns, ...rows].map((row) => row.map(cell))
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0)))
  return cells
    .map(
      (row) =>
        `${row
          .map((text, index) => text.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
