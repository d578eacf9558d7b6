import { TOPICS } from '@km0/contracts'
import type { Log } from '@km0/transport'

/**
 * Writes a record without a value over each newest point that the log still shows of a van: the broker drops both when it compacts. Resolves to how
 * many there were.
 */
export async function emptyNewestPoints(log: Log, van: string): Promise<number> {
  const topic = TOPICS.live.name
  const isHeld = new Map<number, boolean>()
  for await (const { partition, records } of log.readTopic({ topic })) {
    for (const { key, value } of records) if (key === van) isHeld.set(partition, value !== null)
  }
  const partitions = [...isHeld].flatMap(([partition, held]) => (held ? [partition] : []))
  if (partitions.length === 0) return 0
  const producer = await log.openProducer()
  try {
    await producer.send(partitions.map((partition) => ({ topic, key: van, value: null, partition })))
  } finally {
    await producer.close()
  }
  return partitions.length
}
