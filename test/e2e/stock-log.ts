import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { decodeShuffled, encodeHeartbeat, type ShuffledHeaders, type StockAlertValue, TOPICS } from '@km0/contracts'
import type { Log, LogRecord, OutRecord } from '@km0/transport'

const oraclePath = fileURLToPath(new URL('../oracle/oracle.py', import.meta.url))

/** Whether the independent implementation can run here. */
export const hasPython = spawnSync('python3', ['-c', 'from zoneinfo import ZoneInfo; ZoneInfo("Europe/Madrid")']).status === 0
if (!hasPython) console.log('skipped: comparisons with the oracle, as there is no python3 with time zones on this machine')

/** A line of the oracle's input. */
export interface OracleRecord {
  readonly partition: number
  readonly offset: number
  readonly timestamp: number
  readonly key: null
  readonly value: string
}

/** Alerts as the oracle prints them, the last of each key, without the number of the revision. */
export type Alerts = ReadonlyMap<string, Omit<StockAlertValue, 'revisio'>>

export async function readAll(log: Log, topic: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const batch of log.readTopic({ topic })) records.push(...batch.records)
  return records
}

export interface ShuffledRecord {
  readonly target: number
  readonly record: LogRecord
  readonly headers: ShuffledHeaders
}

export async function readShuffled(log: Log): Promise<ShuffledRecord[]> {
  return (await readAll(log, TOPICS.stockShuffled.name)).map((record) => {
    const headers = decodeShuffled(record.headers)
    if (headers === null) throw new Error(`record ${record.partition}/${record.offset} is not of the shuffle`)
    return { target: record.partition, record, headers }
  })
}

/** One log out of all targets: distinct by source partition and offset, heartbeats and settings at their place, sources by arrival. */
export function mergedLog(shuffled: readonly ShuffledRecord[]): OracleRecord[] {
  const bySource = new Map<number, Map<string, ShuffledRecord>>()
  for (const entry of shuffled) {
    const { sourcePartition, sourceOffset, number } = entry.headers
    const of = bySource.get(sourcePartition) ?? new Map<string, ShuffledRecord>()
    bySource.set(sourcePartition, of)
    const name = number === null ? `${sourceOffset}` : `${sourceOffset} ${number}`
    if (!of.has(name)) of.set(name, entry)
  }
  const lists = [...bySource.values()].map((of) =>
    [...of.values()].sort((a, b) => a.headers.sourceOffset - b.headers.sourceOffset || (a.headers.number ?? -1) - (b.headers.number ?? -1)),
  )
  return interleaveByArrival(lists).map(({ record, headers }) => ({
    partition: headers.sourcePartition,
    offset: headers.sourceOffset,
    timestamp: headers.arrivalMs,
    key: null,
    value: String(record.value),
  }))
}

function interleaveByArrival(lists: readonly ShuffledRecord[][]): ShuffledRecord[] {
  const out: ShuffledRecord[] = []
  const next = lists.map(() => 0)
  for (;;) {
    let chosen = -1
    for (const [index, list] of lists.entries()) {
      const head = list[next[index]!]
      const best = chosen < 0 ? undefined : lists[chosen]![next[chosen]!]
      if (head !== undefined && (best === undefined || head.headers.arrivalMs < best.headers.arrivalMs)) chosen = index
    }
    if (chosen < 0) return out
    out.push(lists[chosen]![next[chosen]!]!)
    next[chosen]! += 1
  }
}

/** Runs the oracle. Throws with what it said when it fails. */
export function oracle(mode: 'live' | 'batch', records: readonly OracleRecord[], sources: number): { alerts: Alerts; late: number } {
  const words = mode === 'live' ? ['--partitions', String(sources), '--delay', '0'] : []
  const run = spawnSync('python3', [oraclePath, 'stock', mode, ...words], {
    input: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  if (run.status !== 0) throw new Error(`the oracle failed: ${run.stderr}`)
  const rows = run.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { topic: string; key: string; value: StockAlertValue })
  const alerts = new Map(rows.filter((row) => row.topic === 'alertes').map((row) => [row.key, withoutRevision(row.value)]))
  return { alerts: sorted(alerts), late: rows.filter((row) => row.topic === 'tardans').length }
}

/** The last value of each key of the topic of alerts, as every consumer sees them. */
export async function alertsOf(log: Log): Promise<Alerts> {
  const records = await readAll(log, TOPICS.stockAlerts.name)
  return sorted(new Map(records.map((record) => [record.key ?? '', withoutRevision(JSON.parse(String(record.value)) as StockAlertValue)])))
}

const sorted = (alerts: Alerts): Alerts => new Map([...alerts].sort(([a], [b]) => (a < b ? -1 : 1)))

function withoutRevision({ revisio: _, ...value }: StockAlertValue): Omit<StockAlertValue, 'revisio'> {
  return value
}

/** A generator of whole numbers that one seed repeats. */
export function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

export interface ShopOptions {
  readonly seed: number
  readonly events: number
  /** Event time of the first and of the last event. */
  readonly fromMs: number
  readonly toMs: number
  /** Source partitions that get records. */
  readonly partitions: readonly number[]
  /** Longest delay of the second replica, which tells everything again under the same id. 0 leaves it out. */
  readonly replicaDelayMs: number
}

/** Stock events as the ordering service would write them, with other events in between; in order of arrival. */
export function shopEvents(options: ShopOptions): OutRecord[] {
  const { events, fromMs, toMs, partitions, replicaDelayMs } = options
  const random = randomOf(options.seed)
  const out: OutRecord[] = []
  const send = (value: string, timestampMs: number) =>
    out.push({ topic: TOPICS.stockEvents.name, key: null, value, timestampMs, partition: partitions[random(partitions.length)]! })
  for (let index = 0; index < events; index += 1) {
    const eventMs = Math.floor(fromMs + ((toMs - fromMs) * index) / events)
    if (random(10) === 0) send('{"tipus":"comanda.creada","dades":{}}', eventMs)
    const value = JSON.stringify({
      tipus: 'estoc.actualitzat',
      id: `e${options.seed}-${index}`,
      data_ms: eventMs,
      dades: {
        producte: `producte-${random(12)}`,
        mercat: `mercat-${random(3)}`,
        estoc_actual: random(400) === 0 ? -1 : 4 + random(60),
        delta: -1,
        replica: 'a',
      },
    })
    send(value, eventMs + random(2_000))
    if (replicaDelayMs > 0) send(value, eventMs + (random(100) === 0 ? replicaDelayMs : random(5_000)))
  }
  return out.sort((a, b) => (a.timestampMs ?? 0) - (b.timestampMs ?? 0))
}

/** The same events as a log that nothing is late in, for the oracle's batch. */
export function asOracleLog(records: readonly OutRecord[]): OracleRecord[] {
  const next = new Map<number, number>()
  return records.map(({ partition = 0, timestampMs = 0, value }) => {
    const offset = next.get(partition) ?? 0
    next.set(partition, offset + 1)
    return { partition, offset, timestamp: timestampMs, key: null, value: String(value ?? encodeHeartbeat(timestampMs)) }
  })
}
