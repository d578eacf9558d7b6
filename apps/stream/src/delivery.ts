import { type LogProducer, LogUnavailableError, type OutRecord, type PartitionSlice, withHeartbeats } from '@km0/transport'

const RETRY_MS = { first: 100, most: 2_000 }
/**
 * Writes records until the log has them all: the same array again and again while it is away. Resolves false when the slice is no longer
 * ours, or the program stops while the log is away; then it is unknown which records were written. `onTrouble` hears each failure.
 */
export async function deliver(
  producer: LogProducer,
  records: readonly OutRecord[],
  slice: PartitionSlice,
  onTrouble: (error: Error) => void,
): Promise<boolean> {
  let delayMs = RETRY_MS.first
  for (;;) {
    if (slice.isStale()) return false
    try {
      await withHeartbeats(slice, producer.send(records))
      return true
    } catch (error) {
      if (!(error instanceof LogUnavailableError)) throw error
      onTrouble(error)
      if (slice.isStopping()) return false
      await withHeartbeats(slice, new Promise((resolve) => setTimeout(resolve, delayMs)))
      delayMs = Math.min(delayMs * 2, RETRY_MS.most)
    }
  }
}
