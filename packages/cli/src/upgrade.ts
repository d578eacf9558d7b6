import { parseArgs } from 'node:util'
import {
  deleteSavepoint,
  listSavepoints,
  type ObjectStore,
  openCheckpointStore,
  pipelineEpoch,
  readEpoch,
  type Savepoint,
} from '@km0/checkpoints'
import { STOCK_WINDOWS_PIPELINE } from '@km0/pipelines'
import { MigrationError, openServing } from '@km0/serving'
import { type Log, openLog } from '@km0/transport'
import { findBrokers, findDatabaseUrl } from './addresses.ts'
import { CHECKPOINTS_HELP, openCheckpointPlace } from './checkpoints-open.ts'
import { type Command, CommandError } from './command.ts'
import { describeSavepoint, makeSavepoint } from './savepoint-create.ts'
import { type SavepointPipeline, savepointPipeline } from './savepoint-pipelines.ts'

const PREFIX = 'upgrade-'
const KEPT = 3

export const upgrade: Command = {
  words: ['upgrade'],
  summary: 'before a new version starts: keep the states of the stream, then bring the schema forward',
  help: `km0 upgrade [--wait SECONDS] [--keep NUMBER] [--without-savepoint] [--checkpoints PLACE]

  Run it with the new version, before any program of it starts; the programs of the old one may run on. It makes a savepoint of each pipeline
  whose states are stored (${PREFIX}TIME), whatever version made them, and then brings the schema of PostgreSQL to this version. Where a
  savepoint cannot be made it changes nothing, says why, and ends with 2. docs/upgrades.md.
  --wait  waits until the checkpoints hold all that is in the log; without it the newest ones are taken: what came since is in the log
  --keep  savepoints of upgrades that are kept, the newest of each pipeline; default ${KEPT}
  --without-savepoint  where the states are given up on purpose
  ${CHECKPOINTS_HELP}
  Takes KAFKA_BROKERS and DATABASE_URL, or the platform that \`npm start\` runs here; KM0_SETTINGS_FILE as the job has it.`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean', default: false } as const
    const options = { wait: text, keep: { ...text, default: String(KEPT) }, 'without-savepoint': flag, checkpoints: text }
    const { values } = parseArgs({ args: [...args], options })
    const waitMs = values.wait === undefined ? null : Number(values.wait) * 1000
    if (waitMs !== null && !(waitMs >= 0)) throw new CommandError(`--wait ${values.wait}: write a number of seconds`)
    const keep = Number(values.keep)
    if (!Number.isInteger(keep) || keep < 1) throw new CommandError(`--keep ${values.keep}: write a number, 1 or more`)
    if (!values['without-savepoint']) {
      const objects = openCheckpointPlace(values.checkpoints)
      const log = openLog({ brokers: findBrokers(process.env), clientId: 'km0-cli' })
      const name = `${PREFIX}${new Date()
        .toISOString()
        .replaceAll(/[-:]|\.\d+/g, '')
        .toLowerCase()}`
      for (const pipeline of ['positions', STOCK_WINDOWS_PIPELINE]) {
        const savepoint = await keepStates(name, savepointPipeline(pipeline), objects, log, waitMs)
        process.stdout.write(
          savepoint === null ? `${pipeline}: no states are stored, there is nothing to keep\n` : describeSavepoint(savepoint),
        )
        for (const old of await deleteOlder(objects, pipeline, keep)) process.stdout.write(`savepoint ${old} of ${pipeline} is deleted\n`)
      }
    }
    const applied = await bringForward()
    process.stdout.write(applied.length === 0 ? 'the schema is that of this version\n' : `migrations ${applied.join(', ')} are applied\n`)
    return 0
  },
}

/** A savepoint of the states that are there, whichever version of the pipeline made them; null where there are none. Throws CommandError. */
async function keepStates(
  name: string,
  pipeline: SavepointPipeline,
  objects: ObjectStore,
  log: Log,
  waitMs: number | null,
): Promise<Savepoint | null> {
  const known = await readEpoch(objects)
  if (known === null) return null
  const stored = await openCheckpointStore({ objects, keep: 2 }).list(pipeline.pipeline)
  const first = pipelineEpoch(known, pipeline.pipeline, 1)
  // States of a version that is newer than this one are no older version's business: the job would begin anew.
  const newest = Math.max(...stored.map(({ epoch }) => epoch))
  if (stored.length === 0 || newest < first) return null
  const version = newest - first + 1
  if (version > pipeline.version)
    throw new CommandError(
      `the states of ${pipeline.pipeline} were made by version ${version} of its rules, and this program has ${pipeline.version}: is it the older one?`,
    )
  try {
    return await makeSavepoint({ name, pipeline: { ...pipeline, version }, objects, log, waitMs })
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(
      `no savepoint of ${pipeline.pipeline}, so nothing was changed: ${error.message} Mend that, or give the states up with --without-savepoint: the job then reads the log again, as far as it is kept.`,
      { cause: error },
    )
  }
}

async function deleteOlder(objects: ObjectStore, pipeline: string, keep: number): Promise<string[]> {
  const own = (await listSavepoints(objects)).savepoints.filter(
    (savepoint) => savepoint.pipeline === pipeline && savepoint.name.startsWith(PREFIX),
  )
  const old = own.sort((a, b) => b.createdAtMs - a.createdAtMs).slice(keep)
  for (const { name } of old) await deleteSavepoint(objects, pipeline, name)
  return old.map(({ name }) => name)
}

async function bringForward(): Promise<number[]> {
  const serving = openServing({ databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' })
  try {
    return await serving.migrate()
  } catch (error) {
    if (error instanceof MigrationError) throw new CommandError(error.message, { cause: error })
    throw error
  } finally {
    await serving.close()
  }
}
