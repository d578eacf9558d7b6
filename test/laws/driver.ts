import {
  ALL_TIME,
  type BatchRange,
  type BatchRow,
  DEFAULT_POSITIONS_SETTINGS,
  type Emission,
  type PipelineHost,
  type PositionsSettings,
} from '@km0/contracts'
import { createPositionsBatch, createPositionsHost } from '@km0/pipelines'

/** 2026-09-14T08:00:00Z: a border of every window, hour and slide. */
export const T0 = 1_789_372_800_000
export const SECOND = 1000
export const MINUTE = 60_000

export interface LogRecord {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly text: string | null
}

/** Writes a log as a bridge does: offsets in order of writing. */
export class LogWriter {
  readonly records: LogRecord[] = []
  private readonly partition: number

  constructor(partition = 0) {
    this.partition = partition
  }

  /** A value that arrives at `arrivalMs`. */
  value(arrivalMs: number, text: string | null): this {
    this.records.push({ partition: this.partition, offset: this.records.length, timestampMs: arrivalMs, text })
    return this
  }

  position(van: string, eventMs: number, lat: number, lon: number, arrivalMs = eventMs + SECOND): this {
    return this.value(arrivalMs, JSON.stringify({ repartidor: van, lat, lon, data_ms: eventMs }))
  }

  heartbeat(atMs: number): this {
    return this.value(atMs, JSON.stringify({ tipus: 'batec', data_ms: atMs }))
  }

  settings(atMs: number, delayMs: number, allowedLatenessMs: number): this {
    return this.value(atMs, JSON.stringify({ tipus: 'parametres', data_ms: atMs, retard_ms: delayMs, marge_ms: allowedLatenessMs }))
  }
}

/** A value as it stands in the panel's topics. */
export interface Row {
  readonly key: string
  readonly value: Record<string, unknown>
}

/** Gives one record to a host. */
export function feed(host: Pick<PipelineHost, 'onRecord'>, { partition, offset, timestampMs, text }: LogRecord): number {
  return host.onRecord(partition, offset, timestampMs, null, text, text === null ? 0 : Buffer.byteLength(text), true)
}

/** Everything that the live positions job emits for a log. */
export function runLive(records: readonly LogRecord[], settings: Partial<PositionsSettings> = {}): Emission[] {
  const host = createPositionsHost({ ...DEFAULT_POSITIONS_SETTINGS, ...settings })
  for (const record of records) feed(host, record)
  return host.drain()
}

/** The batch rows of a log. */
export function runBatch(
  records: readonly LogRecord[],
  range: BatchRange = ALL_TIME,
  settings: PositionsSettings = DEFAULT_POSITIONS_SETTINGS,
): BatchRow[] {
  const host = createPositionsBatch(settings, range)
  for (const record of records) feed(host, record)
  return host.rows()
}

/** Rows of one output whose key begins with `prefix`, parsed. */
export function rowsOf(emissions: readonly Emission[], output: Emission['output'], prefix = ''): Row[] {
  return emissions
    .filter((emission) => emission.output === output && (emission.key ?? '').startsWith(prefix))
    .map(({ key, value }) => ({ key: key ?? '', value: JSON.parse(value) as Record<string, unknown> }))
}

/** Batch rows whose key begins with `prefix`, parsed. */
export function parsed(rows: readonly BatchRow[], prefix = ''): Row[] {
  return rows
    .filter(({ key }) => key.startsWith(prefix))
    .map(({ key, value }) => ({ key, value: JSON.parse(value) as Record<string, unknown> }))
}

/** The last value of each key, as a sink has it in the end. */
export function lastRows(emissions: readonly Emission[], output: Emission['output'] = 'panell'): Map<string, string> {
  return new Map(emissions.filter((emission) => emission.output === output).map(({ key, value }) => [key ?? '', value]))
}
