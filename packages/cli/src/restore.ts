import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { ObjectStore } from '@km0/checkpoints'
import { lakeEnvironment } from '@km0/lake'
import { parseEnvironment } from '@km0/runtime'
import { openServing } from '@km0/serving'
import { RestoreRefusedError, requireRestorable, restoreDatabase } from '@km0/serving/backup/database-restore'
import { findDatabaseUrl } from './addresses.ts'
import { openLakeFiles } from './backup-open.ts'
import { BackupReader } from './backup-set.ts'
import { openCheckpointPlace } from './checkpoints-open.ts'
import { type Command, CommandError } from './command.ts'

export const restore: Command = {
  words: ['restore'],
  summary: 'put a backup into empty services',
  help: `km0 restore FOLDER [--replace] [--check] [--lake PLACE] [--checkpoints PLACE] [--without-checkpoints]

  Compares every file of the backup with its digest, then puts back the lake's files, the checkpoints and, in one transaction, the store with
  the lake's catalog; then brings the schema to this version. Stop everything but PostgreSQL (and the object store) first. Refuses a database
  with rows and a place of checkpoints with objects, unless --replace is said: then what is there is gone.
  --check        only compares digests and looks whether it could be done; changes nothing
  --lake         folder or s3://bucket/prefix for the lake's files; default: KM0_LAKE_DATA, else where they lay
  --checkpoints  folder or s3://bucket/prefix; default: KM0_CHECKPOINTS
  Takes DATABASE_URL. The settings of the backup are printed, not put in force: they are in settings/ of the folder. What to do when Kafka is
  lost too: docs/backup.md`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean', default: false } as const
    const options = { lake: text, checkpoints: text, replace: flag, check: flag, 'without-checkpoints': flag }
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options })
    const [folder] = positionals
    if (folder === undefined || positionals.length > 1) throw new CommandError('say which: km0 restore FOLDER')
    const reader = new BackupReader(resolve(folder))
    await reader.check()
    const database = { databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' }
    const withCheckpoints = reader.manifest.checkpointsPlace !== null && !values['without-checkpoints']
    const checkpoints = withCheckpoints ? openCheckpointPlace(values.checkpoints) : null
    const lakePath = lakePlace(reader, values.lake)
    const { replace } = values
    await refusing(() => requireRestorable(database, { description: reader.manifest.database, replace }))
    if (checkpoints !== null) await makeRoom(checkpoints, replace, values.check)
    if (values.check) {
      process.stdout.write('the backup is whole, and can be put there\n')
      return 0
    }
    if (lakePath !== null) await putAll(reader, 'lake', openLakeFiles(lakePath))
    if (checkpoints !== null) await putAll(reader, 'checkpoints', checkpoints)
    await refusing(() =>
      restoreDatabase(database, {
        description: reader.manifest.database,
        rowsOf: ({ schema, name }) => reader.unpacked('postgres', `${schema}.${name}`),
        replace,
        lakePath: lakePath === null ? null : `${lakePath.replace(/\/+$/, '')}/`,
      }),
    )
    const serving = openServing(database)
    const migrated = await serving.migrate().finally(() => serving.close())
    process.stdout.write(describe(reader, migrated, lakePath, checkpoints))
    return 0
  },
}

/** Where the lake's files go; null when the backup has no lake. */
function lakePlace({ manifest }: BackupReader, given: string | undefined): string | null {
  const { lakeSchema, lakePath } = manifest.database
  if (lakeSchema === null || lakePath === null) return null
  const environment = parseEnvironment(lakeEnvironment, process.env)
  if (environment.KM0_LAKE_SCHEMA !== lakeSchema)
    throw new CommandError(`the lake's catalog was in the schema ${lakeSchema}: set KM0_LAKE_SCHEMA to it`)
  const place = given ?? environment.KM0_LAKE_DATA ?? lakePath
  return place.startsWith('s3://') ? place : resolve(place)
}

/** Throws CommandError when something is there that is not to be replaced; a state that is newer than the store would contradict it. */
async function makeRoom(objects: ObjectStore, replace: boolean, onlyLook: boolean): Promise<void> {
  const there = await objects.list('')
  if (there.length === 0) return
  if (!replace) throw new CommandError(`${objects.place} holds checkpoints: give it an empty place, or say --replace`)
  if (!onlyLook) for (const { key } of there) await objects.remove(key)
}

async function putAll(reader: BackupReader, part: 'lake' | 'checkpoints', objects: ObjectStore): Promise<void> {
  for (const name of reader.names(part)) await objects.write(name, reader.read(part, name))
}

async function refusing(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof RestoreRefusedError)
      throw new CommandError(`${error.message}. Nothing was changed in the database`, { cause: error })
    throw error
  }
}

function describe(
  { manifest }: BackupReader,
  migrated: readonly number[],
  lakePath: string | null,
  checkpoints: ObjectStore | null,
): string {
  const lines = [
    `restored what was backed up at ${new Date(manifest.createdAtMs).toISOString()}`,
    `store: ${manifest.database.tables.length} tables; migrations applied since: ${migrated.length === 0 ? 'none' : migrated.join(', ')}`,
    `lake: ${lakePath ?? 'none'}; checkpoints: ${checkpoints?.place ?? 'none'}`,
    'next: compare settings/environment.json with what you start the programs with, then start them',
  ]
  if (manifest.secretsLeftOut.length > 0) lines.push(`secrets that the backup does not hold: ${manifest.secretsLeftOut.join(', ')}`)
  return `${lines.join('\n')}\n`
}
