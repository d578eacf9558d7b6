import { decodeCheckpoint, encodeCheckpoint, encodeLines } from './frame.ts'
import type { ObjectStore } from './objects.ts'
import type { Checkpoint, CheckpointEntry, CheckpointOfLines, CheckpointStore, DamagedCheckpoint, FoundCheckpoint } from './store.ts'

export interface CheckpointStoreOptions {
  readonly objects: ObjectStore
  /** Newest checkpoints of a partition that are kept. At least 2, so that a damaged newest one has one before it. */
  readonly keep: number
}

const KEY = /^([^/]+)\/epoch-(\d+)\/partition-(\d+)\/(\d{16})\.checkpoint$/

/** Checkpoints as objects, `<pipeline>/epoch-<n>/partition-<p>/<offset>.checkpoint`, in a folder or a bucket. */
export function openCheckpointStore(options: CheckpointStoreOptions): CheckpointStore {
  if (!Number.isInteger(options.keep) || options.keep < 2) throw new RangeError(`keep at least 2 checkpoints, not ${options.keep}`)
  return new StoredCheckpoints(options)
}

class StoredCheckpoints implements CheckpointStore {
  readonly #objects: ObjectStore
  readonly #keep: number

  constructor({ objects, keep }: CheckpointStoreOptions) {
    this.#objects = objects
    this.#keep = keep
  }

  async put(checkpoint: Checkpoint | CheckpointOfLines): Promise<number> {
    const bytes = 'lines' in checkpoint ? await encodeLines(checkpoint) : encodeCheckpoint(checkpoint)
    await this.#objects.write(keyOf(checkpoint), bytes)
    const entries = await this.#entries(`${folderOf(checkpoint)}/`)
    const older = entries.filter((entry) => entry.offset < checkpoint.offset)
    // Those above are of a run that was further on; they go when this one has passed them.
    for (const entry of older.slice(0, Math.max(0, older.length - this.#keep + 1))) await this.delete(entry)
    return bytes.length
  }

  async newestAtOrBelow(pipeline: string, epoch: number, partition: number, offset: number): Promise<FoundCheckpoint> {
    const damaged: DamagedCheckpoint[] = []
    const entries = (await this.#entries(`${folderOf({ pipeline, epoch, partition })}/`)).filter((entry) => entry.offset <= offset)
    for (const entry of entries.reverse()) {
      const bytes = await this.#objects.read(keyOf(entry))
      const found = bytes === null ? { reason: 'it was listed, but is gone' } : decodeCheckpoint(bytes, entry)
      if (!('reason' in found)) return { checkpoint: found, damaged }
      damaged.push({ entry, reason: found.reason })
    }
    return { checkpoint: null, damaged }
  }

  async list(pipeline: string): Promise<readonly CheckpointEntry[]> {
    const entries = await this.#entries(`${pipeline}/`)
    return entries.sort((a, b) => a.epoch - b.epoch || a.partition - b.partition || a.offset - b.offset)
  }

  delete(entry: CheckpointEntry): Promise<void> {
    return this.#objects.remove(keyOf(entry))
  }

  async removePast(pipeline: string, epoch: number, beforeMs: number): Promise<number> {
    const objects = await this.#objects.list(`${pipeline}/`)
    const past = objects.filter(({ key, modifiedMs }) => modifiedMs < beforeMs && (entryOf(key, 0)?.epoch ?? epoch) < epoch)
    for (const { key } of past) await this.#objects.remove(key)
    return past.length
  }

  /** Within a partition in order of offsets: their digits are as many. */
  async #entries(prefix: string): Promise<CheckpointEntry[]> {
    const objects = await this.#objects.list(prefix)
    return objects.flatMap(({ key, bytes }) => entryOf(key, bytes) ?? [])
  }
}

/** null for what is no checkpoint. */
function entryOf(key: string, bytes: number): CheckpointEntry | null {
  const [, pipeline, epoch, partition, offset] = KEY.exec(key) ?? []
  if (pipeline === undefined) return null
  return { pipeline, epoch: Number(epoch), partition: Number(partition), offset: Number(offset), bytes }
}

type Place = Pick<Checkpoint, 'pipeline' | 'epoch' | 'partition'>

function folderOf({ pipeline, epoch, partition }: Place): string {
  return `${pipeline}/epoch-${epoch}/partition-${partition}`
}

function keyOf(place: Place & { readonly offset: number }): string {
  return `${folderOf(place)}/${String(place.offset).padStart(16, '0')}.checkpoint`
}
