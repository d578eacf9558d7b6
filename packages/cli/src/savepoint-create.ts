import { parseArgs } from 'node:util'
import {
  type Checkpoint,
  createSavepoint,
  type ObjectStore,
  openCheckpointStore,
  pipelineEpoch,
  readEpoch,
  type Savepoint,
  SavepointError,
  topicEpoch,
} from '@km0/checkpoints'
import { type Log, openLog } from '@km0/transport'
import { findBrokers } from './addresses.ts'
import { CHECKPOINTS_HELP, openCheckpointPlace } from './checkpoints-open.ts'
import { type Command, CommandError } from './command.ts'
import { type SavepointPipeline, savepointPipeline } from './savepoint-pipelines.ts'

const LOOK_EVERY_MS = 500

export const savepointCreate: Command = {
  words: ['savepoint', 'create'],
  summary: 'keep the states of a running or stopped job under a name',
  help: `km0 savepoint create NAME [--pipeline positions|stock-windows] [--wait SECONDS] [--checkpoints PLACE]

  Copies the newest committed checkpoint of every partition, with its offset, to a savepoint, which is kept until somebody deletes it. The job
  may run or not. Each partition's state and offset belong together; partitions know nothing of each other, so no common moment is needed.
  --wait  waits until the checkpoints hold all that is in the log now. A running job makes one every KM0_CHECKPOINT_INTERVAL_MS while records
          come, heartbeats too; one that is stopped in order makes a last one
  --pipeline  default: positions
  ${CHECKPOINTS_HELP}
  Takes KAFKA_BROKERS, or the platform that \`npm start\` runs here; KM0_SETTINGS_FILE as the job has it.`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { pipeline: { ...text, default: 'positions' }, wait: text, checkpoints: text },
    })
    const [name] = positionals
    if (name === undefined || positionals.length > 1) throw new CommandError('give it one name: km0 savepoint create NAME')
    const waitMs = values.wait === undefined ? null : Number(values.wait) * 1000
    if (waitMs !== null && !(waitMs >= 0)) throw new CommandError(`--wait ${values.wait}: write a number of seconds`)
    const pipeline = savepointPipeline(values.pipeline)
    const objects = openCheckpointPlace(values.checkpoints)
    const log = openLog({ brokers: findBrokers(process.env), clientId: 'km0-cli' })
    const savepoint = await makeSavepoint({ name, pipeline, objects, log, waitMs })
    process.stdout.write(describeSavepoint(savepoint))
    return 0
  },
}

/** In one line. */
export function describeSavepoint({ name, pipeline, epoch, partitions }: Savepoint): string {
  const bytes = partitions.reduce((sum, { state }) => sum + (state?.bytes ?? 0), 0)
  const offsets = partitions.map(({ partition, offset }) => `${partition}:${offset}`).join(' ')
  return `savepoint ${name} of ${pipeline}: epoch ${epoch}, ${partitions.length} partitions, ${bytes} bytes, offsets ${offsets}\n`
}

export interface SavepointMaking {
  readonly name: string
  readonly pipeline: SavepointPipeline
  readonly objects: ObjectStore
  readonly log: Log
  /** For so long it waits until the checkpoints hold all that is in the log; null: it takes those that there are. */
  readonly waitMs: number | null
}

/** Throws CommandError where a state cannot be kept; the message says what to do. */
export async function makeSavepoint({ name, pipeline, objects, log, waitMs }: SavepointMaking): Promise<Savepoint> {
  const known = await readEpoch(objects)
  if (known === null) throw new CommandError(`there are no checkpoints in ${objects.place}`)
  const clusterId = await log.clusterId()
  if (known.clusterId !== clusterId) {
    throw new CommandError(
      `the checkpoints in ${objects.place} belong to the Kafka cluster ${known.clusterId}, but this one is ${clusterId}`,
    )
  }
  const epoch = pipelineEpoch(known, pipeline.pipeline, pipeline.version)
  const ends = await log.endOffsets(pipeline.topic)
  const checkpoints = await newestCheckpoints(pipeline, objects, log, epoch, ends, waitMs)
  const first = [...checkpoints.values()].find((checkpoint) => checkpoint !== null)
  if (first === undefined || first === null) throw new CommandError(`nothing is in ${pipeline.topic} yet: there is no state to keep`)
  const { version: stateVersion, settings } = pipeline.identityOf(first.snapshot)
  try {
    return await createSavepoint(objects, {
      name,
      pipeline: pipeline.pipeline,
      createdAtMs: Date.now(),
      clusterId,
      topic: pipeline.topic,
      topicEpoch: topicEpoch(known, pipeline.topic),
      epoch,
      version: pipeline.version,
      stateVersion,
      settings,
      checkpoints,
    })
  } catch (error) {
    if (error instanceof SavepointError) throw new CommandError(error.message)
    throw error
  }
}

/** The newest checkpoint of each partition whose offset is committed, so that its results are written; null where there was no record. */
async function newestCheckpoints(
  { pipeline, group, topic, role, unreadAtEnd }: SavepointPipeline,
  objects: ObjectStore,
  log: Log,
  epoch: number,
  ends: ReadonlyMap<number, number>,
  waitMs: number | null,
): Promise<Map<number, Checkpoint | null>> {
  const store = openCheckpointStore({ objects, keep: 2 })
  const deadlineMs = performance.now() + (waitMs ?? 0)
  const told = new Set<string>()
  for (;;) {
    const committed = await log.committedOffsets(group, topic)
    const found = new Map<number, Checkpoint | null>()
    const missing: string[] = []
    for (const [partition, end] of ends) {
      const { checkpoint, damaged } = await store.newestAtOrBelow(pipeline, epoch, partition, committed.get(partition) ?? -1)
      for (const { entry, reason } of damaged)
        tellOnce(told, `the checkpoint of partition ${partition} at ${entry.offset} is damaged: ${reason}`)
      found.set(partition, checkpoint)
      const isBehind = checkpoint === null ? end > 0 : waitMs !== null && checkpoint.offset < end - unreadAtEnd
      if (isBehind) missing.push(`partition ${partition} at ${checkpoint?.offset ?? 'none'} of ${end}`)
    }
    if (missing.length === 0) return found
    if (performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
      continue
    }
    const way = waitMs === null ? ' Wait for its first checkpoints, or say --wait 60.' : ''
    throw new CommandError(
      `the checkpoints of ${pipeline} in ${objects.place} (epoch ${epoch}) are not far enough: ${missing.join(', ')}. ` +
        `Does the role ${role} run, and with these settings?${way}`,
    )
  }
}

function tellOnce(told: Set<string>, line: string): void {
  if (told.has(line)) return
  told.add(line)
  process.stderr.write(`km0: ${line}; the one before it is taken\n`)
}
