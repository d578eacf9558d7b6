import { parseArgs } from 'node:util'
import { raiseEpoch } from '@km0/checkpoints'
import { openLog } from '@km0/transport'
import { findBrokers } from './addresses.ts'
import { CHECKPOINTS_HELP, openCheckpointPlace } from './checkpoints-open.ts'
import type { Command } from './command.ts'

export const epochRaise: Command = {
  words: ['epoch', 'raise'],
  summary: 'begin anew after the log was replaced on purpose',
  help: `km0 epoch raise [--checkpoints PLACE]

  Tells the windowing job that the log at KAFKA_BROKERS is a new one: it reads it from its start, and its results replace older ones.
  Stop the jobs first. Checkpoints of earlier epochs stay where they are and are not used.
  ${CHECKPOINTS_HELP}
  Takes KAFKA_BROKERS, or the platform that \`npm start\` runs here.`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { checkpoints: { type: 'string' } } })
    const objects = openCheckpointPlace(values.checkpoints)
    const log = openLog({ brokers: findBrokers(process.env), clientId: 'km0-cli' })
    const { epoch, clusterId } = await raiseEpoch(objects, await log.clusterId())
    process.stdout.write(`epoch ${epoch} of the log in cluster ${clusterId}\n`)
    return 0
  },
}
