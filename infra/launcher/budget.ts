import { TOPICS, type TopicDefinition } from '@km0/contracts'
import type { TopicOverride } from '@km0/transport/log-topics'

const MIB = 1024 * 1024

/** Messages that the embedded broker keeps for one session: ten hours of 140 vans. */
const BROKER_QUEUE_MESSAGES = 1_000_000

/** Default of KM0_MAX_DATA_BYTES. */
export const DEFAULT_MAX_DATA_BYTES = 2_000_000_000
export const LEAST_MAX_DATA_BYTES = 500 * MIB

/** How the bytes are shared. What is left is for Redis, checkpoints, logs of programs, and what PostgreSQL needs beside its rows. */
export const SHARES = { log: 0.38, broker: 0.08, results: 0.12, tracks: 0.15, lake: 0.17 } as const

/** Rows of 140 vans with their indexes, a day: 200,000 distances, and tracks with a row every 10 s; and their records in the lake. */
const RESULT_DAY_BYTES = 45_000_000
const TRACK_DAY_BYTES = 165_000_000
const LAKE_DAY_BYTES = 65_000_000

/** Shares of the log by topic; one that is not named has 1. */
const WEIGHTS: Readonly<Record<string, number>> = {
  [TOPICS.positions.name]: 40,
  [TOPICS.panel.name]: 15,
  [TOPICS.stockEvents.name]: 12,
  [TOPICS.stockShuffled.name]: 12,
  [TOPICS.late.name]: 4,
  [TOPICS.deadLetters.name]: 3,
}

const MOST_DAYS = 365
const SEGMENTS_IN_A_SHARE = 4
const SEGMENT_BYTES = { least: MIB, most: 64 * MIB }

export interface DataBudget {
  /** Limits of one session's queue at the embedded broker. */
  readonly brokerQueue: { readonly messages: number; readonly bytes: number }
  /** Days that rows stay in PostgreSQL, and records in the lake; at least one. */
  readonly retentionDays: { readonly results: number; readonly tracks: number; readonly lake: number }
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
    const partitionBytes = (maxDataBytes * SHARES.log * weightOf(topic)) / total / topic.partitions
    const segmentBytes = Math.floor(Math.min(Math.max(partitionBytes / SEGMENTS_IN_A_SHARE, SEGMENT_BYTES.least), SEGMENT_BYTES.most))
    // A compacted topic is bounded by its keys.
    if (topic.cleanupPolicy === 'compact') return [topic.name, { segmentBytes }] as const
    return [topic.name, { segmentBytes, retentionBytes: Math.max(segmentBytes, Math.floor(partitionBytes - segmentBytes)) }] as const
  })
  const days = (share: number, dayBytes: number) => Math.min(MOST_DAYS, Math.max(1, Math.floor((maxDataBytes * share) / dayBytes)))
  return {
    brokerQueue: { messages: BROKER_QUEUE_MESSAGES, bytes: Math.floor(maxDataBytes * SHARES.broker) },
    retentionDays: {
      results: days(SHARES.results, RESULT_DAY_BYTES),
      tracks: days(SHARES.tracks, TRACK_DAY_BYTES),
      lake: days(SHARES.lake, LAKE_DAY_BYTES),
    },
    topics: Object.fromEntries(overrides),
  }
}
