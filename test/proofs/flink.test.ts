import { join } from 'node:path'
import { DEFAULT_STOCK_SETTINGS, TOPICS } from '@km0/contracts'
import { startGuard } from '@km0/infra/embedded/guard'
import { type Cluster, startCluster } from '@km0/infra/engines/flink/cluster/cluster'
import { buildJob } from '@km0/infra/engines/flink/cluster/fetch'
import { createStockHost } from '@km0/pipelines'
import { createPositions, createStockShuffle, createStockWindows } from '@km0/pipelines/engine/index'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type OutRecord, openLog } from '@km0/transport'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { endMs, positionsLog, STOCK_SOURCES, stockLog, until } from './flink-logs.ts'

const partitions = TOPICS.positions.partitions
/** All that the positions job writes. */
const POSITIONS = [TOPICS.panel, TOPICS.late, TOPICS.deadLetters, TOPICS.live, TOPICS.marks].map(({ name }) => name)

/** With FLINK_PROOF=short the proof ends after the kill of a TaskManager. */
const IS_SHORT = process.env.FLINK_PROOF === 'short'

/** Flink's processes end with this one, also when it is killed. */
const guard = startGuard(0)
afterAll(() => guard.close())

let jar: string
beforeAll(async () => {
  jar = await buildJob()
}, 600_000)

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
interface Job {
  readonly mainClass: string
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

/** Waits until every row of the jobs is there, then compares. `isOnce`: none is there twice. */
async function compare(jobs: readonly Job[], what: string, isOnce: boolean): Promise<Map<string, string[]>> {
  const want = new Map<string, string[]>()
  for (const { expected } of jobs) for (const [topic, lines] of await expected(log)) want.set(topic, lines)
  const topics = jobs.flatMap((job) => job.topics)
  await until(
    'all results',
    () => missing(topics, want),
    (counts) => Object.values(counts).every((count) => count === 0),
  )
  for (const topic of topics) {
    const rows = await found(topic)
    const wanted = want.get(topic) ?? []
    console.log(`${what}: ${topic} ${rows.length} rows, ${wanted.length} wanted`)
    if (isOnce) expect(rows).toEqual(wanted)
    else expect([...new Set(rows)]).toEqual([...new Set(wanted)])
  }
  return want
}

/** A third of the logs, kill -9 of a TaskManager, a stop and another parallelism, loss of the whole cluster, the rest. */
async function survive(jobs: readonly Job[], delivery: string): Promise<Map<string, string[]>> {
  const start = async () => {
    cluster = await startCluster({ folder: join(services.dataDir, 'flink'), taskManagers: 2, slots: jobs.length, guard })
    return cluster
  }
  const run = (on: Cluster, parallelism: number, from?: readonly string[]) =>
    Promise.all(
      jobs.map(({ mainClass, words }, index) => {
        const all = [`brokers=${services.kafka.brokers}`, `delivery=${delivery}`, 'checkpoint-ms=1000', ...words]
        const place = from?.[index]
        return on.rest.run({ jar, mainClass, parallelism, words: all, ...(place === undefined ? {} : { from: place }) })
      }),
    )
  const checkpoints = (on: Cluster, ids: readonly string[]) => Promise.all(ids.map((id) => nextCheckpoint(on, id)))
  const writePart = async (from: number, to: number) => {
    for (const { records } of jobs) await write(records.slice((records.length * from) / 6, (records.length * to) / 6))
  }
  let now = await start()
  await writePart(0, 2)
  let ids = await run(now, 2)
  await checkpoints(now, ids)

  const killedMs = performance.now()
  await now.taskManagers.get('tm-1')?.kill9()
  await writePart(2, 3)
  await now.startTaskManager('tm-1')
  await checkpoints(now, ids)
  console.log(`${delivery}: checkpoints ${Math.round(performance.now() - killedMs)} ms after kill -9 of a TaskManager`)

  if (IS_SHORT) {
    await writePart(3, 6)
    return compare(jobs, delivery, delivery === 'exactly-once')
  }
  const places = await Promise.all(ids.map((id) => now.rest.suspend(id)))
  console.log(`${delivery}: stopped with ${places.map(({ kind }) => kind).join(', ')}; on at parallelism 1`)
  const paths = places.map(({ path }) => path)
  ids = await run(now, 1, paths)
  await writePart(3, 4)
  await checkpoints(now, ids)
  await checkpoints(now, ids)
  // Only the newest two are kept, so they are asked for just before.
  const retained = await Promise.all(ids.map(async (id) => (await now.rest.checkpoints(id)).path ?? ''))
  await now.kill9()
  now = await start()
  ids = await run(now, 2, retained)
  await writePart(4, 6)
  const want = await compare(jobs, delivery, delivery === 'exactly-once')
  for (const id of ids) expect(await now.rest.jobState(id)).toBe('RUNNING')
  await now.stop()
  cluster = undefined
  return want
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
  for (const shuffle of shuffles) shuffle.configure(STOCK_SOURCES, endMs - 5_400_000)
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

const STOCK = [TOPICS.stockAlerts, TOPICS.stockLate, TOPICS.stockDeadLetters, TOPICS.stockLive, TOPICS.stockMarks].map(({ name }) => name)

describe.each(['exactly-once', 'at-least-once'])('positions and low stock on Flink, %s', (delivery) => {
  it('give what our own core gives: kill -9 of a TaskManager, another parallelism, loss of the whole cluster', async () => {
    const stock = stockLog({ hours: 1, lateFromHour: 0 })
    const want = await survive(
      [
        { mainClass: 'cat.km0.flink.PositionsJob', words: [], topics: POSITIONS, records: positionsLog(), expected: expectedOf },
        {
          mainClass: 'cat.km0.flink.StockJob',
          words: ['idle-ms=3600000'],
          topics: STOCK,
          records: stock,
          expected: () => expectedOfStock(stock),
        },
      ],
      delivery,
    )
    const rows = (topic: { name: string }) => want.get(topic.name)?.length ?? 0
    expect(rows(TOPICS.panel)).toBeGreaterThan(1_000)
    expect(rows(TOPICS.late)).toBeGreaterThan(0)
    expect(rows(TOPICS.live)).toBe(30)
    // A mark of each partition, and an outage in each.
    expect(rows(TOPICS.marks)).toBe(2 * partitions)
    expect(rows(TOPICS.stockAlerts)).toBeGreaterThan(50)
    expect(rows(TOPICS.stockLate)).toBeGreaterThan(10)
    expect(rows(TOPICS.stockMarks)).toBe(TOPICS.stockAlerts.partitions)
  }, 600_000)
})
