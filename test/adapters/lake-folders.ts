import { join } from 'node:path'
import { DEFAULT_LAKE_SETTINGS, LakeNotInstalledError, type LakeSettings, openLake } from '@km0/lake'
import type { TestServices } from '@km0/testkit/services'
import { cacheRoot } from '../../infra/embedded/cache.mjs'

/** Settings of a lake of the test's own in the PostgreSQL that it started; each name is another lake. */
export function lakeSettings(
  services: Pick<TestServices<{ postgres: true }>, 'postgres' | 'dataDir'>,
  name: string,
  changes: Partial<LakeSettings> = {},
): LakeSettings {
  return {
    ...DEFAULT_LAKE_SETTINGS,
    catalogUrl: services.postgres.url,
    catalogSchema: `lake_${name}`,
    dataPath: join(services.dataDir, 'lake', name),
    extensionsDir: join(cacheRoot(), 'duckdb'),
    temporaryDir: join(services.dataDir, 'lake-tmp'),
    ...changes,
  }
}

/** Whether the lake can be opened on this machine; says so when it cannot: the suite is then skipped where everybody sees it. */
export async function lakeMissing(services: Pick<TestServices<{ postgres: true }>, 'postgres' | 'dataDir'>): Promise<string | null> {
  try {
    const lake = await openLake(lakeSettings(services, 'probe'))
    lake.close()
    return null
  } catch (error) {
    if (!(error instanceof LakeNotInstalledError)) throw error
    console.warn(`lake tests are skipped: ${error.message}`)
    return error.message
  }
}
