import { claimEpoch } from '@km0/checkpoints'
import { TOPICS } from '@km0/contracts'
import type { Log } from '@km0/transport'
import { checkpointObjects } from '../environment.ts'
import { groupHealth, type Role, type StreamProgram } from '../role.ts'
import { ShuffleJob } from './shuffle-job.ts'
import { SHUFFLE_GROUP } from './source-task.ts'

const TICK_MS = 200
/** Fewer and larger transactions: at most this wait for so many bytes. */
const FETCH = { minBytes: 65_536, maxWaitMs: 500 }

/**
 * The shuffle: stock events of all source partitions into the internal topic keyed by product and market, each with its source partition's
 * watermark; heartbeats of source partitions that are silent. The internal topic is the log of the stock pipeline: nothing but it decides.
 */
export async function startStockShuffle(program: StreamProgram, log: Log): Promise<Role> {
  const { settings } = program
  const { epoch } = await claimEpoch({ objects: checkpointObjects(settings), clusterId: await log.clusterId() })
  const targets = await log.partitionCount(TOPICS.stockShuffled.name)
  const job = new ShuffleJob({ program, log, epoch, targets })
  const consumer = await log.consumePartitions({
    groupId: SHUFFLE_GROUP,
    topics: [TOPICS.stockEvents.name],
    onStart: (_topic, partition) => job.start(partition),
    onSlice: (slice) => job.apply(slice),
    onDrop: () => job.drop(),
    onSkipped: (_topic, partition, nextOffset) => job.skipped(partition, nextOffset),
    onFatal: (error) => program.shutdown.fail(error),
    maxSliceRecords: settings.KM0_STREAM_SLICE_RECORDS,
    sessionTimeoutMs: settings.KM0_STREAM_SESSION_TIMEOUT_MS,
    metadataMaxAgeMs: settings.KM0_STOCK_TOPIC_CHECK_MS,
    ...FETCH,
  })
  program.health.register('group', () => groupHealth(consumer))
  const assigned = () => consumer.assignment()?.get(TOPICS.stockEvents.name) ?? []
  const ticks = setInterval(() => void job.tick(assigned()), TICK_MS)
  return {
    stop: async () => {
      clearInterval(ticks)
      await consumer.stop()
      await job.stop()
    },
  }
}
