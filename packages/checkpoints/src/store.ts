/** State of one partition of one pipeline, as of an offset: `snapshot` holds what the records before `offset` have made of it. */
export interface Checkpoint {
  /** Pipeline and operator whose state it is, `positions` for example. */
  readonly pipeline: string
  readonly partition: number
  /** Next offset to read. */
  readonly offset: number
  readonly epoch: number
  readonly snapshot: string
}

/** A checkpoint to be stored whose snapshot is made line by line, each when it is asked for; read, it is these lines with a line feed between them. */
export interface CheckpointOfLines extends Omit<Checkpoint, 'snapshot'> {
  readonly lines: Iterable<string>
}

/** What is known of a stored checkpoint without reading it whole. */
export interface CheckpointEntry {
  readonly pipeline: string
  readonly partition: number
  readonly offset: number
  readonly epoch: number
  readonly bytes: number
}

/** A checkpoint that could not be used, and why. */
export interface DamagedCheckpoint {
  readonly entry: CheckpointEntry
  readonly reason: string
}

export interface FoundCheckpoint {
  /** null when there is none that can be used. */
  readonly checkpoint: Checkpoint | null
  /** Newer ones that were passed over because they are damaged. */
  readonly damaged: readonly DamagedCheckpoint[]
}

/**
 * Durable storage of checkpoints. One small interface for a directory and for object storage. A checkpoint is there whole or not at all;
 * writing the same (pipeline, epoch, partition, offset) again replaces it by its equal.
 */
export interface CheckpointStore {
  /** Resolves when the checkpoint would survive a power cut. Returns its size in bytes. Removes the oldest ones beyond the number to keep. */
  put(checkpoint: Checkpoint | CheckpointOfLines): Promise<number>
  /** The newest whole checkpoint of an epoch at or below `offset`. */
  newestAtOrBelow(pipeline: string, epoch: number, partition: number, offset: number): Promise<FoundCheckpoint>
  /** All of a pipeline, by epoch, partition, offset. */
  list(pipeline: string): Promise<readonly CheckpointEntry[]>
  /** Removes one; it is no error when it is gone already. */
  delete(entry: CheckpointEntry): Promise<void>
  /**
   * Removes those of epochs below `epoch` that were stored before `beforeMs`: of a version, or of before a restore, to which nobody goes back any
   * more. Those of a greater epoch stay, as a restore writes them before it puts its epoch in force. Returns how many are gone.
   */
  removePast(pipeline: string, epoch: number, beforeMs: number): Promise<number>
}
