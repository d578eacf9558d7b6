import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { fetchExtensions, LakeNotInstalledError, lakeEnvironment, userCacheDir } from '@km0/lake'
import { parseEnvironment } from '@km0/runtime'
import { type Command, CommandError } from './command.ts'

export const lakeExtensions: Command = {
  words: ['lake', 'extensions'],
  summary: "fetch DuckDB's extensions, so that nothing is fetched at run time",
  help: `km0 lake extensions

  Puts the extensions of exactly this engine's version into KM0_LAKE_EXTENSIONS, by DuckDB's own hub or the Python package index. Does nothing
  when they are there. For images and for machines that have no way out later.`,
  run: async () => {
    const environment = parseEnvironment(lakeEnvironment, process.env)
    const folder = environment.KM0_LAKE_EXTENSIONS ?? resolve(userCacheDir(process.env, homedir()), 'duckdb')
    try {
      await fetchExtensions(folder, (line) => process.stderr.write(`${line}\n`))
    } catch (error) {
      if (error instanceof LakeNotInstalledError) throw new CommandError(error.message, { cause: error })
      throw error
    }
    process.stdout.write(`${folder}\n`)
    return 0
  },
}
