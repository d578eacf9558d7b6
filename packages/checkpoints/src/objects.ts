/** A stored object without its bytes. */
export interface StoredObject {
  readonly key: string
  readonly bytes: number
  /** When it was written last, by the clock of the place. */
  readonly modifiedMs: number
}

/**
 * Where checkpoints lie: a folder or a bucket. Keys are words with `/` between them, without `.` at a word's beginning. An object is there
 * whole or not at all. All methods reject with StorageError when the place cannot be reached or refuses.
 */
export interface ObjectStore {
  /** For people: the folder, or `s3://bucket/prefix`. */
  readonly place: string
  /** Whether every machine sees the same. A folder may be shared, but nobody can tell that from it. */
  readonly shared: boolean
  /** The bytes; null when there is no such object. */
  read(key: string): Promise<Buffer | null>
  /** Puts it there, or replaces it. Resolves when it would survive a power cut. */
  write(key: string, bytes: Uint8Array): Promise<void>
  /** The same for a key that must be new. False, and nothing is changed, when it is taken: of any number at once exactly one gets true. */
  create(key: string, bytes: Uint8Array): Promise<boolean>
  /** All whose key begins with `prefix`, which ends with `/`; by key. */
  list(prefix: string): Promise<readonly StoredObject[]>
  /** It is no error when it is gone already. */
  remove(key: string): Promise<void>
}

/** The place of checkpoints cannot be reached, or refuses. The message names it and says why. */
export class StorageError extends Error {
  override readonly name = 'StorageError'
}
