import { TOPICS } from '@km0/contracts'
import { openStockServing } from '@km0/serving'
import type { Log } from '@km0/transport'
import { machineClock } from './platform-clock.ts'
import type { Role, StartRole, StreamProgram } from './role.ts'
import { ResultSink } from './sink/result-sink.ts'
import { startSink } from './sink/start-sink.ts'

export const STOCK_SERVING_GROUP = 'km0-stock-serving'

const DAY_MS = 86_400_000

/** Writes the results of stock to PostgreSQL, in the process of the serving role, with a group and connections of its own. */
export async function startStockServing(program: StreamProgram, log: Log): Promise<Role> {
  const { settings } = program
  const serving = openStockServing({
    databaseUrl: settings.DATABASE_URL,
    applicationName: 'km0-stream-stock-serving',
    maxConnections: 2,
    onError: (error) => program.log.warn({ err: error }, 'a connection to PostgreSQL was lost'),
  })
  const sink = new ResultSink(program, log, {
    name: 'stock postgres',
    metricPrefix: 'km0_stock_serving',
    topics: {
      [TOPICS.stockAlerts.name]: (batch) => serving.applyAlertBatch(batch),
      [TOPICS.stockLive.name]: (batch) => serving.applyLiveBatch(batch),
      [TOPICS.stockEpisodes.name]: (batch) => serving.applyEpisodeBatch(batch),
      [TOPICS.stockMarks.name]: (batch) => serving.applyMarkBatch(batch),
    },
    store: serving,
    clusterId: await log.clusterId(),
    clock: machineClock,
  })
  return startSink(program, log, {
    sink,
    groupId: STOCK_SERVING_GROUP,
    groupName: 'stock group',
    // Episodes stay as long as rows of results; days are dropped with all others.
    dropOld: async () => {
      const dropped = await serving.dropEpisodes(Date.now() - settings.KM0_RESULT_RETENTION_DAYS * DAY_MS)
      if (dropped > 0) program.log.info({ episodes: dropped }, 'old episodes of low stock were dropped')
    },
    close: () => serving.close(),
  })
}

/** Two roles in one process; what was started last is stopped first. */
export function together(first: StartRole, second: StartRole): StartRole {
  return async (program, log) => {
    const one = await first(program, log)
    const other = await second(program, log)
    return {
      stop: async () => {
        await other.stop()
        await one.stop()
      },
    }
  }
}
