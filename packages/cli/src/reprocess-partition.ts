import type { DistanceValue, Emission, PanelValue, PipelineHost, PositionsSettings, SessionValue } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import type { PartitionAdvance } from '@km0/serving'
import { isValueUtf8, type LogRecord, valueText } from '@km0/transport'

/** A record of the log, from the lake or from Kafka. */
export interface SourceRecord {
  readonly offset: number
  readonly timestampMs: number
  readonly text: string | null
  readonly isUtf8: boolean
}

/** A record as Kafka has it. */
export function ofLog(record: Pick<LogRecord, 'offset' | 'timestampMs' | 'value'>): SourceRecord {
  const text = valueText(record)
  return { offset: record.offset, timestampMs: record.timestampMs, text, isUtf8: isValueUtf8(record, text) }
}

/** What stands between two records is missing, or the same record comes twice: the seam is broken. */
export class SeamError extends Error {
  override readonly name = 'SeamError'
}

export interface PartitionState {
  readonly partition: number
  readonly nextOffset: number
  readonly snapshot: string | null
  readonly openSessions: Readonly<Record<string, number>>
}

/** The live job's code over one partition, and the rows that it has made since they were last taken. */
export class ReprocessedPartition {
  readonly partition: number
  readonly #host: PipelineHost
  readonly #windowSizeMs: number
  readonly #openSessions: Map<string, number>
  #fromOffset: number
  #nextOffset: number
  #points = 0
  #distances: DistanceValue[] = []
  #sessions: SessionValue[] = []

  constructor(rules: PositionsSettings, { partition, nextOffset, snapshot, openSessions }: PartitionState) {
    this.partition = partition
    this.#host = createPositionsHost({ ...rules, livePoints: false })
    if (snapshot !== null) this.#host.restore(snapshot)
    this.#windowSizeMs = rules.windowSizeMs
    this.#openSessions = new Map(Object.entries(openSessions))
    this.#fromOffset = nextOffset
    this.#nextOffset = nextOffset
  }

  get nextOffset(): number {
    return this.#nextOffset
  }

  /** Whether there is anything to take. */
  get hasMoved(): boolean {
    return this.#nextOffset > this.#fromOffset
  }

  /** Records that were not stored yet. */
  get pending(): number {
    return this.#points
  }

  /** A settings record from before the start: it puts delay and allowed lateness in force, and moves nothing. */
  configure(record: SourceRecord): void {
    this.#give(record)
  }

  /** Applies records in offset order; afterwards it stands at `nextOffset`. Throws a SeamError when one was applied before. */
  apply(records: readonly SourceRecord[], nextOffset: number): void {
    for (const record of records) {
      if (record.offset < this.#nextOffset)
        throw new SeamError(`partition ${this.partition}: offset ${record.offset} comes again after ${this.#nextOffset - 1}`)
      this.#give(record)
      this.#nextOffset = record.offset + 1
      this.#points += 1
      for (const emission of this.#host.drain()) this.#keep(emission)
    }
    this.#nextOffset = Math.max(this.#nextOffset, nextOffset)
  }

  #give({ offset, timestampMs, text, isUtf8: valid }: SourceRecord): void {
    this.#host.onRecord(this.partition, offset, timestampMs, null, text, text === null ? 0 : Buffer.byteLength(text), valid)
  }

  #keep({ output, value }: Emission): void {
    if (output !== 'panell') return
    const row = JSON.parse(value) as PanelValue
    if (row.tipus === 'distancia') this.#distances.push(row)
    else if (row.tipus === 'sessio') this.#sessions.push(row)
    // A later point may move the start back, but none that is accepted lies before the last window that is not final.
    else if (row.estat === 'amb-senyal')
      this.#openSessions.set(row.repartidor, Math.min(row.des_de_ms, this.#host.finalMs(this.partition) - this.#windowSizeMs))
    else this.#openSessions.delete(row.repartidor)
  }

  /** What is to be stored. Nothing of it is given again. */
  take(): PartitionAdvance {
    const finalMs = this.#host.finalMs(this.partition)
    const advance: PartitionAdvance = {
      partition: this.partition,
      fromOffset: this.#fromOffset,
      nextOffset: this.#nextOffset,
      finalMs: Number.isFinite(finalMs) ? finalMs : null,
      snapshot: this.#host.snapshot(),
      openSessions: Object.fromEntries([...this.#openSessions].map(([van, ms]) => [van, Number.isFinite(ms) ? ms : 0])),
      points: this.#points,
      distances: this.#distances,
      sessions: this.#sessions,
    }
    this.#fromOffset = this.#nextOffset
    this.#points = 0
    this.#distances = []
    this.#sessions = []
    return advance
  }
}
