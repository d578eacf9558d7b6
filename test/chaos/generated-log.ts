import { TOPICS } from '@km0/contracts'
import type { OutRecord } from '@km0/transport'

const STEP_MS = 5_000
const HEARTBEAT_MS = 10_000
const MINUTE = 60_000

/** Numbers in [0, 1) that a seed decides (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/**
 * A log as a bridge would write it: settings first, a heartbeat to every partition each 10 s, vans with pauses of some minutes, late points,
 * twins, a null island, a broken record and a future one now and then. Timestamps are the given times of arrival, in order.
 */
export function generatedLog(options: { seed: number; vans: number; minutes: number; endMs: number; partitions: number }): OutRecord[] {
  const { vans, minutes, endMs, partitions } = options
  const random = seeded(options.seed)
  const topic = TOPICS.positions.name
  const startMs = endMs - minutes * MINUTE
  const records: OutRecord[] = []
  const toAll = (timestampMs: number, value: object) => {
    for (let partition = 0; partition < partitions; partition += 1) {
      records.push({ topic, key: null, partition, timestampMs, value: JSON.stringify(value) })
    }
  }
  toAll(startMs, { tipus: 'parametres', data_ms: startMs, retard_ms: 45_000, marge_ms: 0 })
  const silentUntilMs = new Array<number>(vans).fill(0)
  const places = Array.from({ length: vans }, () => ({ lat: 41.9 + random() * 0.2, lon: 2.7 + random() * 0.3 }))
  for (let nowMs = startMs; nowMs <= endMs; nowMs += STEP_MS) {
    for (const [index, place] of places.entries()) {
      if (nowMs < (silentUntilMs[index] ?? 0)) continue
      if (random() < 0.004) silentUntilMs[index] = nowMs + (2 + random() * 6) * MINUTE
      place.lat += (random() - 0.5) * 1e-3
      place.lon += (random() - 0.5) * 1e-3
      const latenessMs = Math.floor(random() < 0.02 ? random() * 9 * MINUTE : random() * 8_000)
      const position = { repartidor: `furgoneta-${index}`, ...place, data_ms: nowMs - latenessMs }
      records.push(recordOf(topic, nowMs, odd(position, random(), nowMs)))
      if (random() < 0.01) records.push(recordOf(topic, nowMs, JSON.stringify(position)))
    }
    if ((nowMs - startMs) % HEARTBEAT_MS === 0) toAll(nowMs, { tipus: 'batec', data_ms: nowMs })
  }
  return records
}

function recordOf(topic: string, timestampMs: number, value: string): OutRecord {
  const van = /"repartidor":"([^"]*)"/.exec(value)?.[1] ?? null
  return { topic, key: van, timestampMs, value }
}

function odd(position: { repartidor: string; lat: number; lon: number; data_ms: number }, chance: number, nowMs: number): string {
  if (chance < 0.001) return JSON.stringify({ ...position, lat: 0, lon: 0 })
  if (chance < 0.002) return JSON.stringify(position).slice(0, 40)
  if (chance < 0.003) return JSON.stringify({ ...position, data_ms: nowMs + 120_000 })
  if (chance < 0.004) return JSON.stringify({ ...position, lat: position.lat + 2 })
  return JSON.stringify(position)
}
