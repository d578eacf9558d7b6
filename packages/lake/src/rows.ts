import {
  decodeHeartbeat,
  decodeSettings,
  decodeSource,
  decodeStockEvent,
  encodePosition,
  HEARTBEAT_KIND,
  type JsonObject,
  offTheClock,
  parseJsonObject,
  readPositionRecord,
  SETTINGS_KIND,
  STOCK_EVENT_KIND,
} from '@km0/contracts'
import { headersOf, type LakeRecord, textOf } from './record.ts'
import { dayOf, type LakeRow, type LakeTable, POSITIONS, STOCK_EVENTS } from './tables.ts'

/** Rules 1 and 2 of section 3, as settings of the pipeline have them. */
export interface AcceptanceSettings {
  readonly maxFutureMs: number
  readonly maxAgeMs: number
  readonly refuseNullIsland: boolean
}

/** Makes rows of a topic's records. */
export interface RowMaker {
  /** The row, in the order of the table's columns; null for a record that the lake does not keep. */
  row(record: LakeRecord): LakeRow | null
}

/** Kinds of record in the tables `positions` and `stock_events`. */
export const ROW_KINDS = { position: 'position', event: 'event', heartbeat: 'heartbeat', settings: 'settings' } as const

export function rowMaker(table: LakeTable, epoch: number, settings: AcceptanceSettings): RowMaker {
  if (table === POSITIONS) return { row: (record) => positionRow(record, epoch, settings) }
  if (table === STOCK_EVENTS) return { row: (record) => stockRow(record, epoch, settings) }
  return { row: (record) => sideRow(record, epoch) }
}

/** Values of the columns that every table has. */
function logValues(record: LakeRecord, epoch: number, value: string | null, dayMs: number): LakeRow {
  return [epoch, record.partition, record.offset, record.timestampMs, record.key, headersOf(record), value, dayOf(dayMs)]
}

function parse(record: LakeRecord): { text: string; json: JsonObject } | null {
  const text = textOf(record)
  const json = parseJsonObject(text, record.value?.length ?? 0, text !== null)
  return text === null || json === null ? null : { text, json }
}

/** Event time of a heartbeat or settings record; null when it is none, or not valid. */
function controlOf(json: JsonObject): { kind: 'heartbeat' | 'settings'; eventMs: number } | null {
  if (json.tipus === HEARTBEAT_KIND) {
    const eventMs = decodeHeartbeat(json)
    return eventMs === null ? null : { kind: 'heartbeat', eventMs }
  }
  return json.tipus === SETTINGS_KIND && decodeSettings(json) !== null ? { kind: 'settings', eventMs: json.data_ms as number } : null
}

function isControl(json: JsonObject): boolean {
  return json.tipus === HEARTBEAT_KIND || json.tipus === SETTINGS_KIND
}

function positionRow(record: LakeRecord, epoch: number, settings: AcceptanceSettings): LakeRow | null {
  const text = textOf(record)
  if (text === null) return null
  const read = readPositionRecord(text, record.value?.length ?? 0, true, settings.refuseNullIsland)
  if (read.kind === 'invalid') return null
  if (read.kind !== 'position') {
    const eventMs = read.kind === 'heartbeat' ? read.eventMs : ((JSON.parse(text) as JsonObject).data_ms as number)
    return [...logValues(record, epoch, text, eventMs), read.kind, null, eventMs, null, null]
  }
  if (offTheClock(read.eventMs, record.timestampMs, settings.maxFutureMs, settings.maxAgeMs) !== null) return null
  const value = encodePosition(read) === text ? null : text
  return [...logValues(record, epoch, value, read.eventMs), ROW_KINDS.position, read.van, read.eventMs, read.lat, read.lon]
}

function stockRow(record: LakeRecord, epoch: number, settings: AcceptanceSettings): LakeRow | null {
  const parsed = parse(record)
  if (parsed === null) return null
  const { text, json } = parsed
  if (isControl(json)) {
    const control = controlOf(json)
    return control && [...logValues(record, epoch, text, control.eventMs), control.kind, null, null, control.eventMs, null, null]
  }
  if (json.tipus !== STOCK_EVENT_KIND) return null
  const event = decodeStockEvent(json)
  if (event === null || offTheClock(event.eventMs, record.timestampMs, settings.maxFutureMs, settings.maxAgeMs) !== null) return null
  const { product, market, eventMs, stock, id } = event
  return [...logValues(record, epoch, text, eventMs), ROW_KINDS.event, product, market, eventMs, stock, id]
}

/** Late points and dead letters: every record is kept. What is not JSON of ours has no reason. */
function sideRow(record: LakeRecord, epoch: number): LakeRow {
  const text = textOf(record) ?? (record.value === null ? null : Buffer.from(record.value).toString('utf8'))
  const json = text === null ? null : parseAny(text)
  const reason = typeof json?.motiu === 'string' ? json.motiu : null
  const eventMs = Number.isSafeInteger(json?.data_ms) ? (json?.data_ms as number) : null
  const source = decodeSource(record.headers)
  // A dead letter's event time may be any; its day is that of its arrival. A late point's is its event day.
  const dayMs = reason === 'tard' || reason === 'parcial' ? (eventMs ?? record.timestampMs) : record.timestampMs
  return [...logValues(record, epoch, text, dayMs), reason, eventMs, source?.partition ?? null, source?.offset ?? null]
}

function parseAny(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
  } catch {
    return null
  }
}
