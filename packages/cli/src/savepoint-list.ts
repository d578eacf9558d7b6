import { parseArgs } from 'node:util'
import { deleteSavepoint, listSavepoints, SavepointError } from '@km0/checkpoints'
import { CHECKPOINTS_HELP, openCheckpointPlace } from './checkpoints-open.ts'
import { type Command, CommandError } from './command.ts'
import { asTable } from './lake-sql.ts'

export const savepointList: Command = {
  words: ['savepoint', 'list'],
  summary: 'list savepoints',
  help: `km0 savepoint list [--json] [--checkpoints PLACE]

  ${CHECKPOINTS_HELP}
  Exit code: 1 when one is damaged.`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { json: { type: 'boolean' }, checkpoints: { type: 'string' } } })
    const { savepoints, damaged } = await listSavepoints(openCheckpointPlace(values.checkpoints))
    if (values.json === true) process.stdout.write(savepoints.map((savepoint) => `${JSON.stringify(savepoint)}\n`).join(''))
    else if (savepoints.length === 0) process.stdout.write('there are no savepoints\n')
    else {
      const columns = ['name', 'pipeline', 'made', 'epoch', 'version', 'state', 'partitions', 'bytes', 'cluster']
      const rows = savepoints.map(({ name, pipeline, createdAtMs, epoch, version, stateVersion, partitions, clusterId }) => {
        const bytes = partitions.reduce((sum, { state }) => sum + (state?.bytes ?? 0), 0)
        const made = new Date(createdAtMs).toISOString()
        return [name, pipeline, made, epoch, version, stateVersion, partitions.length, bytes, clusterId].map(String)
      })
      process.stdout.write(asTable({ columns, rows }))
    }
    for (const key of damaged) process.stderr.write(`km0: ${key} is damaged\n`)
    return damaged.length === 0 ? 0 : 1
  },
}

export const savepointDelete: Command = {
  words: ['savepoint', 'delete'],
  summary: 'delete a savepoint',
  help: `km0 savepoint delete NAME [--pipeline positions|stock-windows] [--checkpoints PLACE]

  ${CHECKPOINTS_HELP}`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { pipeline: { ...text, default: 'positions' }, checkpoints: text },
    })
    const [name] = positionals
    if (name === undefined || positionals.length > 1) throw new CommandError('say which: km0 savepoint delete NAME')
    const objects = openCheckpointPlace(values.checkpoints)
    const isDeleted = await deleteSavepoint(objects, values.pipeline, name).catch((error: unknown) => {
      throw error instanceof SavepointError ? new CommandError(error.message) : error
    })
    if (!isDeleted) throw new CommandError(`there is no savepoint ${name} of ${values.pipeline} in ${objects.place}`)
    process.stdout.write(`savepoint ${name} of ${values.pipeline} is deleted\n`)
    return 0
  },
}
