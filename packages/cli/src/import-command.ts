import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { type ImportCounts, type Numbered, openServing, RegisterImportError, type Serving } from '@km0/serving'
import { findDatabaseUrl } from './addresses.ts'
import { type Command, CommandError } from './command.ts'
import type { CsvProblem, CsvRows } from './register-csv.ts'

/** How many faulty lines are printed. */
const SHOW_PROBLEMS = 20

/** A command that reads a CSV file and puts all of its rows into the register, or none. */
export function importCommand<Row>(options: {
  readonly what: 'vans' | 'depots'
  readonly columns: string
  readonly notes: string
  readonly read: (csv: string) => CsvRows<Row>
  readonly store: (serving: Serving, rows: readonly Numbered<Row>[]) => Promise<ImportCounts>
}): Command {
  const { what, columns } = options
  return {
    words: [what, 'import'],
    summary: `put ${what} of a CSV file into the register`,
    help: `km0 ${what} import FILE.csv

  Columns: ${columns} (those with ? may be left out; separated by commas, the first line names them)
${options.notes}
  All lines are stored or none. ${what[0]?.toUpperCase()}${what.slice(1)} that the file does not name stay as they are.
  Takes DATABASE_URL, or the platform that \`npm start\` runs here.`,
    run: async (args) => {
      const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} })
      const [file, ...more] = positionals
      if (file === undefined || more.length > 0) throw new CommandError(`say one file: km0 ${what} import FILE.csv`)
      const parsed = options.read(await readText(file))
      if ('problems' in parsed) return refuse(file, parsed.problems)
      const serving = openServing({ databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' })
      try {
        await serving.migrate()
        const { added, changed, same } = await options.store(serving, parsed.rows)
        process.stdout.write(`${file}: ${added} ${what} added, ${changed} changed, ${same} as before\n`)
        return 0
      } catch (error) {
        if (error instanceof RegisterImportError) return refuse(file, error.problems)
        throw error
      } finally {
        await serving.close()
      }
    },
  }
}

async function readText(file: string): Promise<string> {
  let bytes: Buffer
  try {
    bytes = await readFile(file)
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new CommandError(`${file} is not UTF-8: save it as "CSV UTF-8"`)
  }
}

function refuse(file: string, problems: readonly CsvProblem[]): number {
  for (const { line, problem } of problems.slice(0, SHOW_PROBLEMS)) process.stderr.write(`${file}:${line}: ${problem}\n`)
  if (problems.length > SHOW_PROBLEMS) process.stderr.write(`… and ${problems.length - SHOW_PROBLEMS} more\n`)
  process.stderr.write('Nothing was imported.\n')
  return 1
}
