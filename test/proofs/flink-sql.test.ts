import { join } from 'node:path'
import { DEFAULT_STOCK_SETTINGS, RECORD_FLAGS, TOPICS } from '@km0/contracts'
import { startGuard } from '@km0/infra/embedded/guard'
import { type Cluster, startCluster } from '@km0/infra/engines/flink/cluster/cluster'
import { buildJob } from '@km0/infra/engines/flink/cluster/fetch'
import { createPositionsHost, createStockHost } from '@km0/pipelines'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type OutRecord, openLog } from '@km0/transport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { positionsLog, STOCK_SOURCES, stockLog, until } from './flink-logs.ts'

// The SQL statements of infra/engines/flink/sql on a real cluster, against our own core. They agree where nothing is late; where something is,
// Flink's one watermark over all partitions takes in what we refuse by the partition's own clock, and drops the rest without a trace.

const SESSIONS = 'prova.sessions'
const ALERTS = 'prova.alertes'

/** Values by key, members in one order, without what only we tell. */
type Rows = Map<string, string>
function put(rows: Rows, key: string | null, value: string): void {
  const { revisio: _revisio, ...members } = JSON.parse(value) as Record<string, unknown>
  rows.set(String(key), JSON.stringify(Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)))))
}

/** Each van in a partition of its own choice; damaged records in the first. */
const placed = (records: readonly OutRecord[]) =>
  records.map((record) => ({
    ...record,
    partition: record.partition ?? Number(/furgoneta-(\d+)/.exec(String(record.value))?.[1] ?? 0) % TOPICS.positions.partitions,
  }))

/** Our sessions, and the records that are late for anything. */
function replayPositions(records: readonly OutRecord[]): { sessions: Rows; late: Set<OutRecord> } {
  const host = createPositionsHost()
  const offsets = new Map<number, number>()
  const sessions: Rows = new Map()
  const late = new Set<OutRecord>()
  for (const record of records) {
    const { partition = 0, timestampMs = 0, value } = record
    const offset = offsets.get(partition) ?? 0
    offsets.set(partition, offset + 1)
    const text = String(value)
    const flags = host.onRecord(partition, offset, timestampMs, null, text, Buffer.byteLength(text), true)
    if ((flags & (RECORD_FLAGS.late | RECORD_FLAGS.partlyLate)) !== 0) late.add(record)
    for (const { key, value: row } of host.drain()) if (key?.startsWith('sessio|')) put(sessions, key, row)
  }
  return { sessions, late }
}

/** Our alerts, and keys of the windows that a late event would be in. */
function replayStock(records: readonly OutRecord[]): { alerts: Rows; lateKeys: Set<string>; late: number } {
  const host = createStockHost(DEFAULT_STOCK_SETTINGS, STOCK_SOURCES)
  const offsets = new Map<number, number>()
  const alerts: Rows = new Map()
  const lateKeys = new Set<string>()
  let late = 0
  for (const { partition = 0, timestampMs = 0, value } of records) {
    const offset = offsets.get(partition) ?? 0
    offsets.set(partition, offset + 1)
    const text = String(value)
    const flags = host.onRecord(partition, offset, timestampMs, null, text, Buffer.byteLength(text), true)
    for (const { output, key, value: row } of host.drain()) if (output === 'alertes') put(alerts, key, row)
    if ((flags & RECORD_FLAGS.late) === 0) continue
    late += 1
    const { data_ms, dades } = JSON.parse(text) as { data_ms: number; dades: { producte: string; mercat: string } }
    lateKeys.add(`${Math.floor(data_ms / 300_000) * 300_000}|${dades.producte}|${dades.mercat}`)
  }
  return { alerts, lateKeys, late }
}

describe('SQL on Flink', () => {
  const guard = startGuard(0)
  let services: TestServices<{ kafka: true }>
  let log: Log
  let cluster: Cluster
  let jar: string
  beforeAll(async () => {
    jar = await buildJob()
    services = await startServices({ kafka: true })
    log = openLog({ brokers: [services.kafka.brokers], clientId: 'test' })
    const results = [ALERTS, SESSIONS].map((name) => ({ ...TOPICS.stockLate, name }))
    await log.ensureTopics([...Object.values(TOPICS), ...results])
    cluster = await startCluster({ folder: join(services.dataDir, 'flink'), taskManagers: 1, slots: 4, guard })
  }, 600_000)
  afterAll(async () => {
    await cluster?.kill9()
    await services?.stop()
    await guard.close()
  }, 60_000)

  async function write(records: readonly OutRecord[]): Promise<void> {
    const producer = await log.openProducer()
    for (let at = 0; at < records.length; at += 1_000) await producer.send(records.slice(at, at + 1_000))
    await producer.close()
  }

  const run = (sql: string, results: string) =>
    cluster.rest.run({
      jar,
      mainClass: 'cat.km0.flink.SqlJob',
      parallelism: 2,
      words: [`sql=${sql}`, `brokers=${services.kafka.brokers}`, `results=${results}`],
    })

  async function found(topic: string): Promise<Rows> {
    const rows: Rows = new Map()
    for await (const { records } of log.readTopic({ topic })) for (const { key, value } of records) put(rows, key, String(value))
    return rows
  }

  /** Keys of ours whose row is missing or another, and keys that only SQL has. */
  const differences = (ours: Rows, theirs: Rows) =>
    [...new Set([...ours.keys(), ...theirs.keys()])].filter((key) => ours.get(key) !== theirs.get(key))

  it('sessions are ours where nothing is late', async () => {
    let records: OutRecord[] = placed(positionsLog())
    let ours = replayPositions(records)
    while (ours.late.size > 0) {
      const { late } = ours
      records = records.filter((record) => !late.has(record))
      ours = replayPositions(records)
    }
    await write(records)
    await run('sessions', SESSIONS)
    await until(
      'all sessions',
      async () => differences(ours.sessions, await found(SESSIONS)).slice(0, 5),
      (keys) => keys.length === 0,
    )
    console.log(`sessions: ${ours.sessions.size} rows, all equal`)
    expect(ours.sessions.size).toBeGreaterThan(30)
  }, 300_000)

  it('low stock is ours in every window without a late event', async () => {
    const records = stockLog({ hours: 2, lateFromHour: 1 })
    const { alerts, lateKeys, late } = replayStock(records)
    await write(records)
    await run('low-stock', ALERTS)
    const newest = [...alerts.keys()].sort().at(-1) ?? ''
    await until(
      'the last windows',
      async () => [...(await found(ALERTS)).keys()].filter((key) => key.split('|')[0] === newest.split('|')[0]).length,
      (count) => count > 0,
    )
    await until(
      'all windows without a late event',
      async () => differences(alerts, await found(ALERTS)).filter((key) => !lateKeys.has(key)),
      (keys) => keys.length === 0,
    )
    const theirs = await found(ALERTS)
    const different = differences(alerts, theirs)
    console.log(
      `low stock: ${alerts.size} rows of ours, ${late} late events of ours in ${lateKeys.size} windows; ${different.length} rows of SQL differ`,
    )
    expect(late).toBeGreaterThan(10)
    expect(alerts.size).toBeGreaterThan(100)
    // What differs has events that we refuse: more of them, never fewer.
    for (const key of different) {
      const count = (rows: Rows) => (JSON.parse(rows.get(key) ?? '{}') as { actualitzacions?: number }).actualitzacions ?? 0
      expect(count(theirs)).toBeGreaterThan(count(alerts))
    }
  }, 300_000)
})
