import { claimEpoch, openDirectoryStore } from '@km0/checkpoints'
import { TOPICS } from '@km0/contracts'
import { STOCK_WINDOWS_PIPELINE, type StockRules } from '@km0/pipelines'
import type { Log } from '@km0/transport'
import { Checkpointer } from '../checkpointer.ts'
import { checkpointDirectory } from '../environment.ts'
import { inLogEpochs, pipelineEpoch, requireSameVersion } from '../pipeline-version.ts'
import { groupHealth, type Role, type StreamProgram } from '../role.ts'
import { WindowsJob } from './windows-job.ts'
import { windowsMetrics } from './windows-metrics.ts'
import { WindowsPartition } from './windows-partition.ts'

export const WINDOWS_GROUP = 'km0-stock-windows'

/** A partition tells how far it is at most this often. */
const MARK_EVERY_MS = 1_000
/** The shuffle writes in many small transactions: fewer and larger slices cost less, and an alert may wait a quarter of a second. */
const FETCH = { minBytes: 65_536, maxWaitMs: 250 }

/**
 * Low stock: alerts, newest stock, episodes and late events out of the shuffle's topic. The state of each partition is stored at an offset,
 * then that offset is committed; a restart goes on there, and what was written after it is written again, equal.
 */
export async function startStockWindows(program: StreamProgram, log: Log): Promise<Role> {
  const { settings, pipelines } = program
  const { version, delayMs: _delay, allowedLatenessMs: _allowed, ...rules } = pipelines.stock
  const endOffsets = await log.endOffsets(TOPICS.stockShuffled.name)
  await requirePartitions(log, endOffsets.size)
  const directory = checkpointDirectory(settings)
  const store = openDirectoryStore({ directory, keep: settings.KM0_CHECKPOINT_KEEP })
  const checkpoints = inLogEpochs(await store.list(STOCK_WINDOWS_PIPELINE), version)
  const logEpoch = await claimEpoch({ directory, clusterId: await log.clusterId(), checkpoints, endOffsets })
  const epoch = pipelineEpoch(logEpoch.epoch, version)
  await requireSameVersion({
    store,
    pipeline: STOCK_WINDOWS_PIPELINE,
    epoch,
    setting: 'stock.version',
    version,
    tryRestore: (snapshot) => newPartition(rules, epoch, 0).restore(snapshot, 0),
  })
  const metrics = windowsMetrics(program.metrics)
  const checkpointer = new Checkpointer({
    pipeline: STOCK_WINDOWS_PIPELINE,
    store,
    epoch,
    intervalMs: settings.KM0_CHECKPOINT_INTERVAL_MS,
    metrics,
    log: program.log,
  })
  const producer = await log.openProducer()
  const job = new WindowsJob({
    program,
    log,
    producer,
    checkpointer,
    metrics,
    newPartition: (partition) => newPartition(rules, epoch, partition),
  })
  const consumer = await log.consumePartitions({
    groupId: WINDOWS_GROUP,
    topics: [TOPICS.stockShuffled.name],
    onStart: (_topic, partition, firstOffset) => job.start(partition, firstOffset),
    onSlice: (slice) => job.apply(slice),
    onDrop: () => job.drop(),
    onFatal: (error) => program.shutdown.fail(error),
    maxSliceRecords: settings.KM0_STREAM_SLICE_RECORDS,
    sessionTimeoutMs: settings.KM0_STREAM_SESSION_TIMEOUT_MS,
    ...FETCH,
  })
  program.health.register('group', () => groupHealth(consumer))
  const marks = setInterval(() => void job.tellMarks(), MARK_EVERY_MS)
  return {
    stop: async () => {
      clearInterval(marks)
      await consumer.stop((commit) => job.storeAll((partition, offset) => commit(TOPICS.stockShuffled.name, partition, offset)))
      await job.tellMarks()
      await producer.close()
    },
  }
}

function newPartition(rules: StockRules, epoch: number, partition: number): WindowsPartition {
  return new WindowsPartition(partition, epoch, rules, 0)
}

/** A result goes to the partition of its source, so the topics of results need as many. */
async function requirePartitions(log: Log, sources: number): Promise<void> {
  for (const { name } of [TOPICS.stockAlerts, TOPICS.stockLate, TOPICS.stockLive, TOPICS.stockEpisodes]) {
    const partitions = await log.partitionCount(name)
    if (partitions >= sources) continue
    throw new Error(
      `${TOPICS.stockShuffled.name} has ${sources} partitions, ${name} only ${partitions}: ` +
        `raise its number (kafka-topics.sh --alter --topic ${name} --partitions ${sources}) and start again.`,
    )
  }
}
