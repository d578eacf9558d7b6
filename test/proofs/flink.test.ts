import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type OutputName, TOPICS } from '@km0/contracts'
import { startGuard } from '@km0/infra/embedded/guard'
import { type Cluster, startCluster } from '@km0/infra/engines/flink/cluster/cluster'
import { buildJob } from '@km0/infra/engines/flink/cluster/fetch'
import { createPositionsHost } from '@km0/pipelines'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, type OutRecord, openLog } from '@km0/transport'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generatedLog } from '../chaos/generated-log.ts'

const partitions = TOPICS.positions.partitions
const OUTPUTS: readonly OutputName[] = ['panell', 'tardans', 'rebutjats']
const TOPIC_OF: Partial<Record<OutputName, string>> = {
  panell: TOPICS.panel.name,
  tardans: TOPICS.late.name,
  rebutjats: TOPICS.deadLetters.name,
}
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

/** Sorted lines. Of a van's signal only the newest counts, since the topic is compacted; a window and a session have one value here. */
function linesOf(rows: readonly Row[]): string[] {
  const newest = new Map(rows.filter(({ key }) => key?.startsWith('senyal|')).map((row) => [row.key, row]))
  return rows
    .filter((row) => !newest.has(row.key) || newest.get(row.key) === row)
    .map(({ key, value }) => `${key} ${value}`)
    .sort()
}

/** What our own core makes of the log as it stands: rows of each output, sorted. */
async function expectedOf(log: Log): Promise<Map<OutputName, string[]>> {
  const rows = new Map<OutputName, Row[]>(OUTPUTS.map((output) => [output, []]))
  const host = createPositionsHost()
  for await (const { partition, records } of log.readTopic({ topic: TOPICS.positions.name })) {
    for (const { offset, value, timestampMs } of records) {
      const text = value === null ? null : String(value)
      host.onRecord(partition, Number(offset), timestampMs, null, text, Buffer.byteLength(text ?? ''), true)
      for (const emission of host.drain()) rows.get(emission.output)?.push(emission)
    }
  }
  return new Map([...rows].map(([output, list]) => [output, linesOf(list)]))
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

describe.each(['exactly-once', 'at-least-once'])('positions on Flink, %s', (delivery) => {
  let services: TestServices<{ kafka: true }>
  let log: Log
  let cluster: Cluster | undefined
  beforeAll(async () => {
    services = await startServices({ kafka: true })
    log = openLog({ brokers: [services.kafka.brokers], clientId: 'test' })
    await log.ensureTopics(Object.values(TOPICS))
  })
  afterAll(async () => {
    await cluster?.kill9()
    await services?.stop()
  })

  const folder = () => join(services.dataDir, 'flink')
  const start = (taskManagers: number) => startCluster({ folder: folder(), taskManagers, slots: 1, guard })
  const run = (parallelism: number, from?: string) => {
    const words = [`brokers=${services.kafka.brokers}`, `delivery=${delivery}`, 'checkpoint-ms=1000']
    const job = { jar, mainClass: 'cat.km0.flink.PositionsJob', parallelism, words }
    return (cluster as Cluster).rest.run(from === undefined ? job : { ...job, from })
  }
  const write = async (records: readonly OutRecord[]) => {
    const producer = await log.openProducer()
    for (let at = 0; at < records.length; at += 1_000) await producer.send(records.slice(at, at + 1_000))
    await producer.close()
  }
  const found = async (output: OutputName) => {
    const rows: Row[] = []
    for await (const { records } of log.readTopic({ topic: TOPIC_OF[output] ?? '' }))
      for (const { key, value } of records) rows.push({ key, value: String(value) })
    return linesOf(rows)
  }
  const missing = async (want: Map<OutputName, string[]>) => {
    const counts: Record<string, number> = {}
    for (const output of OUTPUTS) {
      const seen = new Set(await found(output))
      counts[output] = (want.get(output) ?? []).filter((line) => !seen.has(line)).length
    }
    return counts
  }

  it('gives what our own core gives: kill -9 of a TaskManager, another parallelism, loss of the whole cluster', async () => {
    const all = generatedLog({ seed: 9, vans: 30, minutes: 60, endMs: Math.floor(Date.now() / 60_000) * 60_000, partitions })
    const third = Math.floor(all.length / 3)
    cluster = await start(2)
    await write(all.slice(0, third))
    let job = await run(2)
    const rest = cluster.rest
    await until(
      'the job runs',
      () => rest.jobState(job),
      (state) => state === 'RUNNING',
    )
    await nextCheckpoint(cluster, job)

    const killedMs = performance.now()
    await cluster.taskManagers.get('tm-1')?.kill9()
    await write(all.slice(third, third + third / 2))
    await cluster.startTaskManager('tm-1')
    await nextCheckpoint(cluster, job)
    console.log(`${delivery}: a checkpoint ${Math.round(performance.now() - killedMs)} ms after kill -9 of a TaskManager`)

    const savepoint = await cluster.rest.suspend(job)
    console.log(`${delivery}: stopped with a ${savepoint.kind}, on at parallelism 1`)
    job = await run(1, savepoint.path)
    await write(all.slice(third + third / 2, 2 * third))
    await nextCheckpoint(cluster, job)
    const retained = await nextCheckpoint(cluster, job)

    await cluster.kill9()
    cluster = await start(2)
    job = await run(2, retained)
    await write(all.slice(2 * third))
    const want = await expectedOf(log)
    await until(
      'all results',
      () => missing(want),
      (counts) => Object.values(counts).every((count) => count === 0),
    )
    for (const output of OUTPUTS) {
      const rows = await found(output)
      const wanted = want.get(output) ?? []
      console.log(`${delivery}: ${output} ${rows.length} rows, ${wanted.length} wanted`)
      if (delivery === 'exactly-once') expect(rows).toEqual(wanted)
      else expect([...new Set(rows)]).toEqual([...new Set(wanted)])
    }
    expect(want.get('panell')?.length).toBeGreaterThan(1_000)
    expect(want.get('tardans')?.length).toBeGreaterThan(0)
    expect(await cluster.rest.jobState(job)).toBe('RUNNING')
    await cluster.stop()
    cluster = undefined
  }, 600_000)
})
