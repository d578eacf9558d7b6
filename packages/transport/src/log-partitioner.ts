import { Partitioners } from 'kafkajs'

/**
 * Chooses among some partitions of a topic by key, as the producer chooses among all of them (murmur2, as the Java client does): the
 * function returned gives the partition of a key. With all partitions of the topic it says what the producer would do.
 * Throws a RangeError when there is none to choose from.
 */
export function partitionChooser(partitions: readonly number[]): (key: string) => number {
  if (partitions.length === 0) throw new RangeError('no partition to choose from')
  const partitioner = Partitioners.DefaultPartitioner()
  const partitionMetadata = partitions.map((_, partitionId) => ({ partitionErrorCode: 0, partitionId, leader: 0, replicas: [], isr: [] }))
  return (key) => {
    const place = partitioner({ topic: '', partitionMetadata, message: { key, value: null } })
    return partitions[place] ?? 0
  }
}
