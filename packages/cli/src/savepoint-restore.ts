import { parseArgs } from 'node:util'
import {
  type Checkpoint,
  type CheckpointStore,
  enterRestore,
  epochAfterRestore,
  type LogEpoch,
  type ObjectStore,
  openCheckpointStore,
  pipelineEpoch,
  readEpoch,
  readSavepoint,
  type Savepoint,
  SavepointError,
  topicEpoch,
} from '@km0/checkpoints'
import { type MarkValue, TOPICS } from '@km0/contracts'
import { type Log, LogRefusedError, openLog } from '@km0/transport'
import { partitionChooser } from '@km0/transport/log-partitioner'
import { findBrokers } from './addresses.ts'
import { CHECKPOINTS_HELP, openCheckpointPlace } from './checkpoints-open.ts'
import { type Command, CommandError } from './command.ts'
import { type SavepointPipeline, savepointPipeline } from './savepoint-pipelines.ts'
import { describeHoles, planRestore, type RestorePlan, type RestoreWish } from './savepoint-plan.ts'

const REPLACED_WITHIN_MS = 60_000
const LOOK_EVERY_MS = 250

export const savepointRestore: Command = {
  words: ['savepoint', 'restore'],
  summary: 'put the states of a savepoint back, into as many partitions or another number',
  help: `km0 savepoint restore NAME [--pipeline positions|stock-windows] [--partitions N] [--new-topic] [--checkpoints PLACE]

  Puts the states back as the newest checkpoints, sets the committed offsets to theirs and begins a new epoch: results from there on replace
  those of before. Stop every instance of the role first; start them afterwards. It changes nothing when it cannot be done.
  --partitions N  into another number of partitions: each van's state goes where its records go from now on. More: the topic grows. Stop the
                  bridges too, and let the job read to the end before the savepoint, so that nothing is on its way.
  --new-topic     deletes the topic and begins it anew (fewer partitions; a new Kafka cluster, after \`km0 epoch raise\`). Wants --yes when it
                  holds records.
  --accept-hole   goes on although retention has deleted records since
  --patience SECONDS  waits so long for instances to end (one that was killed counts for 6 s); default: 10
  --pipeline      default: positions
  ${CHECKPOINTS_HELP}
  Takes KAFKA_BROKERS, or the platform that \`npm start\` runs here; KM0_SETTINGS_FILE as the job has it.`,
  run: async (args) => {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean', default: false } as const
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        pipeline: { ...text, default: 'positions' },
        partitions: text,
        patience: { ...text, default: '10' },
        'new-topic': flag,
        'accept-hole': flag,
        yes: flag,
        checkpoints: text,
      },
    })
    const [name] = positionals
    if (name === undefined || positionals.length > 1) throw new CommandError('say which: km0 savepoint restore NAME')
    const partitions = values.partitions === undefined ? null : Number(values.partitions)
    if (partitions !== null && !(Number.isInteger(partitions) && partitions >= 1 && partitions <= 1_000)) {
      throw new CommandError(`--partitions ${values.partitions}: write a number from 1 to 1000`)
    }
    const patienceMs = Number(values.patience) * 1000
    if (!(patienceMs >= 0)) throw new CommandError(`--patience ${values.patience}: write a number of seconds`)
    const wish = { partitions, newTopic: values['new-topic'], acceptHole: values['accept-hole'], acceptLoss: values.yes }
    const pipeline = savepointPipeline(values.pipeline)
    const log = openLog({ brokers: findBrokers(process.env), clientId: 'km0-cli' })
    await restore(name, pipeline, openCheckpointPlace(values.checkpoints), log, wish, patienceMs)
    return 0
  },
}

async function restore(
  name: string,
  pipeline: SavepointPipeline,
  objects: ObjectStore,
  log: Log,
  wish: RestoreWish,
  patienceMs: number,
): Promise<void> {
  const { savepoint, checkpoints } = await readSavepoint(objects, pipeline.pipeline, name).catch((error: unknown) => {
    throw error instanceof SavepointError ? new CommandError(error.message) : error
  })
  const before = await readEpoch(objects)
  const clusterId = await log.clusterId()
  if (before === null || before.clusterId !== clusterId) {
    const has = before === null ? 'have no epoch yet' : `belong to the Kafka cluster ${before.clusterId}`
    throw new CommandError(`the checkpoints in ${objects.place} ${has}, this one is ${clusterId}: \`km0 epoch raise\` first`)
  }
  requireKind(pipeline, savepoint, wish)
  // Another Kafka may have no topics yet.
  if (wish.newTopic) await log.ensureTopics(Object.values(TOPICS))
  const now = {
    clusterId,
    topicEpoch: topicEpoch(before, pipeline.topic),
    starts: await log.startOffsets(pipeline.topic),
    ends: await log.endOffsets(pipeline.topic),
  }
  const plan = planRestore(savepoint, now, wish, pipeline.unreadAtEnd)
  const states = statesOf(pipeline, checkpoints, plan)
  await requireStopped(log, pipeline, patienceMs)

  const change = { before, pipeline: pipeline.pipeline, ...(plan.way === 'replace' ? { replacedTopic: pipeline.topic } : {}) }
  const epoch = pipelineEpoch(epochAfterRestore(change), pipeline.pipeline, pipeline.version)
  // Not in force yet: whoever starts before the last step goes on from what was there before.
  await putStates(openCheckpointStore({ objects, keep: 2 }), pipeline.pipeline, epoch, states, plan)
  if (plan.way !== 'same') await requireQuiet(log, pipeline, now.ends)
  await changeTopics(log, pipeline, plan)
  await log.deleteGroups([pipeline.group])
  await log.setCommittedOffsets(pipeline.group, pipeline.topic, plan.offsets)
  const after = await enterRestore(objects, change)
  await forgetPartitions(log, pipeline, plan.partitions, now.ends.size, epoch)
  process.stdout.write(describe(savepoint, after, epoch, plan, pipeline))
}

function requireKind(
  { pipeline, repartition }: SavepointPipeline,
  { name, partitions }: Savepoint,
  { partitions: wanted, newTopic }: RestoreWish,
) {
  if (repartition !== null || (!newTopic && (wanted === null || wanted === partitions.length))) return
  throw new CommandError(
    `states of ${pipeline} stay in their partitions, so ${name} can be restored into ${partitions.length} only. For another number begin a ` +
      'new log of stock: `km0 stock restart`, which computes it from the events that Kafka still holds.',
  )
}

/** The states by partition, those that have one. Throws CommandError when they do not fit the settings in force. */
function statesOf(
  { repartition, tryState, pipeline }: SavepointPipeline,
  checkpoints: ReadonlyMap<number, Checkpoint | null>,
  { moves, partitions }: RestorePlan,
): ReadonlyMap<number, string> {
  const stored = [...checkpoints].flatMap(([partition, checkpoint]) =>
    checkpoint === null ? [] : [[partition, checkpoint.snapshot] as const],
  )
  try {
    // Before they are put together too: the message names what differs.
    for (const [, state] of stored) tryState(state)
    if (!moves || repartition === null) return new Map(stored)
    const all = Array.from({ length: partitions }, (_, partition) => partition)
    const states = repartition(
      stored.map(([, state]) => state),
      partitions,
      partitionChooser(all),
    )
    for (const state of states) tryState(state)
    return new Map(states.entries())
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new CommandError(`the states of ${pipeline} cannot be restored with the settings in force: ${reason}`, { cause })
  }
}

async function requireStopped(log: Log, { group, role }: SavepointPipeline, patienceMs: number): Promise<void> {
  const deadlineMs = performance.now() + patienceMs
  for (;;) {
    const members = await log.memberCount(group)
    if (members === 0) return
    if (performance.now() > deadlineMs) {
      throw new CommandError(`${members} instances of the role ${role} still run (members of the group ${group}): stop them first`)
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

/** What comes now would go to the wrong partition, or be deleted with the topic. */
async function requireQuiet(log: Log, { topic }: SavepointPipeline, before: ReadonlyMap<number, number>): Promise<void> {
  const ends = await log.endOffsets(topic)
  if ([...ends].every(([partition, end]) => before.get(partition) === end)) return
  throw new CommandError(`records come into ${topic} while the savepoint is restored: stop whoever writes it (the bridges, heartbeats too)`)
}

async function putStates(
  store: CheckpointStore,
  pipeline: string,
  epoch: number,
  states: ReadonlyMap<number, string>,
  { offsets }: RestorePlan,
): Promise<void> {
  // Left by a restore that did not come to its end.
  for (const entry of await store.list(pipeline)) if (entry.epoch === epoch) await store.delete(entry)
  for (const [partition, snapshot] of states) {
    await store.put({ pipeline, partition, epoch, offset: offsets.get(partition) ?? 0, snapshot })
  }
}

async function changeTopics(log: Log, { topic, results }: SavepointPipeline, { way, partitions }: RestorePlan): Promise<void> {
  if (way === 'same') return
  if (way === 'replace') await replaceTopic(log, topic, partitions)
  else await log.growTopic(topic, partitions)
  for (const result of results) await log.growTopic(result, partitions)
}

/** Partitions that are no more would look as if they stood still: their last mark says that nothing is known of them. */
async function forgetPartitions(log: Log, { marks }: SavepointPipeline, partitions: number, before: number, epoch: number): Promise<void> {
  if (marks === null || before <= partitions) return
  const producer = await log.openProducer()
  const gone = Array.from({ length: before - partitions }, (_, index) => partitions + index)
  await producer.send(
    gone.map((partition) => ({ topic: marks, key: String(partition), value: JSON.stringify(nothingKnown(partition, epoch)) })),
  )
  await producer.close()
}

function nothingKnown(partition: number, epoch: number): MarkValue {
  return {
    particio: partition,
    offset: 0,
    marca_aigua_ms: null,
    progres_ms: null,
    darrer_batec_ms: null,
    darrer_registre_ms: null,
    epoca: epoch,
  }
}

/** Deletes the topic and makes it anew. A broker goes on showing a deleted topic for a moment. */
async function replaceTopic(log: Log, topic: string, partitions: number): Promise<void> {
  const definition = Object.values(TOPICS).find(({ name }) => name === topic)
  if (definition === undefined) throw new Error(`${topic} is not in the table of topics`)
  await log.deleteTopics([topic])
  const deadlineMs = performance.now() + REPLACED_WITHIN_MS
  for (;;) {
    try {
      await log.ensureTopics([definition], { [topic]: { partitions } })
      const ends = await log.endOffsets(topic)
      if (ends.size === partitions && [...ends.values()].every((end) => end === 0)) return
    } catch (error) {
      if (performance.now() > deadlineMs) throw error
    }
    if (performance.now() > deadlineMs) throw new LogRefusedError(`${topic} was deleted, but is not there anew`, 'NOT_REPLACED')
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

function describe(savepoint: Savepoint, after: LogEpoch, epoch: number, plan: RestorePlan, { role, topic }: SavepointPipeline): string {
  const { way, partitions, offsets, holes } = plan
  const done = {
    same: `${topic} is as it was`,
    grow: `${topic} has ${partitions} partitions now`,
    replace: `${topic} was begun anew with ${partitions} partitions`,
  }
  const places = [...offsets].map(([partition, offset]) => `${partition}:${offset}`).join(' ')
  return [
    `savepoint ${savepoint.name} is restored: epoch ${epoch} (restore ${after.restores[savepoint.pipeline] ?? 0}), offsets ${places}`,
    `${done[way]}; start the role ${role} now${way === 'same' ? '' : ', then the bridges'}`,
    ...(holes.length === 0 ? [] : [describeHoles(holes)]),
    '',
  ].join('\n')
}
