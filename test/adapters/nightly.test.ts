import { rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DEFAULT_POSITIONS_SETTINGS, EVERYTHING, madridDay, type NightRun } from '@km0/contracts'
import { QUEUES } from '@km0/contracts/queues'
import { type Lake, LakeWriter, openLake } from '@km0/lake'
import { type NightRuns, openNightRuns, openServing, type Serving } from '@km0/serving'
import { startServices, type TestServices } from '@km0/testkit/services'
import { readSchedules } from '@km0/transport/schedule'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { MINUTE } from '../laws/driver.ts'
import { fillLake, HOUR, logOf, runLiveInto } from './backfill-log.ts'
import { BatchProcess, buildBatch, until as untilWithin } from './batch-process.ts'
import { lakeMissing, lakeSettings } from './lake-folders.ts'

/** The night run over a real lake, queue and store: catches up what was missed, publishes what passes, holds what does not and tells a person. */

let services: TestServices<{ postgres: true; redis: true }>
let missing: string | null
let lake: Lake
let writer: LakeWriter
let serving: Serving
let runs: NightRuns
let pool: pg.Pool
let batch: BatchProcess | undefined
let hook: Server
const told: { news: string; day: string; detail: string }[] = []

const RULES = { ...DEFAULT_POSITIONS_SETTINGS, maxGapMs: DEFAULT_POSITIONS_SETTINGS.maxAgeMs }
const NOON = madridDay(Date.now()).startMs + 12 * HOUR
const [before, yesterday] = [2, 1].map((days) => madridDay(NOON - days * 24 * HOUR)) as [
  { startMs: number; endMs: number },
  { startMs: number; endMs: number },
]

/** Workers are started for each look, which takes its time on a busy machine. */
const until = (what: string, condition: () => boolean | Promise<boolean>) => untilWithin(what, condition, 240_000)

const start = () =>
  BatchProcess.start(services, 'lake_nightly', {
    KM0_NIGHTLY_AT: '00:00',
    KM0_NIGHTLY_DAYS: '3',
    KM0_NIGHTLY_CHECK_MS: '300',
    KM0_NIGHTLY_ALARM_MS: String(400 * 24 * HOUR),
    KM0_WEBHOOK_URL: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`,
  })
const night = async (day: { startMs: number }): Promise<NightRun | undefined> =>
  (await runs.list(40)).find(({ dayMs }) => dayMs === day.startMs)

beforeAll(async () => {
  services = await startServices({ postgres: true, redis: true })
  missing = await lakeMissing(services)
  if (missing !== null) return
  buildBatch()
  const options = { databaseUrl: services.postgres.url, applicationName: 'test' }
  serving = openServing(options)
  await serving.migrate()
  runs = openNightRuns(options)
  pool = new pg.Pool({ connectionString: services.postgres.url, max: 1 })
  pool.on('error', () => undefined)
  lake = await openLake(lakeSettings(services, 'nightly', { inlineRows: 500 }))
  writer = new LakeWriter(lake, 1)
  await writer.prepare()
  hook = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      told.push(JSON.parse(body))
      response.end()
    })
  })
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await batch?.stop()
  hook?.close()
  await runs?.close()
  await serving?.close()
  await pool?.end()
  lake?.close()
  await services?.stop()
})

it('waits for the lake, catches up, brings late points in, holds a day that loses a van, and tells a person once', {
  timeout: 600_000,
}, async (test) => {
  test.skip(missing !== null, missing ?? '')
  const at = (day: { startMs: number }, hour: number, minute = 0) => day.startMs + hour * HOUR + minute * MINUTE
  const records = logOf(0, yesterday.endMs + 31 * MINUTE, [
    { van: 'furgoneta-3', fromMs: at(before, 9), toMs: at(before, 11), offFromMs: at(before, 9, 40), offToMs: at(before, 10, 5) },
    // So much else is driven that what comes late is a small share.
    { van: 'furgoneta-4', fromMs: at(before, 8), toMs: at(before, 12) },
    { van: 'furgoneta-3', fromMs: at(yesterday, 9), toMs: at(yesterday, 10) },
  ])
  const untilEnd = records.filter(({ timestampMs }) => timestampMs < yesterday.endMs)
  await fillLake(writer, untilEnd)
  await runLiveInto(serving, writer, records)
  // A registered van whose rows the lake knows nothing of: what a backfill would lose.
  const lost = { van: 'furgoneta-9', name: 'Perduda', plate: null, depotId: null, inServiceFromMs: null, inServiceToMs: null }
  await serving.importVans([{ line: 1, row: lost }])
  await pool.query(
    `insert into km0.distance_row (van, window_start_ms, window_end_ms, distance_mm, positions, jumps, displacement_mm, revision, epoch, source_partition, source_offset, written_at_ms)
     values ('furgoneta-9', $1, $2, 5, 2, 0, 5, 0, 1, 0, 1, 0)`,
    [at(yesterday, 9), at(yesterday, 9, 5)],
  )
  batch = await start()
  await until('the night before is published', async () => (await night(before))?.state === 'published')
  await until('yesterday waits', async () => (await night(yesterday))?.detail.includes('final up to') === true)
  expect(await night(yesterday)).toMatchObject({ state: 'waiting' })
  const dirty = await serving.readDirtyHours(EVERYTHING, { fromMs: before.startMs, toMs: before.endMs, rules: RULES })
  expect(dirty).toEqual([])

  // Killed, its queue emptied: it goes on from the store, and by a clock of its own.
  await batch.stop()
  await services.redis.kill9()
  await rm(join(services.dataDir, 'redis'), { recursive: true })
  await services.restart('redis')
  await fillLake(writer, records)
  batch = await start()
  await until('yesterday is held', async () => (await night(yesterday))?.state === 'held')
  expect((await night(yesterday))?.detail).toMatch(/registered vans are lost: furgoneta-9/)
  await until('a person is told', () => told.length > 0)
  expect(await readSchedules({ redisUrl: services.redis.url, queue: QUEUES.nightly })).toEqual({
    look: { everyMs: 300 },
    night: { cron: '0 0 * * *', timeZone: 'Europe/Madrid' },
  })
  const looked = (await night(yesterday))?.updatedAtMs ?? 0
  await until('it has looked again', async () => Date.now() > looked + 1_500)
  expect(told).toEqual([
    {
      kind: 'nightly',
      news: 'held',
      day: dayName(yesterday),
      state: 'held',
      detail: expect.stringContaining('furgoneta-9'),
      versions: expect.any(Array),
    },
  ])
})

const dayName = ({ startMs }: { startMs: number }) => new Date(startMs + 12 * HOUR).toISOString().slice(0, 10)
