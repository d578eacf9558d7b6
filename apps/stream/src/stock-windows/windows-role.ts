import { TOPICS } from '@km0/contracts'
import { STOCK_WINDOWS_PIPELINE, type StockRules } from '@km0/pipelines'
import type { Log } from '@km0/transport'
import { openCheckpoints, requirePartitions, runPartitions } from '../checkpointed-role.ts'
import { IdempotentDelivery } from '../idempotent-delivery.ts'
import { groupHealth, type Role, type StreamProgram } from '../role.ts'
import { Trouble } from '../trouble.ts'
import { WindowsJob } from './windows-job.ts'
import { windowsMetrics } from './windows-metrics.ts'
import { WindowsPartition } from './windows-partition.ts'

export const WINDOWS_GROUP = 'km0-stock-windows'

/** The shuffle writes in many small transactions: fewer and larger slices cost less, and an alert may wait a quarter of a second. */
const FETCH = { minBytes: 65_536, maxWaitMs: 250 }

/**
 * Low stock: alerts, newest stock, episodes and late events out of the shuffle's topic. The state of each partition is stored at an offset,
 * then that offset is committed; a restart goes on there, and what was written after it is written again, equal.
 */
export async function startStockWindows(program: StreamProgram, log: Log): Promise<Role> {
  const { version, delayMs: _delay, allowedLatenessMs: _allowed, ...rules } = program.pipelines.stock
  const topic = TOPICS.stockShuffled.name
  await requirePartitions(log, topic, [TOPICS.stockAlerts.name, TOPICS.stockLate.name, TOPICS.stockLive.name, TOPICS.stockEpisodes.name])
  const metrics = windowsMetrics(program.metrics)
  const { checkpointer, epoch } = await openCheckpoints(program, log, {
    pipeline: STOCK_WINDOWS_PIPELINE,
    topic,
    setting: 'stock.version',
    version,
    tryRestore: (snapshot, inEpoch) => [...newPartition(rules, inEpoch, 0).restoreLines([snapshot], 0)],
    metrics,
  })
  const trouble = new Trouble(program.log)
  const delivery = new IdempotentDelivery({
    producer: await log.openProducer(),
    checkpointer,
    onTrouble: (error) => trouble.set(error),
    onFatal: (error) => program.shutdown.fail(error),
  })
  program.health.register('results', () => trouble.health())
  const job = new WindowsJob({
    program,
    log,
    delivery,
    checkpointer,
    metrics,
    newPartition: (partition) => newPartition(rules, epoch, partition),
  })
  const role = await runPartitions(program, log, { groupId: WINDOWS_GROUP, topic, job, delivery, fetch: FETCH })
  program.health.register('group', () => groupHealth(role.consumer))
  return role
}

function newPartition(rules: StockRules, epoch: number, partition: number): WindowsPartition {
  return new WindowsPartition(partition, epoch, rules, 0)
}
