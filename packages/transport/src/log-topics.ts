import { setTimeout as sleep } from 'node:timers/promises'
import type { TopicDefinition } from '@km0/contracts'
import type { Admin } from 'kafkajs'
import { kafkaType } from './log-errors.ts'

/** What an installation changes of the table of topics. */
export interface TopicOverride {
  readonly partitions?: number
  readonly retentionMs?: number
  /** Bytes a partition may hold; -1: no limit. Absent: as it is, or as the broker does by itself. */
  readonly retentionBytes?: number
  /** Bytes after which a new segment begins; a small limit needs small segments. */
  readonly segmentBytes?: number
  /** Records bear the time at which the broker appended them, whatever the producer says: for measurements of the way to it. */
  readonly stampOnAppend?: boolean
}

/** Largest record batch the broker takes. A producer of ours fills batches up to less; the size of one record is checked before it is sent. */
export const MAX_BATCH_BYTES = 1_048_588

/** Kafka's number of the kind of resource whose settings are asked for: a topic. kafkajs' own constant is not visible to ES modules. */
const TOPIC_RESOURCE = 2

/** Longest time until a broker answers for a topic that was created. */
const KNOWN_WITHIN_MS = 15_000
const ASK_EVERY_MS = 100
const NOT_YET = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION'])

/** Compaction and retention work on closed segments only; a quiet topic must close its own too. */
const SEGMENT_MS = 3_600_000

/** Kafka's settings of a topic, as text. What the table and the installation do not say is left as it is. */
export function topicConfig(definition: TopicDefinition, override: TopicOverride = {}): Record<string, string> {
  return {
    'cleanup.policy': definition.cleanupPolicy,
    'retention.ms': String(override.retentionMs ?? definition.retentionMs),
    'max.message.bytes': String(Math.max(MAX_BATCH_BYTES, definition.maxMessageBytes + 4096)),
    'segment.ms': String(SEGMENT_MS),
    ...(override.retentionBytes === undefined ? {} : { 'retention.bytes': String(override.retentionBytes) }),
    ...(override.segmentBytes === undefined ? {} : { 'segment.bytes': String(override.segmentBytes) }),
    ...(override.stampOnAppend === undefined ? {} : { 'message.timestamp.type': override.stampOnAppend ? 'LogAppendTime' : 'CreateTime' }),
  }
}

/**
 * Creates the topics that are missing and alters settings that differ; a second call changes nothing. Returns the number of partitions
 * of each topic as the broker has it: an existing topic keeps its number, whatever the table says.
 */
export async function ensureTopics(
  admin: Admin,
  definitions: readonly TopicDefinition[],
  overrides: Readonly<Record<string, TopicOverride>> = {},
): Promise<Map<string, number>> {
  const existing = new Set(await admin.listTopics())
  const created: string[] = []
  for (const definition of definitions) {
    const override = overrides[definition.name]
    if (existing.has(definition.name)) {
      await alignConfig(admin, definition, override)
      continue
    }
    created.push(definition.name)
    const entries = Object.entries(topicConfig(definition, override)).map(([name, value]) => ({ name, value }))
    // Resolves false, without an error, when another program was quicker.
    await admin.createTopics({
      waitForLeaders: false,
      topics: [
        {
          topic: definition.name,
          numPartitions: override?.partitions ?? definition.partitions,
          replicationFactor: -1,
          configEntries: entries,
        },
      ],
    })
  }
  const names = definitions.map((definition) => definition.name)
  const partitions = await untilKnown(() => countPartitions(admin, names))
  for (const topic of created) await untilKnown(() => admin.fetchTopicOffsets(topic))
  return partitions
}

/**
 * The answer to a question about topics that exist. A broker denies a topic for some time after its controller has created it, and
 * answers for its partitions later still; kafkajs' own wait takes that for an error.
 */
async function untilKnown<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (let leftMs = KNOWN_WITHIN_MS; ; leftMs -= ASK_EVERY_MS) {
    try {
      return await ask()
    } catch (error) {
      if (leftMs <= 0 || !NOT_YET.has(kafkaType(error) ?? '')) throw error
    }
    await sleep(ASK_EVERY_MS)
  }
}

/** Number of partitions of each topic. Rejects when one does not exist. */
export async function countPartitions(admin: Admin, topics: readonly string[]): Promise<Map<string, number>> {
  if (topics.length === 0) return new Map()
  const { topics: described } = await admin.fetchTopicMetadata({ topics: [...topics] })
  return new Map(described.map((topic) => [topic.name, topic.partitions.length]))
}

async function alignConfig(admin: Admin, definition: TopicDefinition, override: TopicOverride | undefined): Promise<void> {
  const wanted = topicConfig(definition, override)
  const described = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: TOPIC_RESOURCE, name: definition.name }],
  })
  const entries = described.resources[0]?.configEntries ?? []
  const inForce = new Map(entries.map((entry) => [entry.configName, entry]))
  if (Object.entries(wanted).every(([name, value]) => inForce.get(name)?.configValue === value)) return
  // AlterConfigs replaces all settings of a topic: those set by somebody else are sent along.
  const kept = entries.filter((entry) => !entry.isDefault && !(entry.configName in wanted))
  await admin.alterConfigs({
    validateOnly: false,
    resources: [
      {
        type: TOPIC_RESOURCE,
        name: definition.name,
        configEntries: [
          ...kept.map((entry) => ({ name: entry.configName, value: entry.configValue })),
          ...Object.entries(wanted).map(([name, value]) => ({ name, value })),
        ],
      },
    ],
  })
}
