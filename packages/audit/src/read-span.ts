import { createHash } from 'node:crypto'
import { type DeadLetterValue, decodeSource, type PipelineHost, REPAIR_HEADERS, TOPICS } from '@km0/contracts'
import { digestKey, type LogTally, type OffsetRange, reasonOf } from '@km0/ledger'
import type { TalliedRecord } from '@km0/ledger/log-tally'
import { isValueUtf8, type Log, type LogRecord, valueBytes, valueText } from '@km0/transport'
import { NeedsWholeLog, WarmStart } from './warm-start.ts'

const MINUTE_MS = 60_000
/**
 * The log is read from so long before the span. What the state at the span's start is made of (section 1 of docs/semantics.md) came within
 * delay + allowed lateness + 11 minutes before the progress there; the first two are an hour each at most. The rest is for a pause of the bridge.
 */
export const WARM_UP_MS = 180 * MINUTE_MS
const LONGEST_PAUSE_MS = WARM_UP_MS - 131 * MINUTE_MS
/** Messages that were published in the span may come so much later. */
export const TAIL_MS = 60 * MINUTE_MS

/** Where in the log the span lies. */
export interface SpanPlaces {
  readonly fromMs: number
  readonly toMs: number
  /** Of each partition of the positions. */
  readonly span: ReadonlyMap<number, OffsetRange>
  /** First offset to read; the log's start where the state cannot be told otherwise. */
  readonly readFrom: ReadonlyMap<number, number>
  readonly readUntil: ReadonlyMap<number, number>
  readonly logStart: ReadonlyMap<number, number>
}

export interface ReadHooks {
  /** Epoch in force: what older ones have written counts only where it still stands. */
  readonly epoch: number
  readonly signal: AbortSignal | undefined
  readonly onRecords: (count: number) => void
}

export interface SpanBasis {
  readonly replayedFromMs: number
  readonly records: number
}

/** Runs the tally over the positions. Rejects with NeedsWholeLog when the state at the span's start cannot be told from `readFrom`. */
export async function readPositions(
  log: Log,
  places: SpanPlaces,
  tally: LogTally,
  host: PipelineHost,
  hooks: ReadHooks,
): Promise<SpanBasis> {
  const basis = { replayedFromMs: Number.POSITIVE_INFINITY, records: 0 }
  const starts = new Map<number, WarmStart>()
  const entered = new Set<number>()
  for (const [partition, from] of places.readFrom) if (from > (places.logStart.get(partition) ?? 0)) starts.set(partition, new WarmStart())
  const apply = (record: TalliedRecord) => {
    const { partition, offset } = record
    const range = places.span.get(partition)
    if (starts.has(partition) && !entered.has(partition) && range !== undefined && offset >= range.from) {
      entered.add(partition)
      if (host.progressMs(partition) < places.fromMs - LONGEST_PAUSE_MS)
        throw new NeedsWholeLog(`partition ${partition} was quiet for long before the span`)
    }
    tally.apply(record)
  }
  const { readFrom: from, readUntil: until } = places
  for await (const { partition, records } of log.readTopic({ topic: TOPICS.positions.name, from, until })) {
    hooks.signal?.throwIfAborted()
    const start = starts.get(partition)
    for (const record of records) {
      basis.replayedFromMs = Math.min(basis.replayedFromMs, record.timestampMs)
      const tallied = talliedOf(record, places.fromMs - WARM_UP_MS)
      if (start === undefined) apply(tallied)
      else for (const released of start.take(tallied)) apply(released)
    }
    basis.records += records.length
    hooks.onRecords(records.length)
  }
  if ([...starts.values()].some((start) => start.isWaiting)) throw new NeedsWholeLog('the log tells no settings')
  return basis
}

function talliedOf(record: LogRecord, digestsFromMs: number): TalliedRecord {
  const { partition, offset, timestampMs, value, headers } = record
  const text = valueText(record)
  return {
    partition,
    offset,
    timestampMs,
    text,
    byteLength: valueBytes(record),
    validUtf8: isValueUtf8(record, text),
    repaired: headers[REPAIR_HEADERS.by] !== undefined,
    digest: value === null || timestampMs < digestsFromMs ? null : digestOf(value),
  }
}

/** `digestKey` of the SHA-256, without the detour over hexadecimal. */
function digestOf(bytes: Buffer): number {
  const hash = createHash('sha256').update(bytes).digest()
  return hash.readUIntBE(0, 6) * 16 + (hash[6]! >> 4)
}

/** Reads the dead letters: those of the job by their source, those of bridges by their time and the digest of the message. */
export async function readDeadLetters(log: Log, places: SpanPlaces, tally: LogTally, range: TopicRange, hooks: ReadHooks): Promise<void> {
  for await (const record of recordsOf(log, TOPICS.deadLetters.name, range, hooks)) {
    const text = record.value?.toString('utf8') ?? ''
    const source = decodeSource(record.headers)
    if (source !== null) {
      if (isWithin(places, source)) tally.deadLetters.found(source.partition, source.offset, reasonOf(text), source.epoch < hooks.epoch)
      continue
    }
    const inSpan = record.timestampMs >= places.fromMs && record.timestampMs < places.toMs
    tally.letter(record.timestampMs, reasonOf(text), digestIn(text), inSpan)
  }
}

/** Digest of the message in a bridge's dead letter; null when it tells none. */
function digestIn(text: string): number | null {
  try {
    const { sha256 } = JSON.parse(text) as Partial<DeadLetterValue>
    return sha256 !== undefined && /^[0-9a-f]{64}$/.test(sha256) ? digestKey(sha256) : null
  } catch {
    return null
  }
}

/** Reads the late side output. */
export async function readLate(log: Log, places: SpanPlaces, tally: LogTally, range: TopicRange, hooks: ReadHooks): Promise<void> {
  for await (const { value, headers } of recordsOf(log, TOPICS.late.name, range, hooks)) {
    const source = decodeSource(headers)
    if (source !== null && isWithin(places, source))
      tally.late.found(source.partition, source.offset, reasonOf(value?.toString('utf8') ?? ''), source.epoch < hooks.epoch)
  }
}

/** Reads result rows. `stored`: next offset of serving in each partition of the topic. */
export async function readResults(
  log: Log,
  places: SpanPlaces,
  tally: LogTally,
  range: TopicRange,
  stored: ReadonlyMap<number, number>,
  hooks: ReadHooks,
): Promise<void> {
  for await (const { key, value, headers, partition, offset } of recordsOf(log, TOPICS.panel.name, range, hooks)) {
    const source = decodeSource(headers)
    if (key === null || value === null || source === null) continue
    const span = places.span.get(source.partition)
    if (span === undefined || source.offset < span.from) continue
    tally.results.found(
      key,
      source.offset < span.until ? 'in-span' : 'newer',
      offset < (stored.get(partition) ?? 0),
      source.epoch < hooks.epoch,
    )
  }
}

/** A stretch of a topic. */
export interface TopicRange {
  readonly from: ReadonlyMap<number, number>
  readonly until: ReadonlyMap<number, number>
}

async function* recordsOf(log: Log, topic: string, { from, until }: TopicRange, hooks: ReadHooks): AsyncGenerator<LogRecord> {
  for await (const { records } of log.readTopic({ topic, from, until })) {
    hooks.signal?.throwIfAborted()
    hooks.onRecords(records.length)
    yield* records
  }
}

function isWithin({ span }: SpanPlaces, { partition, offset }: { readonly partition: number; readonly offset: number }): boolean {
  const range = span.get(partition)
  return range !== undefined && offset >= range.from && offset < range.until
}
