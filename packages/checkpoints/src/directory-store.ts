import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from './durable-file.ts'
import { decodeCheckpoint, encodeCheckpoint } from './frame.ts'
import type { Checkpoint, CheckpointEntry, CheckpointStore, DamagedCheckpoint, FoundCheckpoint } from './store.ts'

export interface DirectoryStoreOptions {
  readonly directory: string
  /** Newest checkpoints of a partition that are kept. At least 2, so that a damaged newest one has one before it. */
  readonly keep: number
}

const NAME = /^(\d{16})\.checkpoint$/
const PARTITION = /^partition-(\d+)$/
const EPOCH = /^epoch-(\d+)$/

/**
 * Checkpoints as files, `<directory>/<pipeline>/epoch-<n>/partition-<p>/<offset>.checkpoint`. Safe against a crash at any point; seen by
 * one machine only.
 */
export function openDirectoryStore(options: DirectoryStoreOptions): CheckpointStore {
  if (!Number.isInteger(options.keep) || options.keep < 2) throw new RangeError(`keep at least 2 checkpoints, not ${options.keep}`)
  return new DirectoryStore(options)
}

class DirectoryStore implements CheckpointStore {
  readonly #options: DirectoryStoreOptions

  constructor(options: DirectoryStoreOptions) {
    this.#options = options
  }

  async put(checkpoint: Checkpoint): Promise<number> {
    const bytes = encodeCheckpoint(checkpoint)
    await writeDurably(this.#file(checkpoint), bytes)
    const entries = await this.#entries(checkpoint.pipeline, checkpoint.epoch, checkpoint.partition)
    const older = entries.filter((entry) => entry.offset < checkpoint.offset)
    // Those above are of a run that was further on; they go when this one has passed them.
    for (const entry of older.slice(0, Math.max(0, older.length - this.#options.keep + 1))) await this.delete(entry)
    return bytes.length
  }

  async newestAtOrBelow(pipeline: string, epoch: number, partition: number, offset: number): Promise<FoundCheckpoint> {
    const damaged: DamagedCheckpoint[] = []
    const entries = (await this.#entries(pipeline, epoch, partition)).filter((entry) => entry.offset <= offset)
    for (const entry of entries.reverse()) {
      const found = decodeCheckpoint(await readFile(this.#file(entry)), entry)
      if (!('reason' in found)) return { checkpoint: found, damaged }
      damaged.push({ entry, reason: found.reason })
    }
    return { checkpoint: null, damaged }
  }

  async list(pipeline: string): Promise<readonly CheckpointEntry[]> {
    const all: CheckpointEntry[] = []
    for (const epoch of await numbersIn(join(this.#options.directory, pipeline), EPOCH)) {
      for (const partition of await numbersIn(join(this.#options.directory, pipeline, `epoch-${epoch}`), PARTITION)) {
        all.push(...(await this.#entries(pipeline, epoch, partition)))
      }
    }
    return all
  }

  async delete(entry: CheckpointEntry): Promise<void> {
    await rm(this.#file(entry), { force: true })
  }

  /** In order of offsets. */
  async #entries(pipeline: string, epoch: number, partition: number): Promise<CheckpointEntry[]> {
    const folder = this.#folder(pipeline, epoch, partition)
    const entries: CheckpointEntry[] = []
    for (const offset of await numbersIn(folder, NAME)) {
      const entry = { pipeline, partition, offset, epoch, bytes: 0 }
      const { size } = await stat(this.#file(entry))
      entries.push({ ...entry, bytes: size })
    }
    return entries
  }

  #folder(pipeline: string, epoch: number, partition: number): string {
    return join(this.#options.directory, pipeline, `epoch-${epoch}`, `partition-${partition}`)
  }

  #file({ pipeline, epoch, partition, offset }: Pick<Checkpoint, 'pipeline' | 'epoch' | 'partition' | 'offset'>): string {
    return join(this.#folder(pipeline, epoch, partition), `${String(offset).padStart(16, '0')}.checkpoint`)
  }
}

/** The numbers in the names of a folder's entries that fit, ascending. None for a folder that is not there. */
async function numbersIn(folder: string, pattern: RegExp): Promise<number[]> {
  let names: string[]
  try {
    names = await readdir(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
  const numbers = names.flatMap((name) => {
    const digits = pattern.exec(name)?.[1]
    return digits === undefined ? [] : [Number(digits)]
  })
  return numbers.sort((a, b) => a - b)
}
