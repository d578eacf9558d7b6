import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createDurably, writeDurably } from './durable-file.ts'
import { type ObjectStore, StorageError, type StoredObject } from './objects.ts'

/** Objects as files below a folder. Safe against a crash at any point. */
export function openDirectoryObjects(directory: string): ObjectStore {
  return new DirectoryObjects(resolve(directory))
}

class DirectoryObjects implements ObjectStore {
  readonly place: string
  readonly shared = false

  constructor(directory: string) {
    this.place = directory
  }

  read(key: string): Promise<Buffer | null> {
    return this.#try(async () => (await absentAsNull(readFile(this.#file(key)))) ?? null)
  }

  write(key: string, bytes: Uint8Array): Promise<void> {
    return this.#try(() => writeDurably(this.#file(key), bytes))
  }

  create(key: string, bytes: Uint8Array): Promise<boolean> {
    return this.#try(() => createDurably(this.#file(key), bytes))
  }

  list(prefix: string): Promise<readonly StoredObject[]> {
    return this.#try(async () => {
      const objects: StoredObject[] = []
      await this.#collect(prefix, objects)
      return objects.sort((a, b) => (a.key < b.key ? -1 : 1))
    })
  }

  async #collect(prefix: string, into: StoredObject[]): Promise<void> {
    const entries = await absentAsNull(readdir(this.#file(prefix), { withFileTypes: true }))
    for (const entry of entries ?? []) {
      // Left behind by a crash.
      if (entry.name.startsWith('.')) continue
      const key = `${prefix}${entry.name}`
      if (entry.isDirectory()) await this.#collect(`${key}/`, into)
      else {
        // A neighbour may be removing it.
        const found = await absentAsNull(stat(this.#file(key)))
        if (found !== null) into.push({ key, bytes: found.size, modifiedMs: found.mtimeMs })
      }
    }
  }

  remove(key: string): Promise<void> {
    return this.#try(() => rm(this.#file(key), { force: true }))
  }

  #file(key: string): string {
    if (key.split('/').some((word) => word.startsWith('.'))) throw new Error(`a key has no word that begins with a dot: ${key}`)
    return join(this.place, key)
  }

  async #try<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error
      throw new StorageError(`checkpoints in ${this.place}: ${error.message}`, { cause: error })
    }
  }
}

async function absentAsNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
