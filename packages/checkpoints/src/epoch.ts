import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { ObjectStore } from './objects.ts'
import type { CheckpointEntry } from './store.ts'

const epochSchema = z.object({
  /** Raised when the log was replaced: what offsets mean is another thing from then on. */
  epoch: z.number().int().min(1),
  clusterId: z.string().min(1),
  /** How often the state of a pipeline was put back to a savepoint, by pipeline. */
  restores: z.record(z.string(), z.number().int().min(1)).default({}),
  /** How often a topic was replaced by an empty one, by topic. */
  replaced: z.record(z.string(), z.number().int().min(1)).default({}),
})

/** Which log the checkpoints belong to, and what was done to states on purpose. Lies beside the checkpoints. */
export type LogEpoch = z.infer<typeof epochSchema>

/** The log is not the one that the checkpoints were made from. The message says what to do. */
export class LogContradictionError extends Error {
  override readonly name = 'LogContradictionError'
}

/** Somebody else changed the epoch at the same time. Nothing was changed by this call. */
export class EpochContestedError extends Error {
  override readonly name = 'EpochContestedError'
}

const FOLDER = 'epochs/'
const KEY = /^epochs\/(\d{16})\.json$/
/** The one file of releases before 0.2, which counts as the first. */
const OLDER_KEY = 'epoch.json'

interface Found {
  readonly sequence: number
  readonly epoch: LogEpoch
}

/** The epoch in force; null before the first start. Throws LogContradictionError when it cannot be read. */
export async function readEpoch(objects: ObjectStore): Promise<LogEpoch | null> {
  return (await newest(objects))?.epoch ?? null
}

/** Each change is an object of its own that only one can make; the one with the greatest number is in force. */
async function newest(objects: ObjectStore): Promise<Found | null> {
  const numbers = (await objects.list(FOLDER)).flatMap(({ key }) => KEY.exec(key)?.[1] ?? [])
  const last = numbers.at(-1)
  const key = last === undefined ? OLDER_KEY : `${FOLDER}${last}.json`
  const bytes = await objects.read(key)
  if (bytes === null && last === undefined) return null
  try {
    return { sequence: Number(last ?? 0), epoch: epochSchema.parse(JSON.parse(bytes?.toString('utf8') ?? '')) }
  } catch (cause) {
    throw new LogContradictionError(
      `${key} in ${objects.place} is damaged. Write {"epoch":N,"clusterId":"…"} into it with an N greater than any before, or remove all checkpoints there.`,
      { cause },
    )
  }
}

/** Makes the next epoch. False when somebody else was quicker. */
function write(objects: ObjectStore, sequence: number, epoch: LogEpoch): Promise<boolean> {
  // `by` tells two that are otherwise equal apart, so that one of them loses.
  const text = `${JSON.stringify({ ...epoch, by: randomUUID() })}\n`
  return objects.create(`${FOLDER}${String(sequence).padStart(16, '0')}.json`, Buffer.from(text, 'utf8'))
}

/**
 * The epoch of a pipeline's results and states: that of the log, one more for each new version and for each restored savepoint. All of
 * them only grow, so what comes later replaces what came before, and its checkpoints stand apart.
 */
export function pipelineEpoch(known: LogEpoch, pipeline: string, version: number): number {
  return known.epoch + (known.restores[pipeline] ?? 0) + version - 1
}

/** The epoch of a topic's offsets: grows when the topic, or the whole log, is replaced. */
export function topicEpoch(known: LogEpoch, topic: string): number {
  return known.epoch + (known.replaced[topic] ?? 0)
}

/** What the checkpoints say about the log, and what the log says. */
export interface LogEvidence {
  readonly objects: ObjectStore
  readonly clusterId: string
  /** Whose checkpoints are to fit the log; absent for one that keeps none. */
  readonly pipeline?: {
    readonly name: string
    readonly version: number
    /** All that there are; those of other epochs are of other logs and prove nothing. */
    readonly checkpoints: readonly CheckpointEntry[]
    /** Offset after the newest record, by partition. */
    readonly endOffsets: ReadonlyMap<number, number>
  }
}

/**
 * The epoch in force; makes the first one at the first start. Throws LogContradictionError when the broker is another one, or its log ends
 * before a checkpoint: offsets would then mean other records, and results of old and new ones would mix.
 */
export async function claimEpoch({ objects, clusterId, pipeline }: LogEvidence): Promise<LogEpoch> {
  let found = await newest(objects)
  if (found === null) {
    const first: LogEpoch = { epoch: 1, clusterId, restores: {}, replaced: {} }
    if (await write(objects, 1, first)) return first
    // Another role of the same platform starts beside this one.
    found = await newest(objects)
    if (found === null) throw new EpochContestedError(`the epoch in ${objects.place} is there and is not: read it again`)
  }
  const known = found.epoch
  const wayOn =
    `If the log was replaced on purpose, start a new epoch: \`pnpm km0 epoch raise --checkpoints ${objects.place}\` ` +
    '(or `npm start -- --reset` to begin with nothing). Otherwise point KAFKA_BROKERS at the right broker.'
  if (known.clusterId !== clusterId) {
    throw new LogContradictionError(
      `the checkpoints belong to the Kafka cluster ${known.clusterId}, but this one is ${clusterId}. ${wayOn}`,
    )
  }
  if (pipeline === undefined) return known
  const inForce = pipelineEpoch(known, pipeline.name, pipeline.version)
  for (const { epoch, partition, offset } of pipeline.checkpoints) {
    if (epoch !== inForce) continue
    const end = pipeline.endOffsets.get(partition)
    if (end === undefined || end < offset) {
      const is = end === undefined ? 'does not exist' : `ends at offset ${end}`
      throw new LogContradictionError(`partition ${partition} ${is}, but a checkpoint was made at offset ${offset}. ${wayOn}`)
    }
  }
  return known
}

/** Raises the epoch for the log of `clusterId`, which may be a new one. Throws EpochContestedError when somebody else does at the same time. */
export async function raiseEpoch(objects: ObjectStore, clusterId: string): Promise<LogEpoch> {
  const found = await newest(objects)
  const known = found?.epoch ?? { epoch: 0, restores: {}, replaced: {} }
  return next(objects, found, { ...known, epoch: known.epoch + 1, clusterId })
}

/** What a restore changes. `before` is the epoch that the caller has looked at: another one in force makes it an EpochContestedError. */
export interface Restore {
  readonly before: LogEpoch
  readonly pipeline: string
  /** Topic that was replaced by an empty one for it. */
  readonly replacedTopic?: string
}

/** The epoch that will be in force after a restore; nothing is written. */
export function epochAfterRestore({ before, pipeline, replacedTopic }: Restore): LogEpoch {
  const one = (counts: Readonly<Record<string, number>>, name: string) => ({ ...counts, [name]: (counts[name] ?? 0) + 1 })
  return {
    ...before,
    restores: one(before.restores, pipeline),
    replaced: replacedTopic === undefined ? before.replaced : one(before.replaced, replacedTopic),
  }
}

/** Puts the epoch of a restore in force: from now on its checkpoints count. Throws EpochContestedError. */
export async function enterRestore(objects: ObjectStore, restore: Restore): Promise<LogEpoch> {
  const found = await newest(objects)
  if (JSON.stringify(found?.epoch) !== JSON.stringify(restore.before)) throw contested(objects)
  return next(objects, found, epochAfterRestore(restore))
}

async function next(objects: ObjectStore, found: Found | null, epoch: LogEpoch): Promise<LogEpoch> {
  if (await write(objects, (found?.sequence ?? 0) + 1, epoch)) return epoch
  throw contested(objects)
}

function contested(objects: ObjectStore): EpochContestedError {
  return new EpochContestedError(`somebody else has just changed the epoch in ${objects.place}: look, then say it again`)
}
