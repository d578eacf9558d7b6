// The process that reads the lake for the panel: DuckDB with its memory and threads stays out of the one that is live, and can be ended.
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lakeSettingsOf, userCacheDir } from '@km0/lake'
import { commonEnvironment, environmentOrExit } from '@km0/runtime'
import { panelLakeEnvironment, readLimitsOf } from './server/lake/lake-environment.ts'
import { LakeTroubleError } from './server/lake/lake-reads.ts'
import { LocalLake } from './server/lake/local-lake.ts'
import type { FromReader, ToReader } from './server/lake/messages.ts'
import { readPlaces } from './server/places.ts'

const settings = environmentOrExit('dashboard-lake', commonEnvironment.extend(panelLakeEnvironment.shape))
const folder = join(dirname(fileURLToPath(import.meta.url)), '..')
const lake = new LocalLake({
  settings: lakeSettingsOf(settings, settings.DATABASE_URL, userCacheDir(process.env, homedir())),
  limits: readLimitsOf(settings),
  placeOf: readPlaces(join(folder, '.generated/municipalities.geo.json')),
})
const running = new Map<number, AbortController>()
const tell = (message: FromReader) => process.send?.(message)

async function answer(message: Exclude<ToReader, { kind: 'cancel' }>): Promise<void> {
  const { id } = message
  const abort = new AbortController()
  running.set(id, abort)
  try {
    await lake.open()
    tell({ id, kind: 'started' })
    const bytes =
      message.kind === 'vanDay' ? await lake.vanDay(message.query, abort.signal) : await lake.replay(message.query, abort.signal)
    tell({ id, kind: 'answer', bytes })
  } catch (error) {
    if (error instanceof LakeTroubleError) tell({ id, kind: 'trouble', trouble: error.trouble })
    else tell({ id, kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  } finally {
    running.delete(id)
  }
}

process.on('message', (message) => {
  const asked = message as ToReader
  if (asked.kind === 'cancel') running.get(asked.id)?.abort()
  else void answer(asked)
})
// The panel is gone, however it ended.
process.on('disconnect', () => process.exit(0))
// Ctrl-C goes to all processes of a terminal; the panel decides when this one ends.
process.on('SIGINT', () => undefined)
