import { TOPICS } from '@km0/contracts'
import { openLog, type TopicOverride } from '@km0/transport'

/**
 * Creates the topics that are missing. Then asks once for what a fresh broker prepares at the first question only (ids of producers,
 * the coordinator of groups), so that the parts do not all wait for it, each with a warning.
 */
export async function prepareLog(brokers: string, overrides: Readonly<Record<string, TopicOverride>>): Promise<void> {
  const log = openLog({ brokers: brokers.split(','), clientId: 'launcher' })
  await log.ensureTopics(Object.values(TOPICS), overrides)
  await log.committedOffsets('launcher', TOPICS.positions.name)
  const producer = await log.openProducer()
  await producer.close()
}
