import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_STOCK_SETTINGS, encodeHeartbeat, STOCK_EVENT_KIND, TOPICS } from '@km0/contracts'
import { startGuard } from '@km0/infra/embedded/guard'
import { type Cluster, startCluster } from '@km0/infra/engines/flink/cluster/cluster'
import { buildJob } from '@km0/infra/engines/flink/cluster/fetch'
import { createStockHost } from '@km0/pipelines'
import { createPositions, createStockShuffle, createStockWindows } from '@km0/pipelines/engine/index'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type OutRecord, openLog } from '@km0/transport'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { generatedLog } from '../chaos/generated-log.ts'

const partitions = TOPICS.positions.partitions
/** All that the positions job writes. */
const POSITIONS = [TOPICS.panel, TOPICS.late, TOPICS.deadLetters, TOPICS.live, TOPICS.marks].map(({ name }) => name)
const WAIT_MS = 180_000

/** Flink's processes end with this one, also when it is killed. */
const guard = startGuard(0)
afterAll(() => guard.close())

let jar: string
beforeAll(async () => {
  jar = await buildJob()
}, 600_000)

/** Waits for a condition; throws with `what` and what was seen last. */
async function until<T>(what: string, look: () => Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  const deadlineMs = performance.now() + WAIT_MS
  for (;;) {
    const seen = await look()
    if (holds(seen)) return seen
    if (performance.now() > deadlineMs) throw new Error(`${what}: not in ${WAIT_MS} ms; last ${JSON.stringify(seen)}`)
    await sleep(250)
  }
}

interface Row {
  readonly key: string | null
  readonly value: string
}

/** Topics that are compacted, apart from windows and sessions, which have one value here. */
const NEWEST: readonly string[] = [
  TOPICS.live.name,
  TOPICS.marks.name,
  TOPICS.stockLive.name,
  TOPICS.stockAlerts.name,
  TOPICS.stockMarks.name,
]

/** Sorted lines; where only the newest of a key counts, that alone. */
function linesOf(topic: string, rows: readonly Row[]): string[] {
  const isNewest = ({ key }: Row) => NEWEST.includes(topic) || key?.startsWith('senyal|')
  const newest = new Map(rows.filter(isNewest).map((row) => [row.key, row]))
  return rows
    .filter((row) => !isNewest(row) || newest.get(row.key) === row)
    .map(({ key, value }) => `${key} ${value}`)
    .sort()
}

type Rows = Map<string, Row[]>
function put(rows: Rows, topic: string, row: Row): void {
  const list = rows.get(topic)
  if (list === undefined) rows.set(topic, [row])
  else list.push(row)
}
const linesByTopic = (rows: Rows) => new Map([...rows].map(([topic, list]) => [topic, linesOf(topic, list)]))

/** What our own core makes of the log as it stands: rows of each topic, sorted. */
async function expectedOf(log: Log): Promise<Map<string, string[]>> {
  const rows: Rows = new Map()
  const engines = new Map<number, ReturnType<typeof createPositions>>()
  for await (const { partition, records } of log.readTopic({ topic: TOPICS.positions.name })) {
    const create = () => createPositions(partition, 0, null, null, (topic, _partition, key, value) => put(rows, topic, { key, value }))
    const engine = engines.get(partition) ?? create()
    engines.set(partition, engine)
    for (const { offset, value, timestampMs } of records) {
      const text = value === null ? null : String(value)
      engine.onRecord(Number(offset), timestampMs, text, Buffer.byteLength(text ?? ''), true)
    }
    engine.flush()
  }
  for (const engine of engines.values()) engine.mark(0)
  return linesByTopic(rows)
}

/** Waits for a new complete checkpoint, so that whatever follows has something to go back to. */
async function nextCheckpoint(cluster: Cluster, job: string): Promise<string> {
  const { completed: before } = await cluster.rest.checkpoints(job)
  const { path } = await until(
    'a checkpoint',
    () => cluster.rest.checkpoints(job),
    ({ completed, path }) => completed > before && path !== null,
  )
  return path ?? ''
}

/** Numbers that only the engine's way of numbering decides are left out. */
function comparable(topic: string, value: string): string {
  if (topic !== TOPICS.stockAlerts.name && topic !== TOPICS.stockMarks.name) return value
  const { revisio: _revisio, ...members } = JSON.parse(value) as Record<string, unknown>
  if (topic === TOPICS.stockAlerts.name) return JSON.stringify(members)
  return JSON.stringify({ particio: members.particio, marca_aigua_ms: members.marca_aigua_ms })
}

/** A job, its whole log, and what must come out of it by topic. */
interface Case {
  readonly mainClass: string
  readonly delivery: string
  readonly words: readonly string[]
  readonly topics: readonly string[]
  readonly records: readonly OutRecord[]
  expected(log: Log): Promise<Map<string, string[]>>
}

let services: TestServices<{ kafka: true }>
let log: Log
let cluster: Cluster | undefined
beforeEach(async () => {
  services = await startServices({ kafka: true })
  log = openLog({ brokers: [services.kafka.brokers], clientId: 'test' })
  await log.ensureTopics(Object.values(TOPICS))
}, 120_000)
afterEach(async () => {
  await cluster?.kill9()
  cluster = undefined
  await services?.stop()
}, 60_000)

async function write(records: readonly OutRecord[]): Promise<void> {
  const producer = await log.openProducer()
  for (let at = 0; at < records.length; at += 1_000) await producer.send(records.slice(at, at + 1_000))
  await producer.close()
}

async function found(topic: string): Promise<string[]> {
  const rows: Row[] = []
  for await (const { records } of log.readTopic({ topic }))
    for (const { key, value } of records) rows.push({ key, value: comparable(topic, String(value)) })
  return linesOf(topic, rows)
}

/** How many rows of each topic are not there yet. */
async function missing(topics: readonly string[], want: ReadonlyMap<string, string[]>): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const topic of topics) {
    const seen = new Set(await found(topic))
    counts[topic] = (want.get(topic) ?? []).filter((line) => !seen.has(line)).length
  }
  return counts
}

/** A third of the log, kill -9 of a TaskManager, a stop and another parallelism, loss of the whole cluster, the rest. */
async function survives({ mainClass, delivery, words, topics, records, expected }: Case): Promise<Map<string, string[]>> {
  const start = () => startCluster({ folder: join(services.dataDir, 'flink'), taskManagers: 2, slots: 1, guard })
  const run = (on: Cluster, parallelism: number, from?: string) => {
    const all = [`brokers=${services.kafka.brokers}`, `delivery=${delivery}`, 'checkpoint-ms=1000', ...words]
    return on.rest.run({ jar, mainClass, parallelism, words: all, ...(from === undefined ? {} : { from }) })
  }
  const sixth = Math.floor(records.length / 6)
  let now = await start()
  cluster = now
  await write(records.slice(0, 2 * sixth))
  let job = await run(now, 2)
  await nextCheckpoint(now, job)

  const killedMs = performance.now()
  await now.taskManagers.get('tm-1')?.kill9()
  await write(records.slice(2 * sixth, 3 * sixth))
  await now.startTaskManager('tm-1')
  await nextCheckpoint(now, job)
  console.log(`${delivery}: a checkpoint ${Math.round(performance.now() - killedMs)} ms after kill -9 of a TaskManager`)

  const savepoint = await now.rest.suspend(job)
  console.log(`${delivery}: stopped with a ${savepoint.kind}, on at parallelism 1`)
  job = await run(now, 1, savepoint.path)
  await write(records.slice(3 * sixth, 4 * sixth))
  await nextCheckpoint(now, job)
  const retained = await nextCheckpoint(now, job)

  await now.kill9()
  now = await start()
  cluster = now
  job = await run(now, 2, retained)
  await write(records.slice(4 * sixth))
  const want = await expected(log)
  await until(
    'all results',
    () => missing(topics, want),
    (counts) => Object.values(counts).every((count) => count === 0),
  )
  for (const topic of topics) {
    const rows = await found(topic)
    const wanted = want.get(topic) ?? []
    console.log(`${delivery}: ${topic} ${rows.length} rows, ${wanted.length} wanted`)
    if (delivery === 'exactly-once') expect(rows).toEqual(wanted)
    else expect([...new Set(rows)]).toEqual([...new Set(wanted)])
  }
  expect(await now.rest.jobState(job)).toBe('RUNNING')
  await now.stop()
  cluster = undefined
  return want
}

const endMs = Math.floor(Date.now() / 60_000) * 60_000

/** The bridge is away for some minutes: heartbeats are missing, which is an outage. */
function positionsLog(): OutRecord[] {
  const all = generatedLog({ seed: 9, vans: 30, minutes: 60, endMs, partitions })
  const awayMs = endMs - 30 * 60_000
  const isAway = ({ timestampMs = 0, value }: OutRecord) =>
    timestampMs > awayMs && timestampMs < awayMs + 180_000 && String(value).includes('"batec"')
  return all.filter((record) => !isAway(record))
}

const STOCK_SOURCES = TOPICS.stockEvents.partitions
const MINUTE = 60_000

/** An hour of stock, keyed by nothing: every source partition is behind the one before it, some events are late, doubled, damaged, ahead. */
function stockLog(): OutRecord[] {
  let state = 4
  const below = (limit: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return Math.floor((state / 0x8000_0000) * limit)
  }
  const records: OutRecord[] = []
  const put = (partition: number, timestampMs: number, value: string) =>
    records.push({ topic: TOPICS.stockEvents.name, key: null, partition, timestampMs, value })
  for (let nowMs = endMs - 60 * MINUTE; nowMs < endMs; nowMs += 10_000) {
    for (let partition = 0; partition < STOCK_SOURCES; partition += 1) {
      const lateMs = below(100) < 4 ? below(15 * MINUTE) : below(20_000)
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

/** Alerts, late and refused events of the replay; the newest stock by the shuffle's own tasks, one source partition after the other. */
async function expectedOfStock(records: readonly OutRecord[]): Promise<Map<string, string[]>> {
  const rows: Rows = new Map()
  const host = createStockHost(DEFAULT_STOCK_SETTINGS, STOCK_SOURCES)
  const topicOf = { alertes: TOPICS.stockAlerts.name, tardans: TOPICS.stockLate.name, rebutjats: TOPICS.stockDeadLetters.name } as const
  const windows = createStockWindows(0, 0, null, (topic, _partition, key, value) => {
    if (topic === TOPICS.stockLive.name) put(rows, topic, { key, value })
  })
  let next = 0
  const shuffles = Array.from({ length: STOCK_SOURCES }, (_, source) =>
    createStockShuffle(source, 0, 1, 'shuffle', null, 0, (topic, _partition, _key, value, _timestampMs, headers) => {
      if (topic !== 'shuffle') return
      windows.onRecord(next, headers, value, Buffer.byteLength(value), true)
      next += 1
    }),
  )
  for (const shuffle of shuffles) shuffle.configure(STOCK_SOURCES, endMs - 90 * MINUTE)
  const offsets = new Array<number>(STOCK_SOURCES).fill(0)
  for (const { partition = 0, timestampMs = 0, value } of records) {
    const text = String(value)
    const offset = offsets[partition] ?? 0
    offsets[partition] = offset + 1
    host.onRecord(partition, offset, timestampMs, null, text, Buffer.byteLength(text), true)
    for (const { output, key, value: result } of host.drain()) {
      const topic = topicOf[output as keyof typeof topicOf]
      put(rows, topic, { key, value: comparable(topic, result) })
    }
    shuffles[partition]?.onRecord(offset, timestampMs, text, Buffer.byteLength(text), true)
  }
  for (let target = 0; target < TOPICS.stockAlerts.partitions; target += 1) {
    const value = JSON.stringify({ particio: target, marca_aigua_ms: host.jobWatermarkMs() })
    put(rows, TOPICS.stockMarks.name, { key: String(target), value })
  }
  return linesByTopic(rows)
}

const WHAT = 'gives what our own core gives: kill -9 of a TaskManager, another parallelism, loss of the whole cluster'

describe.each(['exactly-once', 'at-least-once'])('positions on Flink, %s', (delivery) => {
  it(WHAT, async () => {
    const job = { mainClass: 'cat.km0.flink.PositionsJob', delivery, words: [], topics: POSITIONS }
    const want = await survives({ ...job, records: positionsLog(), expected: expectedOf })
    expect(want.get(TOPICS.panel.name)?.length).toBeGreaterThan(1_000)
    expect(want.get(TOPICS.late.name)?.length).toBeGreaterThan(0)
    expect(want.get(TOPICS.live.name)).toHaveLength(30)
    // A mark of each partition, and an outage in each.
    expect(want.get(TOPICS.marks.name)).toHaveLength(2 * partitions)
  }, 600_000)
})

describe.each(['exactly-once', 'at-least-once'])('low stock on Flink, %s', (delivery) => {
  it(WHAT, async () => {
    const topics = [TOPICS.stockAlerts, TOPICS.stockLate, TOPICS.stockDeadLetters, TOPICS.stockLive, TOPICS.stockMarks].map(
      ({ name }) => name,
    )
    const job = { mainClass: 'cat.km0.flink.StockJob', delivery, words: ['idle-ms=3600000'], topics }
    const records = stockLog()
    const want = await survives({ ...job, records, expected: () => expectedOfStock(records) })
    expect(want.get(TOPICS.stockAlerts.name)?.length).toBeGreaterThan(50)
    expect(want.get(TOPICS.stockLate.name)?.length).toBeGreaterThan(10)
    expect(want.get(TOPICS.stockMarks.name)).toHaveLength(TOPICS.stockAlerts.partitions)
  }, 600_000)
})
