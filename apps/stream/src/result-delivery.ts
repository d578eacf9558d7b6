import type { OutRecord, PartitionSlice } from '@km0/transport'
import type { CheckpointedTask } from './checkpointer.ts'

/** Work on one partition whose results are delivered. */
export interface DeliveredTask extends CheckpointedTask {
  /** How far it has come, as a record. */
  mark(): OutRecord
}

/** Where whoever takes a partition over goes on. */
export interface TakenPlace {
  /** Restore the newest checkpoint at or below. */
  readonly restoreAt: number
  /** Results of the records before this offset are in the log for good: apply those records, and write nothing. */
  readonly writtenBefore: number
  /** Offset of the checkpoint that the log points at; null when it points at none. */
  readonly checkpoint: number | null
}

/** How results, the place in the source and the checkpoint get into the log. One instance a role. */
export interface ResultDelivery {
  /** Takes a partition over from whoever had it. `firstOffset` is where the group goes on. */
  takeOver(partition: number, firstOffset: number): Promise<TakenPlace>
  /**
   * Writes what a slice led to, and stores the task's state when that is due. False: the slice is not written, or nobody knows whether it
   * is. The state is then ahead of the log: give the partition up and take it over anew.
   */
  deliver(task: DeliveredTask, slice: PartitionSlice, records: readonly OutRecord[]): Promise<boolean>
  /** Tells how far each partition has come, where `deliver` does not. Called every now and then; errors do not get out. */
  tellMarks(): Promise<void>
  /** The last checkpoints of an ordered stop; `commit` moves the group's place. */
  storeAll(tasks: Iterable<DeliveredTask>, commit: (partition: number, nextOffset: number) => Promise<void>): Promise<void>
  /** All partitions are gone. */
  drop(): void
  /** The program stops: wait for nothing any more. */
  stopping(): void
  close(): Promise<void>
}
