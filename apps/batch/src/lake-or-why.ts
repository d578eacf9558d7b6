import { homedir } from 'node:os'
import {
  type Lake,
  type LakeEnvironment,
  LakeMissingError,
  LakeNotInstalledError,
  LakeUnavailableError,
  lakeSettingsOf,
  openLake,
  userCacheDir,
} from '@km0/lake'

/** The lake, read only, opened for one call; where there is none, `call` gets the reason. */
export async function withLakeOrWhy<T>(
  settings: LakeEnvironment & { readonly DATABASE_URL: string },
  call: (lake: Lake | string) => Promise<T>,
): Promise<T> {
  const lake = await open(settings)
  try {
    return await call(lake)
  } finally {
    if (typeof lake !== 'string') lake.close()
  }
}

async function open(settings: LakeEnvironment & { readonly DATABASE_URL: string }): Promise<Lake | string> {
  try {
    return await openLake(lakeSettingsOf(settings, settings.DATABASE_URL, userCacheDir(process.env, homedir())), { readOnly: true })
  } catch (error) {
    if (error instanceof LakeMissingError || error instanceof LakeNotInstalledError || error instanceof LakeUnavailableError)
      return error.message
    throw error
  }
}
