import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
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
  help: `km0 lake export --format parquet|delta|csv --from TIME --to TIME --out PATH [--table positions]

  Rows with from <= event time < to (dead letters: arrival time). parquet and csv: one file. delta: a folder that Spark, Flink, Polars and
  others read as a Delta table of one version, partitioned by event_day. PATH must not exist. TIME is a date, a time as ISO 8601 writes it, or ms
  since 1970. Tables: ${NAMES}.
  Prints exactly the files that hold the rows, one a line; what was done stands on standard error. Without copying anything, engines can read
  the lake's own Parquet files: \`km0 lake files\` lists them.
  ${LAKE_ADDRESS_HELP}`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const options = { format: text, from: text, to: text, out: text, table: { ...text, default: 'positions' } }
    const { values } = parseArgs({ args: [...args], options })
    const { format, from, to, out } = values
    if (format !== 'parquet' && format !== 'csv' && format !== 'delta') throw new CommandError('say --format parquet, delta or csv')
    if (from === undefined || to === undefined || out === undefined) throw new CommandError('--from, --to and --out are needed')
    const path = resolve(out)
    if (existsSync(path)) throw new CommandError(`${path} exists already`)
    if (!existsSync(dirname(path))) throw new CommandError(`there is no folder ${dirname(path)}`)
    const range = { fromMs: instantOf('from', from), toMs: instantOf('to', to) }
    if (range.fromMs >= range.toMs) throw new CommandError('--from must be before --to')
    const table = tableOption(values.table)
    const { rows, files } = await withLake(true, (lake) => exportRows(lake, { table, format, ...range, path }))
    process.stdout.write(files.map((file) => `${file}\n`).join(''))
    process.stderr.write(`${rows} rows of ${table.name} in ${format === 'delta' ? `the Delta table ${path}` : path}\n`)
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
