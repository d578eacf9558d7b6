import { claimEpoch, openCheckpointStore, pipelineEpoch, readEpoch } from '@km0/checkpoints'
import { CHECKPOINTS_LOCAL } from '@km0/contracts'
import type { Log, PartitionConsumer, PartitionConsumerOptions } from '@km0/transport'
import { Checkpointer, type CheckpointerOptions } from './checkpointer.ts'
import { checkpointObjects } from './environment.ts'
import { clearPastEpochs } from './past-epochs.ts'
import { requireSameVersion, type VersionCheck } from './pipeline-version.ts'
import type { ResultDelivery } from './result-delivery.ts'
import type { Role, StreamProgram } from './role.ts'

/** Shorter than the session of a group's member. */
const EPOCH_KNOWN_FOR_MS = 2_000

const ONE_MACHINE = `${CHECKPOINTS_LOCAL}, which only this machine sees unless it is a shared one: no instance on another machine can go on from them`

/** A partition tells how far it is at most this often. */
const MARK_EVERY_MS = 1_000

export interface CheckpointedPipeline extends Pick<VersionCheck, 'pipeline' | 'setting' | 'version'> {
  /** Whose partitions it works on. */
  readonly topic: string
  /** Restores a snapshot into a task that is thrown away. Throws when it does not fit. */
  readonly tryRestore: (snapshot: string, epoch: number) => void
  readonly metrics: CheckpointerOptions['metrics']
}

/** Finds the stored states of a pipeline and the epoch in force. Rejects when the log, or the settings, contradict them. */
export async function openCheckpoints(
  program: StreamProgram,
  log: Log,
  { pipeline, setting, version, topic, tryRestore, metrics }: CheckpointedPipeline,
): Promise<{ readonly checkpointer: Checkpointer; readonly epoch: number }> {
  const { settings } = program
  const objects = checkpointObjects(settings)
  const keep = settings.KM0_CHECKPOINT_KEEP
  const store = openCheckpointStore({ objects, keep })
  const clusterId = await log.clusterId()
  const evidence = { name: pipeline, version, checkpoints: await store.list(pipeline), endOffsets: await log.endOffsets(topic) }
  const epoch = pipelineEpoch(await claimEpoch({ objects, clusterId, pipeline: evidence }), pipeline, version)
  const { place, shared } = objects
  if (shared) program.log.info({ place, epoch, clusterId }, 'checkpoints are in an object store')
  else program.log.warn({ place, epoch, clusterId }, ONE_MACHINE)
  await requireSameVersion({ store, pipeline, epoch, setting, version, tryRestore: (snapshot) => tryRestore(snapshot, epoch) })
  const intervalMs = settings.KM0_CHECKPOINT_INTERVAL_MS
  const epochInForce = remembered(async () => {
    const known = await readEpoch(objects)
    return known === null ? epoch : pipelineEpoch(known, pipeline, version)
  })
  const keptDays = settings.KM0_CHECKPOINT_PAST_DAYS
  program.shutdown.add('past epochs', clearPastEpochs({ store, pipeline, epoch, keptDays, log: program.log }))
  const detail = shared ? place : `${place}: ${ONE_MACHINE}`
  const checkpointer = new Checkpointer({ pipeline, store, epoch, epochInForce, intervalMs, keep, detail, metrics, log: program.log })
  return { checkpointer, epoch }
}

/**
 * Asks once for all partitions that store their state about the same time. What was known before this process stood still is forgotten: for
 * a restore the group must be without members, and a member is one for longer than this.
 */
function remembered<T>(ask: () => Promise<T>): () => Promise<T> {
  let known: { readonly answer: T; readonly atMs: number } | null = null
  return async () => {
    if (known === null || Date.now() - known.atMs > EPOCH_KNOWN_FOR_MS) known = { atMs: Date.now(), answer: await ask() }
    return known.answer
  }
}

/** A result goes to the partition of its source, so the topics of results need as many. Rejects with what to do when one has fewer. */
export async function requirePartitions(log: Log, topic: string, results: readonly string[]): Promise<void> {
  const sources = await log.partitionCount(topic)
  for (const name of results) {
    const partitions = await log.partitionCount(name)
    if (partitions >= sources) continue
    throw new Error(
      `${topic} has ${sources} partitions, ${name} only ${partitions}: ` +
        `raise its number (kafka-topics.sh --alter --topic ${name} --partitions ${sources}) and start again.`,
    )
  }
}

/** The work on all partitions that this process has. */
export interface PartitionsJob extends Pick<PartitionConsumerOptions, 'onSlice' | 'onDrop' | 'onHole'> {
  /** Takes a partition over. Returns the offset at which to go on. */
  start(partition: number, firstOffset: number): Promise<number>
  tellMarks(): Promise<void>
  /** The last checkpoint of an ordered stop. */
  storeAll(commit: (partition: number, nextOffset: number) => Promise<void>): Promise<void>
}

/** Joins the group of a pipeline and works on what it is given, until the role is stopped: then all states are stored once more. */
export async function runPartitions(
  program: StreamProgram,
  log: Log,
  options: { groupId: string; topic: string; job: PartitionsJob; delivery: ResultDelivery; fetch?: Partial<PartitionConsumerOptions> },
): Promise<Role & { readonly consumer: PartitionConsumer }> {
  const { groupId, topic, job, delivery, fetch } = options
  const { settings } = program
  const consumer = await log.consumePartitions({
    groupId,
    topics: [topic],
    onStart: (_topic, partition, firstOffset) => job.start(partition, firstOffset),
    onSlice: (slice) => job.onSlice(slice),
    onDrop: () => job.onDrop(),
    ...(job.onHole === undefined ? {} : { onHole: (hole) => job.onHole?.(hole) }),
    onFatal: (error) => program.shutdown.fail(error),
    maxSliceRecords: settings.KM0_STREAM_SLICE_RECORDS,
    sessionTimeoutMs: settings.KM0_STREAM_SESSION_TIMEOUT_MS,
    ...fetch,
  })
  const marks = setInterval(() => void job.tellMarks(), MARK_EVERY_MS)
  const stop = async () => {
    clearInterval(marks)
    delivery.stopping()
    await consumer.stop((commit) => job.storeAll((partition, offset) => commit(topic, partition, offset)))
    await job.tellMarks()
    await delivery.close()
  }
  return { consumer, stop }
}
