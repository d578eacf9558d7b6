import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readSavepoint, SavepointError } from '@km0/checkpoints'
import { CHECKPOINTS_HELP, openCheckpointPlace } from './checkpoints-open.ts'
import { type Command, CommandError } from './command.ts'

export const savepointStates: Command = {
  words: ['savepoint', 'states'],
  summary: 'write the states of a savepoint as files that another engine begins with',
  help: `km0 savepoint states NAME FOLDER [--checkpoints PLACE]

  Writes PARTITION.state for each partition of positions, first line its offset, and prints what the job on Kafka Streams is started with
  (docs/engines.md). Our own job must be stopped when the other one starts.
  ${CHECKPOINTS_HELP}`,
  run: async (args) => {
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: { checkpoints: { type: 'string' } } })
    const [name, folder] = positionals
    if (name === undefined || folder === undefined || positionals.length > 2) {
      throw new CommandError('say which and where: km0 savepoint states NAME FOLDER')
    }
    const { savepoint, checkpoints } = await readSavepoint(openCheckpointPlace(values.checkpoints), 'positions', name).catch(
      (error: unknown) => {
        throw error instanceof SavepointError ? new CommandError(error.message) : error
      },
    )
    mkdirSync(folder, { recursive: true })
    for (const [partition, checkpoint] of checkpoints) {
      // A partition without a record begins empty, at its first one.
      const text = checkpoint === null ? '' : `${checkpoint.offset}\n${checkpoint.snapshot}`
      writeFileSync(join(folder, `${partition}.state`), text)
    }
    process.stdout.write(
      `KM0_ENGINE_SEED=${resolve(folder)} KM0_ENGINE_EPOCH=${savepoint.epoch} KM0_ENGINE_POSITIONS='${JSON.stringify(savepoint.settings)}'\n`,
    )
    return 0
  },
}
