// Run events of backfills, publications, roll backs and reprocessings, from a real store to a file and to an endpoint that is away at first.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { closeServer, createLogger, listen, Registry } from '@km0/runtime'
import { type Backfills, openBackfills, openReprocessings, openServing, PieceRows, type Reprocessings } from '@km0/serving'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RunEvent, runEvent } from '../../apps/batch/src/lineage/run-event.testbench.ts'
import { startLineage } from '../../apps/batch/src/lineage/start-lineage.ts'

const HOUR = 3_600_000
const T0 = Date.UTC(2026, 8, 14, 6)
const actor = { id: 'anna', name: 'Anna Puig', roles: ['analyst'] }
const by = { actor, reason: 'phone of furgoneta-3', atMs: T0 }

let services: TestServices<{ postgres: true }>
let store: Backfills
let reprocessings: Reprocessings
const folder = mkdtempSync(join(tmpdir(), 'km0-lineage-'))

beforeAll(async () => {
  services = await startServices({ postgres: true })
  const options = { databaseUrl: services.postgres.url, applicationName: 'test' }
  const serving = openServing(options)
  await serving.migrate()
  await serving.close()
  store = openBackfills(options)
  reprocessings = openReprocessings(options)
})
afterAll(async () => {
  await store?.close()
  await reprocessings?.close()
  await services?.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function begin(name: string): Promise<number> {
  const piece = { piece: 0, fromMs: T0, toMs: T0 + HOUR, owners: ['furgoneta-3'], points: 10, sessionsOnly: false }
  const plan = {
    ...{
      naturalId: name,
      question: name,
      code: 'positions-1',
      settings: {},
      sessionGapMs: 60_000,
      snapshot: 41,
      epoch: 1,
      offsets: { 0: 100 },
    },
    ...{ request: { pipeline: 'positions' as const, fromMs: T0, toMs: T0 + HOUR, owners: null }, finalMs: T0 + HOUR },
    ...{ owners: ['furgoneta-3'], spans: [], pieces: [piece] },
  }
  return (await store.createVersion(plan, by)).id
}

function start(url: string, metrics = new Registry()) {
  const settings = {
    ...{ KM0_LINEAGE_URL: url, KM0_LINEAGE_NAMESPACE: 'girona', KM0_LINEAGE_EVERY_MS: 100, KM0_LINEAGE_KEY: 'secret' },
    ...{ DATABASE_URL: services.postgres.url, KAFKA_BROKERS: ['kafka.example:9092'], KM0_LAKE_DATA: 's3://km0/lake' },
  } as unknown as Parameters<typeof startLineage>[0]['settings']
  return startLineage({ settings, log: createLogger('test', 'silent'), metrics })
}

async function until<T>(read: () => T | Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  const deadlineMs = performance.now() + 60_000
  for (;;) {
    const value = await read()
    if (isDone(value) || performance.now() > deadlineMs) return value
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const brief = ({ job, eventType }: RunEvent) => `${job.name} ${eventType}`

it('each run is told, in a file, as OpenLineage has it', async () => {
  const done = await begin('done')
  const rows = new PieceRows(done)
  rows.distance('furgoneta-3', T0, T0 + 300_000, { distanceMm: 1, positions: 2, jumps: 0, displacementMm: 1 })
  await store.storePiece(done, 0, rows, T0 + 1)
  await store.complete(done, T0 + 2)
  const { publication } = await store.publish(done, { ...by, atMs: T0 + 3 })
  await store.rollBack(publication, { ...by, atMs: T0 + 4 })
  await store.fail(await begin('failing'), 'the disk is full', T0 + 5)
  await store.cancel(await begin('cancelled'), T0 + 6)
  const place = { partition: 0, seamOffset: 10, nextOffset: 0 }
  const settings = {
    name: 'gap',
    epoch: 1,
    fromMs: T0,
    settings: {},
    sessionGapMs: 1,
    snapshot: 42,
    partitions: [place],
    actor,
    atMs: T0 + 7,
  }
  await reprocessings.begin(settings)
  await reprocessings.beginRun('gap', T0 + 8)
  await reprocessings.endRun(await reprocessings.beginRun('gap', T0 + 9), 'Kafka is away', T0 + 10)
  await reprocessings.endRun(await reprocessings.beginRun('gap', T0 + 11), null, T0 + 12)

  const file = join(folder, 'in', 'lineage.jsonl')
  const lineage = start(pathToFileURL(file).href)
  const read = () => {
    try {
      return readFileSync(file, 'utf8').trimEnd().split('\n')
    } catch {
      return []
    }
  }
  const lines = await until(read, (found) => found.length >= 16)
  await lineage.close()
  const events = lines.map((line) => runEvent.parse(JSON.parse(line)))
  const named = events.map(brief)
  expect(named.filter((name) => name.endsWith(' START'))).toHaveLength(8)
  expect(named.filter((name) => !name.endsWith(' START')).sort()).toEqual([
    ...['backfill ABORT', 'backfill COMPLETE', 'backfill FAIL', 'publish COMPLETE'],
    ...['reprocess ABORT', 'reprocess COMPLETE', 'reprocess FAIL', 'rollback COMPLETE'],
  ])
  for (const { run } of events)
    expect(events.filter((other) => other.run.runId === run.runId).map(({ eventType }) => eventType)[0]).toBe('START')
  expect(new Set(events.map(({ run }) => run.runId)).size).toBe(8)

  const of = (name: string) => events.find((event) => brief(event) === name)
  const names = (datasets: RunEvent['inputs'] | undefined) =>
    datasets?.map(({ namespace, name, facets }) => `${namespace} ${name} ${facets?.version.datasetVersion ?? ''}`)
  const { hostname, port, pathname } = new URL(services.postgres.url)
  const table = (name: string, version: string | number) => `postgres://${hostname}:${port} ${pathname.slice(1)}.km0.${name} ${version}`
  expect(names(of('backfill COMPLETE')?.inputs)).toEqual(['s3://km0 lake/positions 41'])
  expect(of('backfill COMPLETE')?.inputs[0]?.inputFacets?.inputStatistics.rowCount).toBe(10)
  const version = [table('version_distance', done), table('version_session', done), table('version_travel', done)]
  expect(names(of('backfill COMPLETE')?.outputs)).toEqual(version)
  expect(names(of('publish COMPLETE')?.inputs)).toEqual(version)
  expect(names(of('publish COMPLETE')?.outputs)?.[0]).toBe(table('served_distance', `publication ${publication}`))
  expect(of('backfill FAIL')?.run.facets.errorMessage?.message).toBe('the disk is full')
  expect(names(of('reprocess COMPLETE')?.inputs)).toEqual([
    's3://km0 lake/positions 42',
    'kafka://kafka.example:9092 repartiment.posicions ',
  ])
  // Who drove, and who asked, stays here.
  expect(lines.join('\n')).not.toMatch(/furgoneta|Anna|anna/)
})

it('an endpoint that is away stops nothing: it is tried again, counted, and told in order; what it refuses is passed over', async () => {
  const events: { event: RunEvent; key: string | undefined }[] = []
  let status = 503
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      const event = runEvent.parse(JSON.parse(body))
      const isRefused = status === 200 && events.length === 0
      if (status === 200) events.push({ event, key: request.headers.authorization })
      response.writeHead(isRefused ? 422 : status).end()
    })
  })
  await listen(server, '127.0.0.1', 0)
  const metrics = new Registry()
  const lineage = start(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1/lineage`, metrics)
  const id = await begin('while it is away')
  const text = () => metrics.metrics()
  expect(await until(text, (all) => /outcome="failed"\} [2-9]/.test(all))).toMatch(/km0_lineage_events_total\{outcome="failed"\} [2-9]/)
  expect(await store.complete(id, T0 + 20)).toBe(true)
  status = 200
  await until(
    () => events.length,
    (count) => count >= 2,
  )
  expect(await until(text, (all) => all.includes('km0_lineage_waiting_events 0'))).toMatch(/outcome="told"\} 1\n/)
  await lineage.close()
  expect(events.map(({ event, key }) => [brief(event), key])).toEqual([
    ['backfill START', 'Bearer secret'],
    ['backfill COMPLETE', 'Bearer secret'],
  ])
  expect(await text()).toContain('outcome="refused"} 1')
  await closeServer(server)
})
