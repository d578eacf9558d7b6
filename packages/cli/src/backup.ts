import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { ObjectStore } from '@km0/checkpoints'
import { lakeEnvironment } from '@km0/lake'
import { parseEnvironment } from '@km0/runtime'
import { dumpDatabase, NothingToBackUpError } from '@km0/serving/backup/database-backup'
import { findDatabaseUrl } from './addresses.ts'
import { findCheckpointPlace, openLakeFiles } from './backup-open.ts'
import { BackupWriter } from './backup-set.ts'
import { CHECKPOINTS_HELP } from './checkpoints-open.ts'
import { type Command, CommandError } from './command.ts'

/** The newest checkpoints are made while older ones are copied: so often the list is read again. */
const LOOKS = 10

export const backup: Command = {
  words: ['backup'],
  summary: 'copy store, lake, checkpoints and settings into a folder',
  help: `km0 backup --out FOLDER [--checkpoints PLACE] [--without-lake] [--without-checkpoints]

  Copies what the platform keeps beside Kafka: the rows of the store and the lake's catalog as they stood at one moment, the files that the
  lake is made of then, the checkpoints and savepoints, and the settings in force. Everything may run meanwhile. Each part carries its own
  positions in the log, and the log makes the rest good after a restore. FOLDER must be new or empty; backup.json is written last.
  Secrets of the environment are left out, by name. Store the folder as you would the positions of people: it holds them.
  --without-lake         without the lake's files; its catalog neither
  --without-checkpoints  without checkpoints and savepoints
  ${CHECKPOINTS_HELP}
  Takes DATABASE_URL, or the platform that \`npm start\` runs here; KM0_LAKE_SCHEMA and KM0_LAKE_S3_* as the job has them.`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean', default: false } as const
    const options = { out: text, checkpoints: text, 'without-lake': flag, 'without-checkpoints': flag }
    const { values } = parseArgs({ args: [...args], options })
    if (values.out === undefined) throw new CommandError('say where to: km0 backup --out FOLDER')
    const folder = resolve(values.out)
    const objects = values['without-checkpoints'] ? null : findCheckpointPlace(values.checkpoints)
    if (objects === null && !values['without-checkpoints'])
      throw new CommandError('where the checkpoints lie is not known: say --checkpoints PLACE, or --without-checkpoints')
    const writer = new BackupWriter(folder)
    const createdAtMs = Date.now()
    if (objects !== null) await copyCheckpoints(objects, writer)
    const lakeSchema = values['without-lake'] ? '' : parseEnvironment(lakeEnvironment, process.env).KM0_LAKE_SCHEMA
    const database = await dump(lakeSchema, writer)
    if (database.lakePath !== null) await copyLake(openLakeFiles(database.lakePath), database.lakeFiles, writer)
    const secretsLeftOut = copySettings(writer)
    const checkpointsPlace = objects?.place ?? null
    const { files } = writer.finish({ createdAtMs, database, checkpointsPlace, secretsLeftOut })
    const bytes = Object.values(files).reduce((sum, file) => sum + file.bytes, 0)
    process.stdout.write(`${folder}\n`)
    process.stderr.write(
      `${database.tables.length} tables, ${database.lakeFiles.length} files of the lake, ${Object.keys(files).length} files and ${bytes} bytes in all` +
        `${secretsLeftOut.length === 0 ? '' : `; left out, keep them elsewhere: ${secretsLeftOut.join(', ')}`}\n`,
    )
    return 0
  },
}

async function dump(lakeSchema: string, writer: BackupWriter): ReturnType<typeof dumpDatabase> {
  try {
    return await dumpDatabase(
      { databaseUrl: findDatabaseUrl(process.env), applicationName: 'km0-cli' },
      lakeSchema,
      ({ schema, name }, rows) => writer.packed('postgres', `${schema}.${name}`, rows),
    )
  } catch (error) {
    if (error instanceof NothingToBackUpError) throw new CommandError(error.message, { cause: error })
    throw error
  }
}

/** All objects, those too that are made while they are copied; those that the job removes meanwhile are left out. */
async function copyCheckpoints(objects: ObjectStore, writer: BackupWriter): Promise<void> {
  const seen = new Set<string>()
  for (let look = 0; look < LOOKS; look += 1) {
    let gone = 0
    for (const { key } of await objects.list('')) {
      if (seen.has(key)) continue
      const bytes = await objects.read(key)
      if (bytes === null) {
        gone += 1
        continue
      }
      seen.add(key)
      writer.put('checkpoints', key, bytes)
    }
    if (gone === 0) return
  }
  throw new CommandError(`checkpoints in ${objects.place} come and go faster than they can be copied: raise KM0_CHECKPOINT_KEEP`)
}

async function copyLake(objects: ObjectStore, names: readonly string[], writer: BackupWriter): Promise<void> {
  for (const name of names) {
    const bytes = await objects.read(name)
    if (bytes === null)
      throw new CommandError(
        `${name} is not in ${objects.place}. The upkeep deletes files that nobody needs after KM0_LAKE_KEEP_FILES_MS: copying took longer, ` +
          'or the lake is damaged (km0 lake status)',
      )
    writer.put('lake', name, bytes)
  }
}

const SECRET = /SECRET|PASSWORD|TOKEN|KEY|CREDENTIAL|_URL$|_FILE$/

/** Settings in force, without secrets. Returns the names that are left out. */
function copySettings(writer: BackupWriter): string[] {
  const ours = Object.entries(process.env).filter(([name]) => name.startsWith('KM0_'))
  const isSecret = (name: string) => SECRET.test(name) && name !== 'KM0_SETTINGS_FILE'
  const open = Object.fromEntries(ours.filter(([name]) => !isSecret(name)).sort())
  writer.put('settings', 'environment.json', Buffer.from(`${JSON.stringify(open, null, 2)}\n`))
  const file = process.env.KM0_SETTINGS_FILE
  if (file !== undefined && file !== '') writer.put('settings', 'pipelines.json', readFileSync(file))
  return ours.flatMap(([name]) => (isSecret(name) ? [name] : [])).sort()
}
