import { TOPICS } from '@km0/contracts'
import type { Log, LogRecord } from '@km0/transport'

/** What the log says of one partition. */
export interface PartitionInForce {
  /** Null when no settings were ever written, or none are left. */
  readonly settings: WatermarkSettings | null
  /** Newest record timestamp that was seen while looking; null in an empty partition. */
  readonly newestMs: number | null
  /** The newest heartbeat or settings record stands on the player's clock. */
  readonly playing: boolean
}

export interface WatermarkSettings {
  readonly delayMs: number
  readonly allowedLatenessMs: number
}

type Reader = Pick<Log, 'startOffsets' | 'endOffsets' | 'readTopic'>

const FIRST_STEP = 2_000
const STEP_GROWTH = 8

/**
 * Settings in force in each partition of the positions: those of the newest settings record or heartbeat (which repeats them every 10 s),
 * found by reading back from the end in growing steps. Rejects with LogUnavailableError when the log cannot be read.
 */
export async function readInForce(log: Reader): Promise<Map<number, PartitionInForce>> {
  const topic = TOPICS.positions.name
  const starts = await log.startOffsets(topic)
  const ends = await log.endOffsets(topic)
  const found = new Map<number, PartitionInForce>()
  for (const partition of ends.keys()) found.set(partition, { settings: null, newestMs: null, playing: false })
  let until = new Map(ends)
  for (let step = FIRST_STEP; until.size > 0; step *= STEP_GROWTH) {
    const from = new Map(ends)
    for (const [partition, end] of until) from.set(partition, Math.max(starts.get(partition) ?? 0, end - step))
    for (const [partition, end] of until) if (from.get(partition) === end) until.delete(partition)
    if (until.size === 0) break
    for await (const batch of log.readTopic({ topic, from, until })) {
      for (const record of batch.records) note(found, record)
    }
    until = new Map([...until.keys()].filter((partition) => found.get(partition)?.settings === null).map((p) => [p, from.get(p) ?? 0]))
  }
  return found
}

function note(found: Map<number, PartitionInForce>, record: LogRecord): void {
  const before = found.get(record.partition) ?? { settings: null, newestMs: null, playing: false }
  const newestMs = Math.max(before.newestMs ?? record.timestampMs, record.timestampMs)
  const control = controlOf(record.value)
  found.set(record.partition, control === null ? { ...before, newestMs } : { ...control, newestMs })
}

/** Settings that a heartbeat or settings record tells, null for all else. Positions are told apart without parsing them. */
function controlOf(value: Buffer | null): Omit<PartitionInForce, 'newestMs'> | null {
  if (value === null || !value.includes('"tipus"')) return null
  try {
    const message = JSON.parse(value.toString('utf8')) as Record<string, unknown> | null
    const { tipus, retard_ms: delayMs, marge_ms: allowedLatenessMs } = message ?? {}
    if (tipus !== 'batec' && tipus !== 'parametres') return null
    if (typeof delayMs !== 'number' || typeof allowedLatenessMs !== 'number') return null
    return { settings: { delayMs, allowedLatenessMs }, playing: message?.rellotge === 'reproduccio' }
  } catch {
    return null
  }
}
