// A worker process of the batch program: does one job at a time that its parent sends, and ends with it.
import { homedir } from 'node:os'
import { readPipelineSettings } from '@km0/contracts/pipeline-settings-file'
import { lakeSettingsOf, userCacheDir } from '@km0/lake'
import { environmentOrExit, loadSettings } from '@km0/runtime'
import { openBackfills } from '@km0/serving'
import { RefusedError } from './backfill/context.ts'
import { explainedFault } from './backfill/faults.ts'
import { HANDLERS } from './backfill/handlers.ts'
import { LakeHandle } from './backfill/lake-handle.ts'
import type { FromWorker, ToWorker } from './backfill/messages.ts'
import { workerEnvironment } from './environment.ts'

const settings = environmentOrExit('batch-worker', workerEnvironment)
const pipelines = loadSettings('batch-worker', process.env, (text, file) => readPipelineSettings(text, file, process.env))
const lake = new LakeHandle(lakeSettingsOf(settings, settings.DATABASE_URL, userCacheDir(process.env, homedir())))
const store = openBackfills({ databaseUrl: settings.DATABASE_URL, applicationName: 'km0-batch-worker', maxConnections: 2 })
const limits = { pointsPerPiece: settings.KM0_BATCH_PIECE_POINTS, keepVersions: settings.KM0_BATCH_KEEP_VERSIONS }

const tell = (message: FromWorker) => process.send?.(message)

async function work({ id, kind, payload }: ToWorker): Promise<void> {
  try {
    const handler = HANDLERS[kind]
    if (handler === undefined) throw new RefusedError(`a worker knows no job of kind "${kind}"`)
    const value = await lake.use((open) =>
      handler({ lake: open, store, pipelines, limits, nowMs: Date.now }, payload, async (share) => {
        tell({ id, type: 'share', share })
      }),
    )
    tell({ id, type: 'result', value })
  } catch (error) {
    tell({ id, type: 'error', message: explainedFault(error), isRefused: error instanceof RefusedError })
  }
}

process.on('message', (message) => void work(message as ToWorker))
// The parent is gone, however it ended: nobody would take the result.
process.on('disconnect', () => process.exit(0))
// Ctrl-C goes to all processes of a terminal; the parent decides when this one ends.
process.on('SIGINT', () => undefined)
