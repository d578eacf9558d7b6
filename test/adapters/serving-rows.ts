import { type DistanceValue, EVERYTHING, encodeSource, type OutageValue, type PanelValue, TOPICS } from '@km0/contracts'
import type { ResultRecord, Serving } from '@km0/serving'

export const NOW = 1_789_380_000_000
export const MINUTE = 60_000
export const PANEL = TOPICS.panel.name

/** Where a record stands: source offset first, then what differs from epoch 1, partition 0. */
export interface At {
  readonly offset: number
  readonly epoch?: number
  readonly partition?: number
}

export function record(key: string, value: object, at: At, logOffset: number): ResultRecord {
  const source = encodeSource({ epoch: at.epoch ?? 1, partition: at.partition ?? 0, offset: at.offset })
  return { offset: logOffset, key, value: Buffer.from(JSON.stringify(value)), headers: source }
}

const keyOf = (value: PanelValue) =>
  value.tipus === 'distancia'
    ? `distancia|${value.repartidor}|${value.fi_ms}`
    : value.tipus === 'sessio'
      ? `sessio|${value.repartidor}|${value.inici_ms}`
      : `senyal|${value.repartidor}`

export const distance = (van: string, endMs: number, mm: number, more: Partial<DistanceValue> = {}): DistanceValue => ({
  tipus: 'distancia',
  repartidor: van,
  inici_ms: endMs - 5 * MINUTE,
  fi_ms: endMs,
  distancia_mm: mm,
  posicions: 2,
  salts: 0,
  desplacament_mm: 1,
  ...more,
})
export const signal = (van: string, estat: 'amb-senyal' | 'sense-senyal', sinceMs: number): PanelValue => ({
  tipus: 'senyal',
  repartidor: van,
  estat,
  des_de_ms: sinceMs,
})
export const session = (van: string, startMs: number, endMs: number): PanelValue => ({
  tipus: 'sessio',
  repartidor: van,
  inici_ms: startMs,
  fi_ms: endMs,
  posicions: 3,
})

/** Applies results to the panel topic's partition 0, and reads back what is stored. */
export class PanelWriter {
  readonly #serving: Serving
  offset = 0

  constructor(serving: Serving) {
    this.#serving = serving
  }

  /** Applies results in the order given, as one batch. */
  apply(...results: readonly (readonly [PanelValue, At])[]) {
    const records: ResultRecord[] = results.map(([value, at]) => record(keyOf(value), value, at, this.offset++))
    const batch = { topic: PANEL, partition: 0, nextOffset: this.offset, clusterId: 'one', records, writtenAtMs: NOW + 50_000 }
    return this.#serving.applyPanelBatch(batch)
  }

  async stored(): Promise<Record<string, object>> {
    const all: Record<string, object> = {}
    for await (const { key, value } of this.#serving.readAllResults(EVERYTHING)) all[key] = value
    return all
  }
}

const TABLES = [
  'distance_row',
  'session_row',
  'signal_state',
  'no_signal_episode',
  'live_point',
  'track_point',
  'acknowledgement',
  'serving_offset',
  'partition_mark',
  'outage',
  'late_point',
  'log_hole',
  'certificate',
  'van',
  'depot',
]

/** Statement that empties every table. */
export const EMPTY_ALL = `truncate ${TABLES.map((table) => `km0.${table}`).join(', ')} cascade`

/** An outage of ours, of one partition. */
export const outage = (fromMs: number, toMs: number): { key: string; value: OutageValue } => ({
  key: `tall|0|${fromMs}`,
  value: { tipus: 'tall', particio: 0, inici_ms: fromMs, fi_ms: toMs, causa: null, epoca: 1, offset: 1 },
})
