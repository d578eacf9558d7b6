import { homedir } from 'node:os'
import {
  type Lake,
  LakeMissingError,
  LakeNotInstalledError,
  LakeUnavailableError,
  lakeEnvironment,
  lakeSettingsOf,
  openLake,
  userCacheDir,
} from '@km0/lake'
import { parseEnvironment } from '@km0/runtime'
import { findDatabaseUrl } from './addresses.ts'
import { CommandError } from './command.ts'

/** What each `lake` command says of how it finds the lake. */
export const LAKE_ADDRESS_HELP =
  'Takes DATABASE_URL, or the platform that `npm start` runs here; the catalog there says where the files are. KM0_LAKE_* as the job has them.'

/** Opens the lake, gives it to `call` and closes it. Throws CommandError when there is none, or it cannot be opened here. */
export async function withLake<T>(readOnly: boolean, call: (lake: Lake) => Promise<T>): Promise<T> {
  const environment = parseEnvironment(lakeEnvironment, process.env)
  const settings = lakeSettingsOf(environment, findDatabaseUrl(process.env), userCacheDir(process.env, homedir()))
  const lake = await open(settings, readOnly)
  try {
    return await call(lake)
  } finally {
    lake.close()
  }
}

async function open(settings: ReturnType<typeof lakeSettingsOf>, readOnly: boolean): Promise<Lake> {
  try {
    return await openLake(settings, { readOnly, say: (line) => process.stderr.write(`${line}\n`) })
  } catch (error) {
    if (error instanceof LakeMissingError || error instanceof LakeNotInstalledError || error instanceof LakeUnavailableError)
      throw new CommandError(error.message, { cause: error })
    throw error
  }
}

/** Milliseconds of `--from` and `--to`: a whole number of ms, or a date or time as ISO 8601 writes it. Throws CommandError. */
export function instantOf(option: string, text: string): number {
  const ms = /^\d{10,14}$/.test(text) ? Number(text) : /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isFinite(ms))
    throw new CommandError(`--${option} ${text}: write 2026-03-29, 2026-03-29T01:00:00Z, or milliseconds since 1970`)
  return ms
}
