import { DEFAULT_POSITIONS_SETTINGS, type PositionsSettings, TOPICS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import type { Log } from '@km0/transport'
import { openCheckpoints, requirePartitions, runPartitions } from './checkpointed-role.ts'
import { type Checkpointer, POSITIONS_PIPELINE } from './checkpointer.ts'
import { IdempotentDelivery } from './idempotent-delivery.ts'
import { PartitionTask } from './partition-task.ts'
import { PositionsJob } from './positions-job.ts'
import { type PositionsMetrics, positionsMetrics } from './positions-metrics.ts'
import type { ResultDelivery } from './result-delivery.ts'
import { groupHealth, type Role, type StreamProgram } from './role.ts'
import { TransactionalDelivery } from './transactional-delivery.ts'
import { Trouble } from './trouble.ts'

export const POSITIONS_GROUP = 'km0-positions'

/** At one record at a time a fetch, its slice and its batch cost more than the records: they are waited for, shorter than anybody sees. */
const FETCH = { minBytes: 8_192, maxWaitMs: 50 }

/** Each slice is a transaction of its own: fewer and larger ones cost less, and a result may wait a quarter of a second. */
const TRANSACTION_FETCH = { minBytes: 65_536, maxWaitMs: 250 }

/**
 * The windowing job: positions in, results for the panel, live points, late points, dead letters and marks out. The state of each
 * partition is stored at an offset, and a restart goes on there. What was written after it is written again, equal, or with
 * KM0_DELIVERY=transactional is in the log exactly once.
 */
export async function startPositions(program: StreamProgram, log: Log): Promise<Role> {
  const { rules, version } = positionsRules(program)
  await requirePartitions(log, TOPICS.positions.name, [TOPICS.panel.name])
  const metrics = positionsMetrics(program.metrics)
  const { checkpointer, epoch } = await openCheckpoints(program, log, {
    pipeline: POSITIONS_PIPELINE,
    topic: TOPICS.positions.name,
    setting: 'positions.version',
    version,
    tryRestore: (snapshot, inEpoch) => new PartitionTask(0, inEpoch, createPositionsHost(rules), 0).restore(snapshot, 0),
    metrics,
  })
  const trouble = new Trouble(program.log)
  const delivery = await openDelivery(program, log, { checkpointer, epoch, metrics, trouble })
  const newTask = (partition: number) => {
    const host = createPositionsHost(rules, null, { coalesceLivePoints: true })
    return new PartitionTask(partition, epoch, host, 0, program.settings.KM0_OUTAGE_AFTER_MS, program.tracer != null)
  }
  const job = new PositionsJob({ program, log, delivery, checkpointer, metrics, newTask })
  const fetch = program.settings.KM0_DELIVERY === 'transactional' ? TRANSACTION_FETCH : FETCH
  const role = await runPartitions(program, log, { groupId: POSITIONS_GROUP, topic: TOPICS.positions.name, job, delivery, fetch })
  program.health.register('group', () => groupHealth(role.consumer))
  program.health.register('results', () => trouble.health())
  program.health.register('checkpoints', () => checkpointer.health())
  return role
}

/** What the pipeline computes. Delay and allowed lateness are records of its log, so they are no part of what a stored state belongs to. */
function positionsRules({ pipelines }: StreamProgram): { readonly rules: PositionsSettings; readonly version: number } {
  const { version, ...positions } = pipelines.positions
  const { delayMs, allowedLatenessMs } = DEFAULT_POSITIONS_SETTINGS
  return { rules: { ...positions, delayMs, allowedLatenessMs }, version }
}

interface DeliveryParts {
  readonly checkpointer: Checkpointer
  readonly epoch: number
  readonly metrics: PositionsMetrics
  readonly trouble: Trouble
}

async function openDelivery(
  program: StreamProgram,
  log: Log,
  { checkpointer, epoch, metrics, trouble }: DeliveryParts,
): Promise<ResultDelivery> {
  const onTrouble = (error: Error | null) => trouble.set(error)
  if (program.settings.KM0_DELIVERY === 'idempotent') {
    const onFatal = (error: unknown) => program.shutdown.fail(error)
    return new IdempotentDelivery({ producer: await log.openProducer(), checkpointer, onTrouble, onFatal })
  }
  return new TransactionalDelivery({
    log,
    groupId: POSITIONS_GROUP,
    topic: TOPICS.positions.name,
    epoch,
    checkpointer,
    logger: program.log,
    onTrouble,
    onFenced: () => metrics.fenced.inc(),
  })
}
