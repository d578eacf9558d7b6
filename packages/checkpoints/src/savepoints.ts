import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { decodeCheckpoint, encodeCheckpoint } from './frame.ts'
import type { ObjectStore } from './objects.ts'
import type { Checkpoint } from './store.ts'

/** Letters, digits and `. _ -`; it is part of a key. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

const savepointSchema = z.object({
  format: z.literal(1),
  name: z.string().regex(NAME),
  pipeline: z.string().min(1),
  createdAtMs: z.number().int().min(0),
  /** Which log its offsets belong to. */
  clusterId: z.string().min(1),
  topic: z.string().min(1),
  /** Epoch of the topic's offsets. */
  topicEpoch: z.number().int().min(1),
  /** Epoch of the results that its states have told. */
  epoch: z.number().int().min(1),
  /** Version of the pipeline, and of the state, and the settings both belong to. */
  version: z.number().int().min(1),
  stateVersion: z.number().int().min(1),
  settings: z.record(z.string(), z.unknown()),
  /** Folder of the states. */
  states: z.string().min(1),
  partitions: z
    .array(
      z.object({
        partition: z.number().int().min(0),
        /** Next offset to read. */
        offset: z.number().int().min(0),
        /** Size and checksum of the stored state; null for a partition that had no record yet. */
        state: z.object({ bytes: z.number().int().min(0), sha256: z.string() }).nullable(),
      }),
    )
    .min(1),
})

/** A named copy of the states of all partitions of a pipeline, each with its offset. It is kept until somebody deletes it. */
export type Savepoint = z.infer<typeof savepointSchema>

/** A savepoint cannot be made, found or read. The message says why. */
export class SavepointError extends Error {
  override readonly name = 'SavepointError'
}

/** What to store: the checkpoint of each partition, null for one that had no record yet. */
export interface NewSavepoint extends Omit<Savepoint, 'format' | 'states' | 'partitions'> {
  readonly checkpoints: ReadonlyMap<number, Checkpoint | null>
}

const ROOT = 'savepoints/'
const MANIFEST = 'savepoint.json'
const folderOf = (pipeline: string, name: string) => `${ROOT}${pipeline}/${name}/`

/** Stores a savepoint. It is there once its list of states is, which is written last. Throws SavepointError when the name is taken. */
export async function createSavepoint(objects: ObjectStore, { checkpoints, ...about }: NewSavepoint): Promise<Savepoint> {
  const { pipeline, name } = about
  requireName(name)
  const folder = folderOf(pipeline, name)
  if ((await objects.read(folder + MANIFEST)) !== null) throw taken(about)
  const states = randomUUID()
  const partitions: Savepoint['partitions'] = []
  for (const [partition, checkpoint] of [...checkpoints].sort(([a], [b]) => a - b)) {
    if (checkpoint === null) {
      partitions.push({ partition, offset: 0, state: null })
      continue
    }
    const bytes = encodeCheckpoint(checkpoint)
    await objects.write(keyOf(folder, states, partition), bytes)
    partitions.push({ partition, offset: checkpoint.offset, state: { bytes: bytes.length, sha256: sha256(bytes) } })
  }
  const savepoint = savepointSchema.parse({ format: 1, ...about, states, partitions })
  if (await objects.create(folder + MANIFEST, Buffer.from(`${JSON.stringify(savepoint)}\n`, 'utf8'))) return savepoint
  for (const { partition } of partitions) await objects.remove(keyOf(folder, states, partition))
  throw taken(about)
}

/** All savepoints, by pipeline and name; and the keys of those whose list of states cannot be read. */
export async function listSavepoints(objects: ObjectStore): Promise<{ readonly savepoints: Savepoint[]; readonly damaged: string[] }> {
  const savepoints: Savepoint[] = []
  const damaged: string[] = []
  for (const { key } of await objects.list(ROOT)) {
    if (!key.endsWith(`/${MANIFEST}`)) continue
    const savepoint = parse(await objects.read(key))
    if (savepoint === null) damaged.push(key)
    else savepoints.push(savepoint)
  }
  return { savepoints, damaged }
}

/** A savepoint with its states by partition, null for one that had no record yet. Throws SavepointError when it is not there, or not whole. */
export async function readSavepoint(
  objects: ObjectStore,
  pipeline: string,
  name: string,
): Promise<{ readonly savepoint: Savepoint; readonly checkpoints: ReadonlyMap<number, Checkpoint | null> }> {
  requireName(name)
  const folder = folderOf(pipeline, name)
  const bytes = await objects.read(folder + MANIFEST)
  if (bytes === null) throw new SavepointError(`there is no savepoint ${name} of ${pipeline} in ${objects.place}`)
  const savepoint = parse(bytes)
  if (savepoint === null) throw new SavepointError(`${folder}${MANIFEST} in ${objects.place} is damaged`)
  const checkpoints = new Map<number, Checkpoint | null>()
  for (const { partition, offset, state } of savepoint.partitions) {
    checkpoints.set(partition, state === null ? null : await readState(objects, savepoint, partition, offset, state.sha256))
  }
  return { savepoint, checkpoints }
}

async function readState(objects: ObjectStore, savepoint: Savepoint, partition: number, offset: number, sum: string): Promise<Checkpoint> {
  const { pipeline, name, epoch, states } = savepoint
  const key = keyOf(folderOf(pipeline, name), states, partition)
  const bytes = await objects.read(key)
  if (bytes === null) throw new SavepointError(`the savepoint ${name} is not whole: ${key} is missing in ${objects.place}`)
  const found = sha256(bytes) === sum ? decodeCheckpoint(bytes, { pipeline, partition, offset, epoch, bytes: bytes.length }) : null
  if (found === null || 'reason' in found) {
    throw new SavepointError(`the savepoint ${name} is damaged: ${key} in ${objects.place}: ${found?.reason ?? 'checksum differs'}`)
  }
  return found
}

/** Deletes a savepoint: first its list of states, so that none is ever there in part. False when there is none. */
export async function deleteSavepoint(objects: ObjectStore, pipeline: string, name: string): Promise<boolean> {
  requireName(name)
  const folder = folderOf(pipeline, name)
  const keys = (await objects.list(folder)).map(({ key }) => key)
  await objects.remove(folder + MANIFEST)
  for (const key of keys) await objects.remove(key)
  return keys.length > 0
}

function keyOf(folder: string, states: string, partition: number): string {
  return `${folder}${states}/partition-${partition}.checkpoint`
}

function requireName(name: string): void {
  if (!NAME.test(name)) throw new SavepointError(`a savepoint is called by letters, digits and . _ -, at most 64 of them, not "${name}"`)
}

function taken({ pipeline, name }: Pick<Savepoint, 'pipeline' | 'name'>): SavepointError {
  return new SavepointError(`there is a savepoint ${name} of ${pipeline} already: take another name, or delete it`)
}

function parse(bytes: Buffer | null): Savepoint | null {
  if (bytes === null) return null
  try {
    return savepointSchema.parse(JSON.parse(bytes.toString('utf8')))
  } catch {
    return null
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
