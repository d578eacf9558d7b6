/**
 * The one interface between the windowing core and whatever runs it: the stream job, the replay command, the batch job, another engine.
 * Primitives go in, results come out as text that is already the record's value, so that every host writes the same bytes.
 */

/** Which output a result belongs to; the host maps it to a topic. */
export type OutputName = 'panell' | 'tardans' | 'rebutjats' | 'alertes' | 'viu'

export interface Emission {
  readonly output: OutputName
  /** Record key; null for a refused record whose van is unknown. */
  readonly key: string | null
  /** Record value: JSON text, members in the order of the semantics page. */
  readonly value: string
  /** The record that caused it. */
  readonly partition: number
  readonly offset: number
}

/** What became of one record, as bits of the number that `onRecord` returns. */
export const RECORD_FLAGS = {
  accepted: 1,
  invalid: 2,
  future: 4,
  ancient: 8,
  late: 16,
  partlyLate: 32,
  duplicate: 64,
  heartbeat: 128,
  settings: 256,
  /** An event of another kind (stock): skipped, moves nothing. */
  skipped: 512,
  /** The record moved the watermark. */
  watermarkMoved: 1024,
  /** `drain()` has something. */
  emitted: 2048,
} as const

export interface PipelineHost {
  /**
   * Applies one record of the log. Records of one partition come in offset order.
   * `text` is the value decoded as UTF-8 with a BOM kept, null for a record without value; `byteLength` its length in bytes
   * (0 for null), `validUtf8` false when the decoding had to replace anything. Returns RECORD_FLAGS.
   */
  onRecord(
    partition: number,
    offset: number,
    timestampMs: number,
    key: string | null,
    text: string | null,
    byteLength: number,
    validUtf8: boolean,
  ): number
  /** Everything emitted since the last call, in order of emission. */
  drain(): Emission[]
  /** The whole state as JSON text: equal states give equal text. Taking it changes nothing. */
  snapshot(): string
  /**
   * Replaces the state. Throws when the text is not a snapshot of this pipeline, this version and these settings; of the settings delay and
   * allowed lateness may differ: those in force are in the snapshot, and a record of the log changes them.
   */
  restore(snapshot: string): void
  /** Watermark of a partition in ms, -Infinity before its first record that counts. */
  watermarkMs(partition: number): number
  /** Final mark F of a partition in ms: a window that ends at or before it is final. -Infinity before its first record that counts. */
  finalMs(partition: number): number
  /** Largest min(data_ms, timestamp) seen in a partition, -Infinity before. */
  progressMs(partition: number): number
}

/**
 * A host whose state may be large: its snapshot is lines of JSON, so that nobody has to hold it whole, nor to make it in one go.
 * `snapshot()` is these lines with a line feed between them.
 */
export interface LinedHost extends PipelineHost {
  /** Each line is put together when it is asked for: apply nothing before the last one is taken. */
  snapshotLines(): Iterable<string>
  /** `restore` in steps, a few milliseconds each: go through it to its end, and call nothing else of the host before. Throws as `restore` does. */
  restoreLines(lines: Iterable<string>): Iterable<void>
  /** As `drain`, but live points that are coalesced stay until the next `drain`. */
  drainOrdered(): Emission[]
  /** How many vans a partition holds state of. */
  keyCount(partition: number): number
}

/** Told what opens, for people who ask why a window is what it is. It must not call the host. */
export interface WindowObserver {
  /** `kind` is the first part of the result's key; `owner` the van, or `producte|mercat`; `[startMs, endMs)`, endMs null for a session. */
  opened(kind: 'distancia' | 'sessio' | 'alerta', owner: string, startMs: number, endMs: number | null): void
}

/** The stock job reads the log of a shuffle: `partition` of onRecord is the source partition. */
export interface StockHost extends PipelineHost {
  /**
   * Raises a source partition's watermark to at least `watermarkMs`, as the record at (partition, offset) says of it before itself
   * (header `marca_aigua_ms`); call it before that record's onRecord. Returns RECORD_FLAGS watermarkMoved and emitted.
   */
  raiseWatermark(partition: number, offset: number, watermarkMs: number): number
  /** Source partitions that exist from now on. One added later holds nothing back until its first record that counts. */
  setSourcePartitions(count: number): void
  /** The job's watermark: the minimum over the source partitions. */
  jobWatermarkMs(): number
  /** Events refused as late while their window was still open by the job's watermark, since the start of the log. */
  lateWhileOpenCount(): number
}

/** Rows of results that a batch run is asked for: windows and periods with `fromMs < fi_ms <= toMs`, sessions with `fromMs <= inici_ms < toMs`. */
export interface BatchRange {
  readonly fromMs: number
  readonly toMs: number
}

export const ALL_TIME: BatchRange = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY }

/** One result of a batch run; key and value as the live job writes them. */
export interface BatchRow {
  readonly key: string
  readonly value: string
}

/** A batch run (section 8): the same operators as live, with nothing late. */
export interface BatchHost {
  /** Takes one record, in any order; arguments as of PipelineHost.onRecord. Returns RECORD_FLAGS. */
  onRecord(
    partition: number,
    offset: number,
    timestampMs: number,
    key: string | null,
    text: string | null,
    byteLength: number,
    validUtf8: boolean,
  ): number
  /** All rows of the range, by key in code-unit order. Called once, after the last record. */
  rows(): BatchRow[]
}

export interface PositionsSettings {
  readonly windowSizeMs: number
  readonly slideMs: number
  readonly sessionGapMs: number
  /** Watermark delay in force before the first settings record of a partition. */
  readonly delayMs: number
  readonly allowedLatenessMs: number
  /** Longest step between two points that is a segment; 0 = no limit. */
  readonly maxSegmentMs: number
  /** A faster segment is a jump; mm per ms, i.e. m/s; 0 = no limit. */
  readonly topSpeedMmPerMs: number
  readonly maxFutureMs: number
  readonly maxAgeMs: number
  /** Refuse lat and lon both 0. */
  readonly refuseNullIsland: boolean
  /** Emit live points (section 13). */
  readonly livePoints: boolean
  /** What is older than this behind F is no live point; a van that is silent for longer, and 12 minutes, leaves no state. At most `maxAgeMs` counts. */
  readonly liveMemoryMs: number
  /** A van is stopped when it is nearer than this to where it was `stopAfterMs` before. */
  readonly stopDistanceMm: number
  readonly stopAfterMs: number
  /** A point older than this says nothing of where the van was. */
  readonly stopMemoryMs: number
  /** Without such a point, the shortest time that known points must span. */
  readonly stopLeastMs: number
}

/** The defaults of the semantics page. */
export const DEFAULT_POSITIONS_SETTINGS: PositionsSettings = {
  windowSizeMs: 300_000,
  slideMs: 60_000,
  sessionGapMs: 180_000,
  delayMs: 45_000,
  allowedLatenessMs: 0,
  maxSegmentMs: 180_000,
  topSpeedMmPerMs: 70,
  maxFutureMs: 60_000,
  maxAgeMs: 604_800_000,
  refuseNullIsland: true,
  livePoints: true,
  liveMemoryMs: 604_800_000,
  stopDistanceMm: 30_000,
  stopAfterMs: 120_000,
  stopMemoryMs: 720_000,
  stopLeastMs: 60_000,
}

export interface StockSettings {
  readonly windowSizeMs: number
  readonly delayMs: number
  readonly allowedLatenessMs: number
  /** Alert when the minimum is below it. */
  readonly threshold: number
  /** Thresholds by `producte|mercat`, `producte|*` or `*|mercat`, the first that fits in that order. */
  readonly thresholds: Readonly<Record<string, number>>
  readonly maxFutureMs: number
  readonly maxAgeMs: number
}

export const DEFAULT_STOCK_SETTINGS: StockSettings = {
  windowSizeMs: 300_000,
  delayMs: 120_000,
  allowedLatenessMs: 0,
  threshold: 10,
  thresholds: {},
  maxFutureMs: 60_000,
  maxAgeMs: 604_800_000,
}
