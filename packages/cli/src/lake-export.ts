import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { exactFiles, exportRows, LAKE_TABLES, type LakeTable, tableNamed } from '@km0/lake'
import { type Command, CommandError } from './command.ts'
import { instantOf, LAKE_ADDRESS_HELP, withLake } from './lake-open.ts'

const NAMES = LAKE_TABLES.map(({ name }) => name).join(', ')

function tableOption(name: string): LakeTable {
  const table = tableNamed(name)
  if (table === null) throw new CommandError(`there is no table "${name}"; the lake has ${NAMES}`)
  return table
}

export const lakeExport: Command = {
  words: ['lake', 'export'],
  summary: 'write a range of the lake into a file',
  help: `km0 lake export --format parquet|csv --from TIME --to TIME --out FILE [--table positions]

  Rows with from <= event time < to (dead letters: arrival time), in one file. TIME is a date, a time as ISO 8601 writes it, or ms since 1970.
  Tables: ${NAMES}.
  Delta is not written: no well-kept library writes it from Node, and DuckDB's own writer can neither create such a table nor fill more than
  one day at a time. Spark, Flink and Polars read the lake's Parquet files as they are: \`km0 lake files\` lists them.
  ${LAKE_ADDRESS_HELP}`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const options = { format: text, from: text, to: text, out: text, table: { ...text, default: 'positions' } }
    const { values } = parseArgs({ args: [...args], options })
    const { format, from, to, out } = values
    if (format === 'delta') throw new CommandError('delta is not written; take --format parquet, or the files that `km0 lake files` lists')
    if (format !== 'parquet' && format !== 'csv') throw new CommandError('say --format parquet or --format csv')
    if (from === undefined || to === undefined || out === undefined) throw new CommandError('--from, --to and --out are needed')
    const file = resolve(out)
    if (existsSync(file)) throw new CommandError(`${file} exists already`)
    const range = { fromMs: instantOf('from', from), toMs: instantOf('to', to) }
    if (range.fromMs >= range.toMs) throw new CommandError('--from must be before --to')
    const table = tableOption(values.table)
    const rows = await withLake(true, (lake) => exportRows(lake, { table, format, ...range, file }))
    process.stdout.write(`${rows} rows of ${table.name} in ${file}\n`)
    return 0
  },
}

export const lakeFiles: Command = {
  words: ['lake', 'files'],
  summary: "list a table's Parquet files, for Spark, Flink or Polars",
  help: `km0 lake files [--table positions]

  Writes what still stands in the catalog into files, and prints the exact list of files that make up the table now, one a line. A pattern
  over the folder would also find files that are no longer part of it. Tables: ${NAMES}.
  ${LAKE_ADDRESS_HELP}`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { table: { type: 'string', default: 'positions' } } })
    const table = tableOption(values.table)
    const files = await withLake(false, (lake) => exactFiles(lake, table))
    process.stdout.write(files.map((file) => `${file}\n`).join(''))
    return 0
  },
}
