import {
  DEFAULT_OUTAGE_AFTER_MS,
  type Emission,
  encodeSource,
  HEADERS,
  type HoleValue,
  type LinedHost,
  RECORD_FLAGS,
  TOPICS,
  TRACE_HEADER,
} from '@km0/contracts'
import { HeartbeatWatch, linesOf, markText, POSITIONS_TOPICS } from '@km0/pipelines'
import { isValueUtf8, type LogRecord, type OutRecord, valueBytes, valueText } from '@km0/transport'
import { z } from 'zod'
import { readBattery } from './battery.ts'

/** How many records of a slice had each outcome. Names are those of RECORD_FLAGS that a person asks for. */
export type Outcome = 'accepted' | 'invalid' | 'future' | 'ancient' | 'late' | 'partlyLate' | 'duplicate' | 'heartbeat' | 'settings'

const OUTCOMES: readonly Outcome[] = [
  'accepted',
  'invalid',
  'future',
  'ancient',
  'late',
  'partlyLate',
  'duplicate',
  'heartbeat',
  'settings',
]

/** Flags of a record are below it. */
const FLAGS_END = 2 * Math.max(...Object.values(RECORD_FLAGS))

export interface SliceResult {
  /** What is to be written, in order. */
  readonly records: readonly OutRecord[]
  readonly outcomes: ReadonlyMap<Outcome, number>
}

const heartbeatWatchSnapshot = z.object({
  heartbeatMs: z.number().int().nullable(),
  /** Absent in states of before outages were told. */
  bridge: z.string().nullable().default(null),
})

const recordMs = z.number().int().nullable()

/** First line of a state. Version 1 held all of it, the pipeline's part as text. */
const taskHead = z.discriminatedUnion('version', [
  heartbeatWatchSnapshot.extend({ version: z.literal(1), host: z.string(), recordMs }),
  heartbeatWatchSnapshot.extend({ version: z.literal(2), recordMs }),
])

/**
 * The work on one source partition: its pipeline state, and what goes to which topic. A pure function of the partition's records: it reads
 * no clock, so a restored task writes the same bytes.
 *
 * Results for the panel keep their order and go to the partition of their source. Of each van
 * only the live point that is the newest at the end of a slice is written, with what its battery held. Outages of ours go to the topic of marks.
 */
export class PartitionTask {
  readonly partition: number
  readonly #epoch: number
  readonly #host: LinedHost
  #nextOffset: number
  readonly #heartbeats: HeartbeatWatch
  #outages: OutRecord[] = []
  #recordMs: number | null = null
  readonly #isTraced: boolean

  /** A task without a past, for a partition that is read from its start. */
  constructor(
    partition: number,
    epoch: number,
    host: LinedHost,
    nextOffset: number,
    outageAfterMs = DEFAULT_OUTAGE_AFTER_MS,
    isTraced = false,
  ) {
    this.partition = partition
    this.#isTraced = isTraced
    this.#epoch = epoch
    this.#host = host
    this.#nextOffset = nextOffset
    this.#heartbeats = new HeartbeatWatch(partition, epoch, outageAfterMs)
  }

  get nextOffset(): number {
    return this.#nextOffset
  }

  get watermarkMs(): number {
    return this.#host.watermarkMs(this.partition)
  }

  get progressMs(): number {
    return this.#host.progressMs(this.partition)
  }

  /** Applies a stretch of the partition's log. `nextOffset` is where it goes on after it. */
  apply(records: readonly LogRecord[], nextOffset: number): SliceResult {
    const byFlags = new Uint32Array(FLAGS_END)
    for (const record of records) byFlags[this.#applyOne(record)]! += 1
    this.#nextOffset = nextOffset
    return { records: this.#results(records), outcomes: outcomesOf(byFlags) }
  }

  #results(records: readonly LogRecord[]): OutRecord[] {
    const traces = this.#isTraced ? tracesByVan(records) : NO_TRACES
    const results = this.#host.drain().map((emission) => this.#resultOf(emission, recordAt(records, emission.offset), traces))
    const outages = this.#outages
    this.#outages = []
    return outages.length === 0 ? results : [...results, ...outages]
  }

  #applyOne(record: LogRecord): number {
    const text = valueText(record)
    const flags = this.#host.onRecord(
      this.partition,
      record.offset,
      record.timestampMs,
      // Section 1 of docs/semantics.md: the key is not read, so it is not decoded either.
      null,
      text,
      valueBytes(record),
      isValueUtf8(record, text),
    )
    if (this.#recordMs === null || record.timestampMs > this.#recordMs) this.#recordMs = record.timestampMs
    if ((flags & RECORD_FLAGS.heartbeat) !== 0) {
      const outage = this.#heartbeats.hear(record.offset, record.timestampMs, text)
      if (outage !== null) this.#outages.push(outage)
    }
    return flags
  }

  #resultOf(emission: Emission, cause: LogRecord | null, traces: ReadonlyMap<string, string>): OutRecord {
    const topic = POSITIONS_TOPICS[emission.output]
    const source = encodeSource({ epoch: this.#epoch, partition: emission.partition, offset: emission.offset })
    const battery = emission.output === 'viu' ? readBattery(cause?.value ?? null) : null
    const result: OutRecord = {
      topic,
      key: emission.key,
      value: emission.value,
      headers: this.#headersOf(
        battery === null ? source : { ...source, [HEADERS.batteryPercent]: String(battery) },
        emission,
        cause,
        traces,
      ),
      timestampMs: cause?.timestampMs ?? 0,
    }
    return topic === TOPICS.panel.name ? { ...result, partition: emission.partition } : result
  }

  /**
   * With the trace of the record that caused the result, where traces are on; without, no header of a record is even decoded. A live point
   * stands for the older ones of its van in the slice, and so takes over their trace.
   */
  #headersOf(headers: Record<string, string>, { output, key }: Emission, cause: LogRecord | null, traces: ReadonlyMap<string, string>) {
    if (!this.#isTraced) return headers
    const trace = cause?.headers[TRACE_HEADER] ?? (output === 'viu' && key !== null ? traces.get(key) : undefined)
    return trace === undefined ? headers : { ...headers, [TRACE_HEADER]: trace }
  }

  /** A hole in the log before what is applied next, for the late side output. */
  hole(value: HoleValue): OutRecord {
    const source = encodeSource({ epoch: this.#epoch, partition: this.partition, offset: value.fins_offset })
    const key = `forat|${this.partition}`
    return { topic: TOPICS.late.name, key, value: JSON.stringify(value), headers: source, timestampMs: value.data_ms }
  }

  /** How far this partition has come, for the topic of marks. */
  mark(): OutRecord {
    const value = markText({
      partition: this.partition,
      epoch: this.#epoch,
      nextOffset: this.#nextOffset,
      recordMs: this.#recordMs,
      heartbeats: this.#heartbeats,
      host: this.#host,
    })
    return { topic: TOPICS.marks.name, key: String(this.partition), value }
  }

  /** How many vans it holds state of. */
  get keyCount(): number {
    return this.#host.keyCount(this.partition)
  }

  /** The whole state as text, as of `nextOffset`: lines, named by operator. Apply nothing before the last one is taken. */
  *snapshotLines(): Generator<string> {
    yield JSON.stringify({ version: 2, ...this.#heartbeats.snapshot(), recordMs: this.#recordMs })
    yield* this.#host.snapshotLines()
  }

  /** The same as one text. */
  snapshot(): string {
    return [...this.snapshotLines()].join('\n')
  }

  /** Takes over a state, in short steps: go through them to the end. Throws when it is of another pipeline, or of other settings. */
  *restoreLines(lines: Iterable<string>, nextOffset: number): Generator<void> {
    const rest = lines[Symbol.iterator]()
    const head = taskHead.parse(JSON.parse(rest.next().value ?? ''))
    yield* this.#host.restoreLines(head.version === 1 ? [head.host] : { [Symbol.iterator]: () => rest })
    this.#heartbeats.restore(head)
    this.#recordMs = head.recordMs
    this.#nextOffset = nextOffset
  }

  /** The same in one go. */
  restore(snapshot: string, nextOffset: number): void {
    for (const _step of this.restoreLines(linesOf(snapshot), nextOffset));
  }
}

/** How many records had each outcome, from how many had which flags. */
function outcomesOf(byFlags: Uint32Array): ReadonlyMap<Outcome, number> {
  const outcomes = new Map<Outcome, number>(OUTCOMES.map((outcome) => [outcome, 0]))
  for (const [flags, count] of byFlags.entries()) {
    if (count === 0) continue
    for (const outcome of OUTCOMES) if ((flags & RECORD_FLAGS[outcome]) !== 0) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + count)
  }
  return outcomes
}

/** The record with an offset among records in their order; null when it is not there. Mostly none is missing, so its place is known. */
function recordAt(records: readonly LogRecord[], offset: number): LogRecord | null {
  let [low, high] = [0, records.length - 1]
  let middle = offset - (records[0]?.offset ?? 0)
  while (low <= high) {
    if (middle < low || middle > high) middle = (low + high) >> 1
    const record = records[middle]!
    if (record.offset === offset) return record
    if (record.offset < offset) low = middle + 1
    else high = middle - 1
    middle = (low + high) >> 1
  }
  return null
}

const NO_TRACES: ReadonlyMap<string, string> = new Map()

/** Newest trace of each van in a slice. */
function tracesByVan(records: readonly LogRecord[]): ReadonlyMap<string, string> {
  const traces = new Map<string, string>()
  for (const { key, headers } of records) {
    const trace = headers[TRACE_HEADER]
    if (trace !== undefined && key !== null) traces.set(key, trace)
  }
  return traces
}
