import { type Emission, type PipelineHost, RECORD_FLAGS, type SourcePosition } from '@km0/contracts'
import { isValueUtf8, valueBytes, valueText } from '@km0/transport'

/** A record of the log, as its reader gives it. */
export interface ReplayRecord {
  readonly offset: number
  readonly timestampMs: number
  readonly key: string | null
  readonly value: Buffer | null
}

export interface ExpectedResult {
  /** JSON text, as on the wire. */
  readonly value: string
  readonly partition: number
  readonly offset: number
}

/** Nothing older than this before the watermark matters to a window: section 1 of docs/semantics.md. */
const WARM_UP_MS = 480_000

/** Replays a log offline and keeps of each key the row that a sink must end with. */
export class ExpectedResults {
  readonly #host: PipelineHost
  readonly #byKey = new Map<string, ExpectedResult>()
  /** Partitions whose log no longer has its beginning -> event time from which their rows can be compared. */
  readonly #comparableFromMs = new Map<number, number>()
  records = 0

  constructor(host: PipelineHost) {
    this.#host = host
  }

  get byKey(): ReadonlyMap<string, ExpectedResult> {
    return this.#byKey
  }

  /** Applies records of one partition, in order. */
  apply(partition: number, records: readonly ReplayRecord[]): void {
    for (const record of records) {
      const first = record.offset > 0 && !this.#comparableFromMs.has(partition)
      if (first) this.#comparableFromMs.set(partition, record.timestampMs + WARM_UP_MS)
      else if (record.offset === 0) this.#comparableFromMs.set(partition, Number.NEGATIVE_INFINITY)
      const text = valueText(record)
      const flags = this.#host.onRecord(
        partition,
        record.offset,
        record.timestampMs,
        record.key,
        text,
        valueBytes(record),
        isValueUtf8(record, text),
      )
      this.records += 1
      if ((flags & RECORD_FLAGS.emitted) !== 0) for (const emission of this.#host.drain()) this.#keep(emission)
    }
  }

  #keep({ output, key, value, partition, offset }: Emission): void {
    if (output !== 'panell' || key === null) return
    const known = this.#byKey.get(key)
    // The order of a sink within one epoch: by offset, then partition. A van lives in one partition, so the last one wins.
    if (known !== undefined && (known.offset > offset || (known.offset === offset && known.partition > partition))) return
    this.#byKey.set(key, { value, partition, offset })
  }

  /** Whether a row with this source and beginning can be told from this log: its past may have been deleted by retention. */
  isComparable(source: Pick<SourcePosition, 'partition'>, startMs: number): boolean {
    return startMs >= (this.#comparableFromMs.get(source.partition) ?? Number.NEGATIVE_INFINITY)
  }

  /** Partitions whose log has lost its beginning. */
  cutPartitions(): readonly number[] {
    return [...this.#comparableFromMs].filter(([, fromMs]) => Number.isFinite(fromMs)).map(([partition]) => partition)
  }
}
