import { join } from 'node:path'
import { HEADERS, TOPICS } from '@km0/contracts'
import { createPositionsHost } from '@km0/pipelines'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type LogRecord, type OutRecord, openLog } from '@km0/transport'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PartitionTask } from '../../apps/stream/src/partition-task.ts'
import { generatedLog } from '../chaos/generated-log.ts'
import { buildStream, StreamProcess, until } from '../chaos/stream-process.ts'

const RESULTS = [TOPICS.panel.name, TOPICS.late.name]
const partitions = TOPICS.positions.partitions

let services: TestServices<{ kafka: true }>
let log: Log
let environment: Record<string, string>
const running = new Set<StreamProcess>()
beforeAll(async () => {
  buildStream()
  services = await startServices({ kafka: true })
  log = openLog({ brokers: [services.kafka.brokers], clientId: 'test' })
  await log.ensureTopics(Object.values(TOPICS))
  environment = {
    ...services.environment,
    KM0_DELIVERY: 'transactional',
    KM0_CHECKPOINT_DIR: join(services.dataDir, 'checkpoints'),
    // Small transactions and checkpoints that lag behind them: there is much to interrupt.
    KM0_CHECKPOINT_INTERVAL_MS: '500',
    KM0_STREAM_SLICE_RECORDS: '200',
  }
})
afterAll(async () => {
  await Promise.all([...running].map((process) => process.kill9()))
  await services?.stop()
})

async function start(): Promise<StreamProcess> {
  const started = await StreamProcess.start('positions', environment)
  running.add(started)
  return started
}

async function kill9(process: StreamProcess): Promise<void> {
  running.delete(process)
  await process.kill9()
}

async function write(records: readonly OutRecord[]): Promise<void> {
  const producer = await log.openProducer()
  await producer.send(records)
  await producer.close()
}

async function readAll(topic: string): Promise<Map<number, LogRecord[]>> {
  const found = new Map<number, LogRecord[]>()
  for await (const { partition, records } of log.readTopic({ topic })) found.set(partition, [...(found.get(partition) ?? []), ...records])
  return found
}

const text = ({ key, value, headers }: Pick<OutRecord, 'key' | 'value' | 'headers'>) =>
  `${headers?.[HEADERS.sourceOffset]} ${key} ${String(value)}`

/** What one task makes of a whole partition: results as text, in order, by topic. */
function expectedOf(partition: number, records: readonly LogRecord[]): Map<string, string[]> {
  const task = new PartitionTask(partition, 1, createPositionsHost(undefined, null, { coalesceLivePoints: true }), 0)
  const byTopic = new Map<string, string[]>(RESULTS.map((topic) => [topic, []]))
  for (const record of task.apply(records, records.length).records) byTopic.get(record.topic)?.push(text(record))
  return byTopic
}

const applied = (process: StreamProcess) => process.metric('km0_stream_records_total')

it('in transactions each result is in the log once and in order, through kill -9 and a job that stood still', async () => {
  const all = generatedLog({ seed: 11, vans: 30, minutes: 60, endMs: Math.floor(Date.now() / 60_000) * 60_000, partitions })
  const half = Math.floor(all.length / 2)
  await write(all.slice(0, half))
  let job = await start()
  await until('it is in the middle', async () => (await applied(job)) > half / 4)
  await kill9(job)

  job = await start()
  await until('it went on', async () => (await applied(job)) > half / 8)
  job.freeze()
  const heir = await start()
  await write(all.slice(half))
  await until('the heir has taken over', async () => (await applied(heir)) > 0)
  job.thaw()
  const ends = await log.endOffsets(TOPICS.positions.name)
  await until('everything is applied', async () => {
    const places = await log.committedOffsets('km0-positions', TOPICS.positions.name)
    return [...ends].every(([partition, end]) => places.get(partition) === end)
  })
  expect(await heir.metric('km0_stream_restores_total', 'from="checkpoint"')).toBeGreaterThan(0)

  const source = await readAll(TOPICS.positions.name)
  const written = new Map(await Promise.all(RESULTS.map(async (topic) => [topic, await readAll(topic)] as const)))
  let compared = 0
  for (const [partition, records] of source) {
    const expected = expectedOf(partition, records)
    const panel = (written.get(TOPICS.panel.name)?.get(partition) ?? []).map(text)
    expect(panel).toEqual(expected.get(TOPICS.panel.name))
    compared += panel.length
    // Late points have no partition of their own: those of one source keep no order, but none is there twice.
    const late = [...(written.get(TOPICS.late.name)?.values() ?? [])].flat()
    const ofThis = late.filter(({ headers }) => headers[HEADERS.sourcePartition] === String(partition)).map(text)
    expect(ofThis.sort()).toEqual(expected.get(TOPICS.late.name)?.sort())
  }
  expect(compared).toBeGreaterThan(1_500)
  const live = [...(await readAll(TOPICS.live.name)).values()].flat()
  const places = live.map(({ key, headers }) => `${key} ${headers[HEADERS.sourcePartition]} ${headers[HEADERS.sourceOffset]}`)
  expect(new Set(places).size).toBe(places.length)
  for (const process of [job, heir]) {
    running.delete(process)
    expect(await process.stop()).toBe(0)
  }
}, 240_000)
