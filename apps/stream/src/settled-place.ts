import type { CommittedPlace, Log } from '@km0/transport'

const SETTLING_MS = 200

/** The committed place of a partition, once two readings agree: just after a takeover Kafka may still tell the one before. */
export async function settledPlace(log: Log, groupId: string, topic: string, partition: number): Promise<CommittedPlace | undefined> {
  let before: CommittedPlace | undefined
  for (let reading = 0; ; reading += 1) {
    const place = (await log.committedPlaces(groupId, topic)).get(partition)
    if (reading > 0 && place?.nextOffset === before?.nextOffset && place?.metadata === before?.metadata) return place
    before = place
    await new Promise((resolve) => setTimeout(resolve, SETTLING_MS))
  }
}
