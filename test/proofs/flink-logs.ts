import { setTimeout as sleep } from 'node:timers/promises'
import { encodeHeartbeat, STOCK_EVENT_KIND, TOPICS } from '@km0/contracts'
import type { OutRecord } from '@km0/transport'
import { generatedLog } from '../chaos/generated-log.ts'

const WAIT_MS = 180_000

/** Waits for a condition; throws with `what` and what was seen last. */
export async function until<T>(what: string, look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const deadlineMs = performance.now() + WAIT_MS
  for (;;) {
    const seen = await look()
    if (holds(seen)) return seen
    if (performance.now() > deadlineMs) throw new Error(`${what}: not in ${WAIT_MS} ms; last ${JSON.stringify(seen)}`)
    await sleep(250)
  }
}

/** Of all logs, the last full minute: brokers refuse what is ahead. */
export const endMs = Math.floor(Date.now() / 60_000) * 60_000

/** The bridge is away for some minutes: heartbeats are missing, which is an outage. */
export function positionsLog(): OutRecord[] {
  const all = generatedLog({ seed: 9, vans: 30, minutes: 60, endMs, partitions: TOPICS.positions.partitions })
  const awayMs = endMs - 30 * 60_000
  const isAway = ({ timestampMs = 0, value }: OutRecord) =>
    timestampMs > awayMs && timestampMs < awayMs + 180_000 && String(value).includes('"batec"')
  return all.filter((record) => !isAway(record))
}

export const STOCK_SOURCES = TOPICS.stockEvents.partitions
const MINUTE = 60_000

/**
 * Stock, keyed by nothing: every source partition is behind the one before it, some events are doubled, damaged, ahead; from an hour on some are
 * late.
 */
export function stockLog({ hours, lateFromHour }: { hours: number; lateFromHour: number }): OutRecord[] {
  let state = 4
  const below = (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return Math.floor((state / 0x8000_0000) * limit)
  }
  const records: OutRecord[] = []
  const put = (partition: number, timestampMs: number, value: string) =>
    records.push({ topic: TOPICS.stockEvents.name, key: null, partition, timestampMs, value })
  const startMs = endMs - hours * 60 * MINUTE
  for (let nowMs = startMs; nowMs < endMs; nowMs += 10_000) {
    const isLate = nowMs >= startMs + lateFromHour * 60 * MINUTE
    for (let partition = 0; partition < STOCK_SOURCES; partition += 1) {
      const lateMs = isLate && below(100) < 4 ? below(15 * MINUTE) : below(20_000)
      const data_ms = below(300) === 0 ? nowMs + 90_000 : nowMs - partition * 40_000 - lateMs
      const dades = { producte: `vi-${below(4)}`, mercat: `mercat-${below(3)}`, estoc_actual: below(40), delta: -1, replica: false }
      const value = JSON.stringify({ tipus: STOCK_EVENT_KIND, id: `${nowMs}-${partition}`, data_ms, dades })
      put(partition, nowMs, below(200) === 0 ? value.slice(0, 50) : value)
      if (below(50) === 0) put(partition, nowMs, value)
    }
  }
  for (let partition = 0; partition < STOCK_SOURCES; partition += 1) put(partition, endMs, encodeHeartbeat(endMs))
  return records
}
