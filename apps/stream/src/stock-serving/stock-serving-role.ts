import { openStockServing } from '@km0/serving'
import type { Log } from '@km0/transport'
import { groupHealth, type Role, type StartRole, type StreamProgram } from '../role.ts'
import { STOCK_SERVED, StockServingJob } from './stock-serving-job.ts'

export const STOCK_SERVING_GROUP = 'km0-stock-serving'

const RETENTION_EVERY_MS = 3_600_000
/** Fewer and larger writes. */
const FETCH = { minBytes: 65_536, maxWaitMs: 250 }

/** Writes the results of stock to PostgreSQL, in the process of the serving role, with a group and connections of its own. */
export async function startStockServing(program: StreamProgram, log: Log): Promise<Role> {
  const { settings } = program
  const serving = openStockServing({
    databaseUrl: settings.DATABASE_URL,
    applicationName: 'km0-stream-stock-serving',
    maxConnections: 2,
    onError: (error) => program.log.warn({ err: error }, 'a connection to PostgreSQL was lost'),
  })
  const job = new StockServingJob(program, log, serving, await log.clusterId())
  program.shutdown.add('stock postgres retries', () => job.stopping())
  await job.prepare()
  const consumer = await log.consumePartitions({
    groupId: STOCK_SERVING_GROUP,
    topics: STOCK_SERVED,
    onStart: (topic, partition, firstOffset) => job.start(topic, partition, firstOffset),
    onSlice: (slice) => job.apply(slice),
    onDrop: () => undefined,
    onFatal: (error) => program.shutdown.fail(error),
    maxSliceRecords: settings.KM0_STREAM_SLICE_RECORDS,
    sessionTimeoutMs: settings.KM0_STREAM_SESSION_TIMEOUT_MS,
    ...FETCH,
  })
  program.health.register('stock group', () => groupHealth(consumer))
  const retention = setInterval(() => void job.dropOld(), RETENTION_EVERY_MS)
  return {
    stop: async () => {
      clearInterval(retention)
      await consumer.stop()
      await serving.close()
    },
  }
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
