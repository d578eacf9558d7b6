import { decodeSource, isPosition, type RecentPoint, type RecentPointsView, TOPICS } from '@km0/contracts'
import type { Log, LogRecord } from '@km0/transport'

/** Arrivals this long ago are looked at. */
export const RECENT_MS = 15 * 60_000
/** A verdict is written after its record; records of one moment may lie some time apart in two topics. */
const VERDICTS_BEFORE_MS = 60_000
/** Records of a partition that are read for one answer: at the rate of the fleet, half an hour. */
const RECORDS_MAX = 60_000
const POINTS_MAX = 2_000
/** The log is there or it is not: nobody waits half a minute for a picture. */
const IDLE_TIMEOUT_MS = 5_000

/** What is read of the log. */
export type PointsLog = Pick<Log, 'offsetsAt' | 'endOffsets' | 'readTopic'>

interface RawPoint {
  readonly offset: number
  readonly arrivalMs: number
  readonly value: Readonly<Record<string, unknown>>
}

/**
 * Every point of a van that arrived in the last 15 minutes, with what became of it. Reads the log itself, so it tells of a second ago, and also
 * of what no result holds. Rejects when the log is away.
 */
export async function readRecentPoints(log: PointsLog, van: string, partition: number, nowMs: number): Promise<RecentPointsView> {
  const fromMs = nowMs - RECENT_MS
  const [raw, late, refused] = await Promise.all([
    rawPoints(log, van, partition, fromMs),
    verdicts(log, TOPICS.late.name, van, partition, fromMs - VERDICTS_BEFORE_MS),
    verdicts(log, TOPICS.deadLetters.name, van, partition, fromMs - VERDICTS_BEFORE_MS),
  ])
  const points = raw.points
    .map((point) => pointOf(point, late.get(point.offset), refused.get(point.offset)))
    .sort((a, b) => a.eventMs - b.eventMs || a.arrivalMs - b.arrivalMs)
  return { van, nowMs, fromMs, points: points.slice(-POINTS_MAX), truncated: raw.truncated || points.length > POINTS_MAX }
}

function pointOf(point: RawPoint, late: string | undefined, refused: string | undefined): RecentPoint {
  const { lat, lon, data_ms: given } = point.value
  const eventMs = typeof given === 'number' && Number.isFinite(given) ? given : point.arrivalMs
  const isPlace = typeof lat === 'number' && typeof lon === 'number' && isPosition({ van: '', lat, lon, eventMs: point.arrivalMs }, true)
  return {
    lon: isPlace ? lon : null,
    lat: isPlace ? lat : null,
    eventMs,
    arrivalMs: point.arrivalMs,
    verdict: refused !== undefined ? 'refused' : late !== undefined ? 'late' : 'accepted',
    reason: refused ?? late ?? null,
  }
}

async function rawPoints(log: PointsLog, van: string, partition: number, fromMs: number) {
  const topic = TOPICS.positions.name
  const [starts, ends] = await Promise.all([log.offsetsAt(topic, fromMs), log.endOffsets(topic)])
  const start = starts.get(partition) ?? 0
  const end = ends.get(partition) ?? 0
  const from = Math.max(start, end - RECORDS_MAX)
  const points: RawPoint[] = []
  for (const record of await recordsOf(log, topic, partition, from, end, ends)) {
    const value = record.key === van ? objectIn(record) : null
    // Heartbeats and settings have a kind, positions have none.
    if (value !== null && value.tipus === undefined) points.push({ offset: record.offset, arrivalMs: record.timestampMs, value })
  }
  return { points, truncated: from > start }
}

/** Reason by source offset, of what a side output says of a van. */
async function verdicts(log: PointsLog, topic: string, van: string, partition: number, fromMs: number): Promise<Map<number, string>> {
  const [starts, ends] = await Promise.all([log.offsetsAt(topic, fromMs), log.endOffsets(topic)])
  const found = new Map<number, string>()
  for (const [one, end] of ends) {
    const start = Math.max(starts.get(one) ?? 0, end - RECORDS_MAX)
    for (const record of await recordsOf(log, topic, one, start, end, ends)) {
      const source = decodeSource(record.headers)
      if (record.key !== van || source === null || source.partition !== partition) continue
      const reason = objectIn(record)?.motiu
      if (typeof reason === 'string') found.set(source.offset, reason)
    }
  }
  return found
}

async function recordsOf(
  log: PointsLog,
  topic: string,
  partition: number,
  from: number,
  end: number,
  ends: ReadonlyMap<number, number>,
): Promise<LogRecord[]> {
  if (from >= end) return []
  // The others are wanted from their ends on: nothing of them.
  const others = new Map(ends)
  const batches = log.readTopic({
    topic,
    from: others.set(partition, from),
    until: new Map([[partition, end]]),
    idleTimeoutMs: IDLE_TIMEOUT_MS,
  })
  const records: LogRecord[] = []
  for await (const batch of batches) if (batch.partition === partition) records.push(...batch.records)
  return records
}

function objectIn(record: LogRecord): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(record.value?.toString('utf8') ?? 'null')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
