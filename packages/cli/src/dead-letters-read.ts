import { isUtf8 } from 'node:buffer'
import { decodeSource, TOPICS } from '@km0/contracts'
import type { Log, LogRecord } from '@km0/transport'
import { z } from 'zod'
import { type DeadLetter, namesOf } from './dead-letters-repair.ts'

export interface LetterFilter {
  readonly van?: string | undefined
  readonly reason?: string | undefined
  /** Arrival time, `[fromMs, toMs)`. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** Offset of one dead letter. */
  readonly offset?: number | undefined
}

/** What is read of a DeadLetterValue. */
const letterValue = z.object({
  motiu: z.string(),
  data_ms: z.number().optional(),
  mida: z.number().optional(),
  cos: z.string().optional(),
})

type Value = z.infer<typeof letterValue>

interface Found {
  readonly record: LogRecord
  readonly value: Value
  readonly source: { readonly partition: number; readonly offset: number } | null
}

/**
 * The dead letters of positions that fit, oldest first, each with its original: the bridge writes it into the letter, what the stream refuses is
 * read back from the topic of positions while Kafka keeps it.
 */
export async function readDeadLetters(log: Log, filter: LetterFilter): Promise<DeadLetter[]> {
  const found: Found[] = []
  for await (const { records } of log.readTopic({ topic: TOPICS.deadLetters.name })) {
    for (const record of records) if (fits(record, filter)) found.push(...decoded(record, filter))
  }
  const originals = await readOriginals(log, found)
  return found
    .map((letter) => completed(letter, originals))
    .filter(({ van }) => filter.van === undefined || van === filter.van)
    .sort((a, b) => a.offset - b.offset)
}

function fits({ offset, timestampMs }: LogRecord, filter: LetterFilter): boolean {
  if (filter.offset !== undefined && offset !== filter.offset) return false
  return timestampMs >= (filter.fromMs ?? Number.NEGATIVE_INFINITY) && timestampMs < (filter.toMs ?? Number.POSITIVE_INFINITY)
}

function decoded(record: LogRecord, filter: LetterFilter): Found[] {
  const value = parsed(record.value)
  if (value === null || (filter.reason !== undefined && value.motiu !== filter.reason)) return []
  // A letter that names another van is not worth looking for.
  if (filter.van !== undefined && record.key !== null && record.key !== filter.van) return []
  return [{ record, value, source: value.cos === undefined ? decodeSource(record.headers) : null }]
}

function parsed(bytes: Buffer | null): Value | null {
  try {
    const result = letterValue.safeParse(JSON.parse(bytes?.toString('utf8') ?? ''))
    return result.success ? result.data : null
  } catch {
    return null
  }
}

/** Values of the originals that the topic of positions still has, by `partition|offset`. One pass from the first to the last of each partition. */
async function readOriginals(log: Log, found: readonly Found[]): Promise<Map<string, Buffer | null>> {
  const wanted = new Set<string>()
  const from = new Map<number, number>()
  const until = new Map<number, number>()
  for (const { source } of found) {
    if (source === null) continue
    wanted.add(`${source.partition}|${source.offset}`)
    from.set(source.partition, Math.min(from.get(source.partition) ?? source.offset, source.offset))
    until.set(source.partition, Math.max(until.get(source.partition) ?? 0, source.offset + 1))
  }
  const originals = new Map<string, Buffer | null>()
  if (wanted.size === 0) return originals
  const ends = await log.endOffsets(TOPICS.positions.name)
  const starts = await log.startOffsets(TOPICS.positions.name)
  for (const [partition, end] of ends) {
    const first = starts.get(partition) ?? 0
    // What retention has deleted cannot be waited for; a letter beyond the end is of another log.
    from.set(partition, Math.min(end, Math.max(first, from.get(partition) ?? end)))
    until.set(partition, Math.min(end, until.get(partition) ?? 0))
  }
  for await (const { partition, records } of log.readTopic({ topic: TOPICS.positions.name, from, until })) {
    for (const { offset, value } of records) if (wanted.has(`${partition}|${offset}`)) originals.set(`${partition}|${offset}`, value)
  }
  return originals
}

function completed({ record, value, source }: Found, originals: ReadonlyMap<string, Buffer | null>): DeadLetter {
  const bytes = value.cos === undefined ? originals.get(`${source?.partition}|${source?.offset}`) : Buffer.from(value.cos, 'base64')
  const missing = whyMissing(bytes, value)
  const text = missing === null && bytes ? bytes.toString('utf8') : null
  const named = namesOf(text)
  return {
    offset: record.offset,
    reason: value.motiu,
    arrivalMs: record.timestampMs,
    partition: source?.partition ?? null,
    text,
    missing,
    van: named.van ?? record.key,
    eventMs: named.eventMs ?? value.data_ms ?? null,
  }
}

function whyMissing(bytes: Buffer | null | undefined, { mida }: Value): string | null {
  if (bytes === undefined) return 'the original is gone: Kafka has deleted it'
  if (bytes === null) return 'the original has no value'
  if (mida !== undefined && mida > bytes.length) return 'only its first 64 KiB were kept'
  return isUtf8(bytes) ? null : 'the original is no UTF-8'
}
