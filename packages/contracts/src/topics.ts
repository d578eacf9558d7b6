/**
 * The one table of topics. Wire names are Catalan and leave this room only as the values of these constants.
 * A topic that is not here does not exist: the broker creates none by itself.
 */

const DAY_MS = 86_400_000
const KIB = 1024

export type CleanupPolicy = 'delete' | 'compact' | 'compact,delete'

export interface TopicDefinition {
  readonly name: string
  /** Default number of partitions; the number in force is read from the broker. */
  readonly partitions: number
  readonly cleanupPolicy: CleanupPolicy
  /** Milliseconds a record is kept; -1 keeps it for ever. Kafka counts from the record timestamp. */
  readonly retentionMs: number
  readonly maxMessageBytes: number
  /** The only program (and role) that writes it. */
  readonly producer: string
  readonly holds: string
}

const topic = (definition: TopicDefinition): TopicDefinition => definition

export const TOPICS = {
  /** Kept longer than rule `antic` (7 days), so that no accepted record is gone before its windows are final. */
  positions: topic({
    name: 'repartiment.posicions',
    partitions: 6,
    cleanupPolicy: 'delete',
    retentionMs: 8 * DAY_MS,
    maxMessageBytes: 1024 * KIB,
    producer: 'bridge; km0 dead-letters resubmit',
    holds: 'positions as they came or were repaired, heartbeats, settings; key van, timestamp arrival',
  }),
  /** A result goes to the partition of its source, so one sink task sees the results of one source in order. */
  panel: topic({
    name: 'repartiment.panell',
    partitions: 6,
    cleanupPolicy: 'compact,delete',
    retentionMs: 8 * DAY_MS,
    maxMessageBytes: 64 * KIB,
    producer: 'stream positions',
    holds: 'distances, sessions, signal states; natural keys',
  }),
  live: topic({
    name: 'repartiment.viu',
    partitions: 6,
    cleanupPolicy: 'compact',
    retentionMs: -1,
    maxMessageBytes: 64 * KIB,
    producer: 'stream positions',
    holds: 'newest point of each van by event time; key van',
  }),
  marks: topic({
    name: 'repartiment.marques',
    partitions: 1,
    cleanupPolicy: 'compact',
    retentionMs: -1,
    maxMessageBytes: 16 * KIB,
    producer: 'stream positions',
    holds:
      'watermark, progress and newest heartbeat of each source partition, at most one a second, key partition; outages of ours, key tall|<particio>|<inici_ms>',
  }),
  late: topic({
    name: 'repartiment.tardans',
    partitions: 6,
    cleanupPolicy: 'delete',
    retentionMs: 30 * DAY_MS,
    maxMessageBytes: 64 * KIB,
    producer: 'stream positions',
    holds: 'late side output: tard, parcial',
  }),
  deadLetters: topic({
    name: 'repartiment.rebutjats',
    partitions: 1,
    cleanupPolicy: 'delete',
    retentionMs: 30 * DAY_MS,
    maxMessageBytes: 192 * KIB,
    producer: 'bridge (what it cannot decode or attribute), stream positions (invalid, futur, antic)',
    holds: 'refused messages with reason and original bytes',
  }),
  stockEvents: topic({
    name: 'comandes.esdeveniments',
    partitions: 6,
    cleanupPolicy: 'delete',
    retentionMs: 8 * DAY_MS,
    maxMessageBytes: 1024 * KIB,
    producer: 'ordering service',
    holds: 'stock changes among other events; keyed by anything',
  }),
  stockShuffled: topic({
    name: 'inventari.intern.barreja',
    partitions: 6,
    cleanupPolicy: 'delete',
    retentionMs: 8 * DAY_MS,
    maxMessageBytes: 1024 * KIB,
    producer: 'stream stock-shuffle',
    holds: 'stock events and heartbeats of each source partition; key producte|mercat',
  }),
  stockAlerts: topic({
    name: 'inventari.alertes',
    partitions: 6,
    cleanupPolicy: 'compact',
    retentionMs: -1,
    maxMessageBytes: 64 * KIB,
    producer: 'stream stock-windows',
    holds: 'low stock windows; key <inici_ms>|<producte>|<mercat>',
  }),
  /** Results of stock go to the partition of the shuffle's topic that they come from: these topics have at least as many. */
  stockLive: topic({
    name: 'inventari.viu',
    partitions: 6,
    cleanupPolicy: 'compact',
    retentionMs: -1,
    maxMessageBytes: 64 * KIB,
    producer: 'stream stock-windows',
    holds: 'newest known stock of each product in a market by event time; key producte|mercat',
  }),
  stockEpisodes: topic({
    name: 'inventari.episodis',
    partitions: 6,
    cleanupPolicy: 'compact,delete',
    retentionMs: 30 * DAY_MS,
    maxMessageBytes: 64 * KIB,
    producer: 'stream stock-windows',
    holds: 'episodes of low stock, and what people were told; key <inici_ms>|<producte>|<mercat>',
  }),
  stockMarks: topic({
    name: 'inventari.marques',
    partitions: 1,
    cleanupPolicy: 'compact',
    retentionMs: -1,
    maxMessageBytes: 16 * KIB,
    producer: 'stream stock-windows',
    holds: 'watermarks of each partition of the shuffle, at most one a second; key partition',
  }),
  stockLate: topic({
    name: 'inventari.tardans',
    partitions: 6,
    cleanupPolicy: 'delete',
    retentionMs: 30 * DAY_MS,
    maxMessageBytes: 64 * KIB,
    producer: 'stream stock-windows',
    holds: 'late side output of stock',
  }),
  stockDeadLetters: topic({
    name: 'inventari.rebutjats',
    partitions: 1,
    cleanupPolicy: 'delete',
    retentionMs: 30 * DAY_MS,
    maxMessageBytes: 192 * KIB,
    producer: 'stream stock-shuffle',
    holds: 'refused stock events with reason',
  }),
  bridgeLease: topic({
    name: 'pont.torn',
    partitions: 1,
    cleanupPolicy: 'delete',
    retentionMs: DAY_MS,
    maxMessageBytes: 16 * KIB,
    producer: 'nobody',
    holds: 'nothing: the bridge that has its partition is the active one',
  }),
} as const satisfies Record<string, TopicDefinition>

export type TopicName = (typeof TOPICS)[keyof typeof TOPICS]['name']
