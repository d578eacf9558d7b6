import { parseArgs } from 'node:util'
import { TOPICS } from '@km0/contracts'
import { LogRefusedError, openLog } from '@km0/transport'
import { findBrokers } from './addresses.ts'
import { type Command, CommandError } from './command.ts'

/** Groups of the shuffle and of the windows: their places belong to the log that is given up. */
const GROUPS = ['km0-stock-shuffle', 'km0-stock-windows']

export const stockRestart: Command = {
  words: ['stock', 'restart'],
  summary: 'begin a new log of stock, from the events that Kafka still holds',
  help: `km0 stock restart --yes

  Deletes the internal topic of the shuffle (${TOPICS.stockShuffled.name}) and the places of its readers. Needed when that topic is to have
  another number of partitions, or the topic of stock events was replaced. Stop the roles stock-shuffle and stock-windows first. Then set
  stock.version one higher (KM0_STOCK_VERSION) and start them: alerts and episodes are computed anew, and replace those of before.
  Takes KAFKA_BROKERS, or the platform that \`npm start\` runs here.`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { yes: { type: 'boolean' } } })
    if (values.yes !== true) throw new CommandError('this deletes the internal topic of stock: say --yes')
    const log = openLog({ brokers: findBrokers(process.env), clientId: 'km0-cli' })
    try {
      await log.deleteGroups(GROUPS)
    } catch (error) {
      if (!(error instanceof LogRefusedError)) throw error
      throw new CommandError(`the roles stock-shuffle and stock-windows are still running (${error.message}): stop them first`)
    }
    await log.deleteTopics([TOPICS.stockShuffled.name])
    process.stdout.write('done; now set stock.version one higher (or KM0_STOCK_VERSION), and start stock-shuffle and stock-windows\n')
    return 0
  },
}
