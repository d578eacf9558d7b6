import { setTimeout as sleep } from 'node:timers/promises'
import { TOPICS } from '@km0/contracts'
import { commonEnvironment, parseEnvironment } from '@km0/runtime'
import { LogUnavailableError, openLog, type TopicOverride } from '@km0/transport'

const TRY_FOR_MS = 60_000
const RETRY_MS = 500

/** Runs `work` until it ends well. Whatever says that the log is not there yet is tried again for a while; any other error is thrown at once. */
export async function untilAvailable<T>(work: () => Promise<T>, tryForMs = TRY_FOR_MS, retryMs = RETRY_MS): Promise<T> {
  const deadlineMs = performance.now() + tryForMs
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof LogUnavailableError) || performance.now() > deadlineMs) throw error
      await sleep(retryMs)
    }
  }
}

/**
 * Creates the topics that are missing. Then asks once for what a fresh broker prepares at the first question only (ids of producers,
 * the coordinator of groups), so that the parts do not all wait for it, each with a warning. On a busy machine the broker answers for a
 * moment that it is not the coordinator, or not the leader: that passes. `environment`: how a log is reached that is not ours (docs/settings.md,
 * "Connections"). Rejects with a line for each setting that is wrong.
 */
export async function prepareLog(
  brokers: string,
  overrides: Readonly<Record<string, TopicOverride>>,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const log = openLog({ brokers: safeBrokers(brokers, environment), clientId: 'launcher' })
  await untilAvailable(() => log.ensureTopics(Object.values(TOPICS), overrides))
  await untilAvailable(() => log.committedOffsets('launcher', TOPICS.positions.name))
  await untilAvailable(async () => (await log.openProducer()).close())
}

/** The brokers with what the settings of Kafka say of TLS and credentials. Throws EnvironmentError, which names what is wrong. */
export function safeBrokers(brokers: string, environment: Readonly<Record<string, string | undefined>>): string[] {
  const ofKafka = Object.fromEntries(
    Object.entries(environment).filter(([name]) => name.startsWith('KAFKA_') && name !== 'KAFKA_BROKERS_FILE'),
  )
  return parseEnvironment(commonEnvironment.pick({ KAFKA_BROKERS: true }), { ...ofKafka, KAFKA_BROKERS: brokers }).KAFKA_BROKERS
}
