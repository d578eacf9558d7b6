// A log, its results and a journal on real services, with each kind of difference put in by hand: what the ledger calls it.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gatherLedger, type LedgerQuery } from '@km0/audit'
import { DEFAULT_POSITIONS_SETTINGS, HEADERS, type LedgerReport, positionTopic, TOPICS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { type LedgerStore, openLedgerRuns, openLedgerStore, openServing, type Serving } from '@km0/serving'
import { Pool } from '@km0/serving/pool'
import { PartitionTask } from '@km0/stream/partition-task'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type LogRecord, type OutRecord, openLog } from '@km0/transport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const PARTITIONS = 2
const HOUR_MS = 3_600_000
const STEP_MS = 20_000
const HOURS = 5
/** Not the default: a ledger from the middle of the log must find it in the heartbeats. */
const DELAY_MS = 90_000
const END_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
const START_MS = END_MS - HOURS * HOUR_MS
const VANS = ['a', 'b', 'c', 'd', 'e', 'f']

let services: TestServices<{ kafka: true; postgres: true }>
let log: Log
let serving: Serving
let store: LedgerStore
let pool: Pool
let journal: string

interface Published {
  readonly van: string
  readonly eventMs: number
  readonly arrivalMs: number
  readonly text: string
}

/** Late points of all ages, twins of an instant, a null island, and a van that pauses for some minutes of each hour. */
function fleet(): Published[] {
  const all: Published[] = []
  for (let nowMs = START_MS; nowMs < END_MS; nowMs += STEP_MS) {
    const step = (nowMs - START_MS) / STEP_MS
    for (const [index, van] of VANS.entries()) {
      if (index === 5 && step % 180 < 30) continue
      const lateMs = [0, 700, 130_000, 0, 260_000, 700, 0, 420_000, 700, 0, 1_300, 90_000, 0][(step + 5 * index) % 13] ?? 0
      const lat = (step + index) % 97 === 0 ? 0 : 41.9 + (step % 50) / 1e4
      const eventMs = nowMs - lateMs
      all.push({
        van,
        eventMs,
        arrivalMs: nowMs,
        text: JSON.stringify({ repartidor: van, lat, lon: lat === 0 ? 0 : 2.8, data_ms: eventMs }),
      })
      if ((step + index) % 41 === 0)
        all.push({ van, eventMs, arrivalMs: nowMs, text: JSON.stringify({ repartidor: van, lat: 42, lon: 2.8, data_ms: eventMs }) })
    }
  }
  return all
}

const partitionOf = (van: string) => VANS.indexOf(van) % PARTITIONS
const position = ({ van, arrivalMs, text }: Published): OutRecord => ({
  topic: TOPICS.positions.name,
  partition: partitionOf(van),
  key: van,
  value: text,
  timestampMs: arrivalMs,
})

/** What a bridge writes of it: settings first, a heartbeat each 10 s that tells what came before it. */
function bridged(messages: readonly Published[]): OutRecord[] {
  const toAll = (value: object, timestampMs: number): OutRecord[] =>
    Array.from({ length: PARTITIONS }, (_, partition) => ({
      topic: TOPICS.positions.name,
      partition,
      key: null,
      value: JSON.stringify(value),
      timestampMs,
    }))
  const records = toAll({ tipus: 'parametres', data_ms: START_MS, retard_ms: DELAY_MS, marge_ms: 0 }, START_MS)
  let received = 0
  let beatMs = START_MS
  const beat = () => {
    const told = { pont: 'prova', rebuts: received, bessons: 0, tics: 0, retard_ms: DELAY_MS, marge_ms: 0 }
    records.push(...toAll({ tipus: 'batec', data_ms: beatMs, ...told }, beatMs))
    beatMs += 10_000
  }
  for (const message of messages) {
    while (beatMs <= message.arrivalMs) beat()
    records.push(position(message))
    received += 1
  }
  while (beatMs < END_MS) beat()
  return records
}

async function write(records: readonly OutRecord[]): Promise<void> {
  const producer = await log.openProducer()
  await producer.send(records)
  await producer.close()
}

async function read(topic: string): Promise<LogRecord[]> {
  const all: LogRecord[] = []
  for await (const { records } of log.readTopic({ topic })) all.push(...records)
  return all
}

/** The windowing job and the store, once over the log as it is. */
async function runJobs(): Promise<void> {
  const positions = await read(TOPICS.positions.name)
  const out: OutRecord[] = []
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const records = positions.filter((record) => record.partition === partition)
    const task = new PartitionTask(partition, 1, createPositionsHost(), 0)
    const half = Math.floor(records.length / 2)
    const first = task.apply(records.slice(0, half), half).records
    // A savepoint is put back in the middle: the epoch is another from there on.
    const second = new PartitionTask(partition, 2, createPositionsHost(), 0)
    second.restore(task.snapshot(), half)
    const results = [...first, ...second.apply(records.slice(half), records.length).records]
    out.push(...results.filter(({ topic }) => topic !== TOPICS.live.name), second.mark())
  }
  await write(out)
  for (const topic of [TOPICS.panel.name, TOPICS.marks.name]) {
    const records = await read(topic)
    for (const partition of new Set(records.map((record) => record.partition))) {
      const own = records.filter((record) => record.partition === partition)
      const batch = { topic, partition, records: own, nextOffset: own.length, clusterId: 'one', writtenAtMs: END_MS }
      if (topic === TOPICS.panel.name) await serving.applyPanelBatch(batch)
      else await serving.applyMarkBatch(batch)
    }
  }
}

function writeJournal(messages: readonly Published[]): void {
  const lines = messages.map(({ van, eventMs, arrivalMs, text }) => {
    const sha256 = createHash('sha256').update(text).digest('hex')
    return JSON.stringify({
      van,
      event_ms: eventMs,
      arrival_ms: arrivalMs,
      topic: positionTopic(van),
      bytes: text.length,
      sha256,
      fault: null,
    })
  })
  writeFileSync(journal, `${lines.join('\n')}\n`)
}

const gather = (query: Partial<LedgerQuery> = {}) =>
  gatherLedger(
    { log, serving, store, lake: 'there is none here', journals: [journal], rules: DEFAULT_POSITIONS_SETTINGS },
    { span: 'whole', ...query },
  )

const unnamed = (ledger: LedgerReport) =>
  Object.fromEntries(ledger.steps.filter((step) => step.unnamed !== 0).map((step) => [`${step.from} ${step.to}`, step.unnamed]))
const change = (ledger: LedgerReport, to: string, cause: string) =>
  ledger.steps.find((step) => step.to === to)?.lines.find((line) => line.cause === cause)?.change
const parts = (ledger: LedgerReport, name: string) =>
  Object.fromEntries(ledger.stations.find((station) => station.name === name)?.parts.map((part) => [part.name, part.count]) ?? [])

beforeAll(async () => {
  services = await startServices({ kafka: true, postgres: true })
  log = openLog({ brokers: [services.kafka.brokers], clientId: 'test' })
  const overrides = Object.fromEntries(
    [TOPICS.positions, TOPICS.panel, TOPICS.late].map(({ name }) => [name, { partitions: PARTITIONS }] as const),
  )
  await log.ensureTopics(Object.values(TOPICS), overrides)
  serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
  await serving.migrate()
  store = openLedgerStore({ databaseUrl: services.postgres.url, applicationName: 'test' })
  pool = new Pool({ databaseUrl: services.postgres.url, applicationName: 'test' })
  journal = join(services.dataDir, 'journal.jsonl')
  writeJournal(fleet())
  await write(bridged(fleet()))
  await runJobs()
})
afterAll(async () => {
  await Promise.all([serving?.close(), store?.close(), pool?.close()])
  await services?.stop()
})

describe('the ledger of a real log', () => {
  it('balances from the journal to PostgreSQL', async () => {
    const ledger = await gather()
    expect(unnamed(ledger)).toEqual({})
    expect(ledger).toMatchObject({ balanced: true, lost: [], basis: { exact: true } })
    expect(ledger.stations.map(({ name, certainty }) => `${name} ${certainty}`)).toEqual([
      'publicats exact',
      'rebuts at-least',
      'confirmats exact',
      'classificats exact',
      'rebutjats exact',
      'tardans exact',
      'llac unknown',
      'resultats exact',
      'desats exact',
    ])
    for (const [part, count] of Object.entries(parts(ledger, 'classificats'))) {
      if (!['reenviat', 'futur', 'antic', 'parametres'].includes(part)) expect(count, part).toBeGreaterThan(10)
    }
  })

  it('judges an hour in the middle as the whole log does, with the settings that heartbeats tell', async () => {
    const [fromMs, middleMs] = [END_MS - HOUR_MS, END_MS - HOUR_MS / 2]
    const whole = parts(await gather({ span: { fromMs: START_MS, toMs: END_MS } }), 'classificats')
    const before = parts(await gather({ span: { fromMs: START_MS, toMs: fromMs } }), 'classificats')
    const first = await gather({ span: { fromMs, toMs: middleMs } })
    const second = await gather({ span: { fromMs: middleMs, toMs: END_MS } })
    expect(second.basis.replayedFromMs).toBeGreaterThan(START_MS + HOUR_MS)
    expect([unnamed(first), unnamed(second)]).toEqual([{}, {}])
    for (const [part, count] of Object.entries(whole)) {
      const pieces = [before, parts(first, 'classificats'), parts(second, 'classificats')].map((piece) => piece[part] ?? 0)
      expect(
        pieces.reduce((sum, piece) => sum + piece, 0),
        part,
      ).toBe(count)
    }
    expect(parts(second, 'classificats').tard).toBeGreaterThan(10)
  })

  it('names what the journal has and the log has not, by van, and what is on its way', async () => {
    const lost = [1, 2, 3].map((n) => ({ van: 'a', eventMs: START_MS + n, arrivalMs: END_MS - HOUR_MS, text: `lost ${n}` }))
    const last = { van: 'b', eventMs: END_MS, arrivalMs: END_MS - 1, text: 'not yet' }
    const [early, late] = [fleet().slice(0, -100), fleet().slice(-100)]
    writeJournal([...early, ...lost, ...late, last])
    const ledger = await gather()
    expect([change(ledger, 'confirmats', 'perdut-al-broker'), change(ledger, 'confirmats', 'en-cami')]).toEqual([-3, -1])
    expect(ledger.balanced).toBe(true)
    const sha256 = lost.map(({ text }) => createHash('sha256').update(text).digest('hex'))
    expect(ledger.lost).toEqual([{ van: 'a', count: 3, firstEventMs: START_MS + 1, lastEventMs: START_MS + 3, sha256 }])
    expect(change(await gather({ drained: true }), 'confirmats', 'perdut-al-broker')).toBe(-4)
    writeJournal(fleet())
  })

  it('calls by name what is written again, what is pending, and what nobody published', async () => {
    const again = fleet().slice(-4)
    const alien = {
      van: 'c',
      eventMs: END_MS - 7,
      arrivalMs: END_MS - 1,
      text: JSON.stringify({ repartidor: 'c', lat: 1, lon: 1, data_ms: END_MS - 7 }),
    }
    await write([...again, alien].map((message) => ({ ...position(message), timestampMs: END_MS - 1 })))
    const ledger = await gather()
    // The ledger's first step is that of the journal; the bridge had told of none of the five.
    expect(change(ledger, 'confirmats', 'reenviat')).toBe(4)
    expect(change(ledger, 'confirmats', 'fora-del-diari')).toBe(1)
    expect(parts(ledger, 'classificats').reenviat).toBeGreaterThanOrEqual(1)
    expect(unnamed(ledger)).toEqual({})
  })

  it('leaves unnamed what the job or the store has lost or made up', async () => {
    await pool.query("delete from km0.distance_row where van = 'a' and window_end_ms >= $1", [END_MS - HOUR_MS / 4])
    const rows = await pool.query("delete from km0.session_row where van = 'f' returning van")
    const sample = (await read(TOPICS.panel.name)).find(({ headers }) => headers[HEADERS.epoch] === '2')
    const { partition, value, headers, timestampMs } = sample!
    await write([{ topic: TOPICS.panel.name, key: 'distancia|ningu|1', partition, value, headers, timestampMs }])
    const ledger = await gather()
    expect(Object.keys(unnamed(ledger)).sort()).toEqual(['classificats resultats', 'resultats desats'])
    expect(unnamed(ledger)['classificats resultats']).toBe(1)
    expect(unnamed(ledger)['resultats desats']).toBeLessThan(-rows.length)
    expect(ledger.balanced).toBe(false)
  })

  it('can be stopped', async () => {
    await expect(gather({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough')
  })
})

describe('runs of the ledger in the store', () => {
  const actor = { id: 'x', name: 'Anna', roles: [] as string[] }
  const span = { fromMs: START_MS, toMs: END_MS, actor, nowMs: END_MS }

  it('are asked for once a span, taken once, taken over when their worker is gone, and end', async () => {
    const runs = openLedgerRuns({ databaseUrl: services.postgres.url, applicationName: 'test' })
    try {
      const asked = await runs.ask(span)
      expect((await runs.ask(span))?.id).toBe(asked?.id)
      const taken = await Promise.all(['one', 'two'].map((worker) => runs.take(worker, END_MS)))
      expect(taken.filter((run) => run !== null)).toEqual([{ id: asked?.id, fromMs: START_MS, toMs: END_MS }])
      const [first, second] = taken[0] === null ? ['two', 'one'] : ['one', 'two']
      expect(await runs.progress(asked!.id, first!, 0.5, END_MS)).toBe(true)
      expect(await runs.take(second!, END_MS + 60_000)).toMatchObject({ id: asked?.id })
      const report = await gather({ span: { fromMs: END_MS - HOUR_MS, toMs: END_MS } })
      expect(await runs.finish(asked!.id, first!, report, END_MS)).toBe(false)
      expect([await runs.release(asked!.id, first!), await runs.release(asked!.id, second!)]).toEqual([false, true])
      expect(await runs.take(second!, END_MS)).toMatchObject({ id: asked?.id })
      expect(await runs.finish(asked!.id, second!, report, END_MS + 70_000)).toBe(true)
      expect((await runs.report(null))?.report).toEqual(report)
      expect(await runs.cancel(asked!.id, END_MS)).toBe(false)
      await runs.askHourly(START_MS, START_MS + HOUR_MS, END_MS)
      await runs.askHourly(START_MS, START_MS + HOUR_MS, END_MS)
      const [hourly, done] = await runs.list(10)
      expect([hourly, done]).toMatchObject([
        { reason: 'hourly', state: 'waiting' },
        { actorName: 'Anna', state: 'done' },
      ])
      expect(await runs.cancel(hourly!.id, END_MS)).toBe(true)
      expect(await runs.take('one', END_MS)).toBeNull()
      expect(await runs.dropBefore(END_MS + 1)).toBe(2)
    } finally {
      await runs.close()
    }
  })
})
