import { parseArgs } from 'node:util'
import { raiseEpoch } from '@km0/checkpoints'
import { openLog } from '@km0/transport'
import { findBrokers } from './addresses.ts'
import { type Command, CommandError } from './command.ts'

export const epochRaise: Command = {
  words: ['epoch', 'raise'],
  summary: 'begin anew after the log was replaced on purpose',
  help: `km0 epoch raise --checkpoints DIRECTORY

  Tells the windowing job that the log at KAFKA_BROKERS is a new one: it reads it from its start, and its results replace older ones.
  Stop the windowing job first. DIRECTORY is its KM0_CHECKPOINT_DIR; checkpoints of earlier epochs stay there and are not used.
  Takes KAFKA_BROKERS, or the platform that \`npm start\` runs here.`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { checkpoints: { type: 'string' } } })
    if (values.checkpoints === undefined) throw new CommandError('say which: km0 epoch raise --checkpoints DIRECTORY')
    const log = openLog({ brokers: findBrokers(process.env), clientId: 'km0-cli' })
    const { epoch, clusterId } = await raiseEpoch(values.checkpoints, await log.clusterId())
    process.stdout.write(`epoch ${epoch} of the log in cluster ${clusterId}\n`)
    return 0
  },
}
