import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { DEFAULT_POSITIONS_SETTINGS, TOPICS } from '@km0/contracts'
import { POSITIONS, rowMaker } from '@km0/lake'
import { createPositionsBatch, createPositionsHost } from '@km0/pipelines'
import { PartitionTask } from '@km0/stream/partition-task'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type LogRecord, openLog } from '@km0/transport'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { emptyNewestPoints } from '../../packages/cli/src/erase-newest.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const TOPIC = TOPICS.positions.name
const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 8, 14, 8)
const AHEAD = 'furgoneta-3'

let services: TestServices<{ kafka: true }>
let log: Log
beforeAll(async () => {
  execFileSync(process.execPath, ['infra/build.mjs', 'cli/src/km0'], { cwd: root, stdio: 'inherit' })
  services = await startServices({ kafka: true })
  log = openLog({ brokers: [services.kafka.brokers], clientId: 'test' })
  // The log is older than Kafka keeps one.
  const forEver = { retentionMs: -1 }
  const overrides = { [TOPIC]: { partitions: 2, ...forEver }, [TOPICS.deadLetters.name]: forEver, [TOPICS.late.name]: forEver }
  await log.ensureTopics([TOPICS.positions, TOPICS.deadLetters, TOPICS.late], overrides)
})
afterAll(() => services?.stop())

function km0(...args: readonly string[]): Promise<{ code: number; out: string; said: string }> {
  const env = { ...process.env, ...services.environment }
  return new Promise((resolve) => {
    execFile(process.execPath, ['packages/cli/dist/km0.js', ...args], { cwd: root, env }, (error, out, said) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, said }),
    )
  })
}

async function read(): Promise<LogRecord[]> {
  const all: LogRecord[] = []
  for await (const { records } of log.readTopic({ topic: TOPIC })) all.push(...records)
  return all.filter(({ partition }) => partition === 1).sort((a, b) => a.offset - b.offset)
}

/** A van whose clock is an hour ahead, another, and a broken record, all in one partition; closed by a heartbeat. */
function written() {
  const record = (value: string, timestampMs: number, key: string) => ({ topic: TOPIC, partition: 1, key, value, timestampMs })
  const position = (van: string, eventMs: number, atMs: number) =>
    record(JSON.stringify({ repartidor: van, lat: 41.98, lon: 2.82 + (eventMs % HOUR_MS) / 1e9, data_ms: eventMs, bateria: 71 }), atMs, van)
  const minutes = Array.from({ length: 10 }, (_, minute) => START_MS + minute * 60_000)
  return [
    ...minutes.flatMap((at) => [position(AHEAD, at + HOUR_MS, at), position('altra', at, at + 500)]),
    record('{"repartidor":"altra","lat":"41","lon":2,"data_ms":1}', START_MS, 'altra'),
    record(JSON.stringify({ tipus: 'batec', data_ms: START_MS + HOUR_MS }), START_MS + HOUR_MS, ''),
  ]
}

it('a clock an hour ahead: the points are found, tried, sent again, late for live, and counted by lake and batch', {
  timeout: 300_000,
}, async () => {
  const producer = await log.openProducer()
  await producer.send(written())
  const before = await read()
  const task = new PartitionTask(1, 1, createPositionsHost(), 0)
  await producer.send(
    [...task.apply(before, before.length).records].filter(({ topic }) => topic !== TOPICS.panel.name && topic !== TOPICS.live.name),
  )
  await producer.close()

  const groups = JSON.parse((await km0('dead-letters', 'list', '--json')).out)
  expect(groups).toMatchObject([
    { reason: 'futur', van: AHEAD, count: 10, aheadMs: HOUR_MS, readable: 10 },
    { reason: 'invalid', van: 'altra', count: 1, readable: 1 },
  ])
  const shown = (await km0('dead-letters', 'show', '--reason', 'invalid')).out
  expect(JSON.parse(shown)).toMatchObject({ reason: 'invalid', original: '{"repartidor":"altra","lat":"41","lon":2,"data_ms":1}' })

  const wanted = ['dead-letters', 'resubmit', '--van', AHEAD, '--by', 'Núria']
  expect(await km0(...wanted)).toMatchObject({ code: 1, out: '10 dead letters fit\n10 would be refused again: futur\n' })
  const dry = await km0(...wanted, '--shift-clock', String(-HOUR_MS))
  expect(dry).toMatchObject({ code: 0, said: '' })
  expect(dry.out).toMatch(/10 would be accepted: 1 vans, event time 2026-09-14T08:00:00.000Z to 2026-09-14T08:09:00.000Z\nnothing was sent/)
  expect(await read()).toHaveLength(before.length)

  await km0(...wanted, '--shift-clock', String(-HOUR_MS), '--yes')
  const repaired = (await read()).slice(before.length)
  expect(repaired).toHaveLength(10)
  for (const [index, { timestampMs, headers, key, value }] of repaired.entries()) {
    // Rule 2 is judged by the arrival of the original.
    expect([key, timestampMs]).toEqual([AHEAD, START_MS + index * 60_000])
    expect(headers).toMatchObject({
      reparat_per: 'Núria',
      rebuig_offset: expect.stringMatching(/^\d+$/),
      reparat_ms: expect.stringMatching(/^\d{13}$/),
    })
    expect(JSON.parse(String(value))).toMatchObject({ repartidor: AHEAD, data_ms: START_MS + index * 60_000, bateria: 71 })
  }
  const { outcomes } = task.apply(repaired, before.length + 10)
  expect(outcomes.get('late')).toBe(10)
  const maker = rowMaker(POSITIONS, 1, DEFAULT_POSITIONS_SETTINGS)
  expect(repaired.map((record) => maker.row(record)).filter((row) => row !== null)).toHaveLength(10)
  const batch = createPositionsBatch()
  for (const { partition, offset, timestampMs, key, value } of repaired)
    batch.onRecord(partition, offset, timestampMs, key, String(value), value?.length ?? 0, true)
  expect(batch.rows().find(({ key }) => key.startsWith(`recorregut|${AHEAD}|dia`))?.value).toContain('"posicions":10')
})

it('the newest points of a van that is erased are emptied where they are, once, and no other one', async () => {
  const topic = TOPICS.live.name
  await log.ensureTopics([TOPICS.live], { [topic]: { partitions: 3 } })
  const producer = await log.openProducer()
  const point = (key: string, partition: number, value: string | null = '{}') => ({ topic, key, partition, value })
  await producer.send([point('gone', 0), point('stays', 0), point('gone', 2), point('gone', 2), point('gone', 1), point('gone', 1, null)])
  await producer.close()
  expect(await emptyNewestPoints(log, 'gone')).toBe(2)
  expect(await emptyNewestPoints(log, 'gone')).toBe(0)
  const newest = new Map<string, string | null>()
  for await (const { partition, records } of log.readTopic({ topic }))
    for (const { key, value } of records) newest.set(`${key} ${partition}`, value === null ? null : value.toString('utf8'))
  expect(Object.fromEntries(newest)).toEqual({ 'gone 0': null, 'gone 1': null, 'gone 2': null, 'stays 0': '{}' })
})
