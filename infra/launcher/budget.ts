import type { TopicDefinition } from '@km0/contracts'
import type { TopicOverride } from '@km0/transport/log-topics'

const MIB = 1024 * 1024

/** Default of KM0_MAX_DATA_BYTES. */
export const DEFAULT_MAX_DATA_BYTES = 2_000_000_000
export const LEAST_MAX_DATA_BYTES = 500 * MIB

/** How the bytes are shared. What is left is for PostgreSQL (its days are few), Redis, checkpoints and logs of programs. */
const LOG_SHARE = 0.5
const BROKER_SHARE = 0.1

/** Shares of the log by topic; one that is not named has 1. */
const WEIGHTS: Readonly<Record<string, number>> = {
  'repartiment.posicions': 40,
  'repartiment.panell': 15,
  'comandes.esdeveniments': 12,
  'inventari.intern.barreja': 12,
  'repartiment.tardans': 4,
  'repartiment.rebutjats': 3,
}

const SEGMENTS_IN_A_SHARE = 4
const SEGMENT_BYTES = { least: MIB, most: 64 * MIB }

export interface DataBudget {
  readonly brokerQueueBytes: number
  /** By topic: retention and segment size of each partition, so that all partitions full hold no more than the log's share. */
  readonly topics: Readonly<Record<string, TopicOverride>>
}

/** Bytes of KM0_MAX_DATA_BYTES. Throws when the text is no number or too small to run on. */
export function parseMaxDataBytes(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_MAX_DATA_BYTES
  const bytes = Number(text)
  if (!/^\d+$/.test(text) || bytes < LEAST_MAX_DATA_BYTES) {
    throw new Error(`KM0_MAX_DATA_BYTES is a whole number of bytes of at least ${LEAST_MAX_DATA_BYTES}, not ${text}`)
  }
  return bytes
}

/** Divides the bytes of a data folder. Kafka deletes closed segments only, so a partition may hold one segment more than its retention. */
export function divideData(maxDataBytes: number, topics: readonly TopicDefinition[]): DataBudget {
  const weightOf = (topic: TopicDefinition) => WEIGHTS[topic.name] ?? 1
  const total = topics.reduce((sum, topic) => sum + weightOf(topic), 0)
  const overrides = topics.map((topic) => {
    const partitionBytes = (maxDataBytes * LOG_SHARE * weightOf(topic)) / total / topic.partitions
    const segmentBytes = Math.floor(Math.min(Math.max(partitionBytes / SEGMENTS_IN_A_SHARE, SEGMENT_BYTES.least), SEGMENT_BYTES.most))
    // A compacted topic is bounded by its keys.
    if (topic.cleanupPolicy === 'compact') return [topic.name, { segmentBytes }] as const
    return [topic.name, { segmentBytes, retentionBytes: Math.max(segmentBytes, Math.floor(partitionBytes - segmentBytes)) }] as const
  })
  return { brokerQueueBytes: Math.floor(maxDataBytes * BROKER_SHARE), topics: Object.fromEntries(overrides) }
}
