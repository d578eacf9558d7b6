import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { RegisterKind } from '@km0/contracts'
import { openDispatch, openServing } from '@km0/serving'
import { findDatabaseUrl } from './addresses.ts'
import { type Command, CommandError } from './command.ts'

/** How many faulty lines are printed. */
const SHOW_PROBLEMS = 20

/** A command that reads a CSV file and puts all of its rows into the register, or none. */
export function importCommand(options: { readonly what: RegisterKind; readonly columns: string; readonly notes: string }): Command {
  const { what, columns } = options
  return {
    words: [what, 'import'],
    summary: `put ${what} of a CSV file into the register`,
    help: `km0 ${what} import FILE.csv

  Columns: ${columns} (those with ? may be left out; separated by commas, the first line names them)
${options.notes}
  All lines are stored or none. What the file does not name stays as it is.
  Takes DATABASE_URL, or the platform that \`npm start\` runs here.`,
    run: async (args) => {
      const { positionals } = parseArgs({ args: [...args], allowPositionals: true, options: {} })
      const [file, ...more] = positionals
      if (file === undefined || more.length > 0) throw new CommandError(`say one file: km0 ${what} import FILE.csv`)
      const csv = await readText(file)
      const database = { databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' }
      const serving = openServing(database)
      const dispatch = openDispatch(database)
      try {
        await serving.migrate()
        const result = await dispatch.importCsv(what, csv)
        if ('problems' in result) return refuse(file, result.problems)
        process.stdout.write(`${file}: ${result.added} ${what} added, ${result.changed} changed, ${result.same} as before\n`)
        return 0
      } finally {
        await dispatch.close()
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

function refuse(file: string, problems: readonly { readonly line: number; readonly problem: string }[]): number {
  for (const { line, problem } of problems.slice(0, SHOW_PROBLEMS)) process.stderr.write(`${file}:${line}: ${problem}\n`)
  if (problems.length > SHOW_PROBLEMS) process.stderr.write(`… and ${problems.length - SHOW_PROBLEMS} more\n`)
  process.stderr.write('Nothing was imported.\n')
  return 1
}
