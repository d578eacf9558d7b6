// The night run's sources together: the log goes to the lake, live results and late points to PostgreSQL; what is recomputed is what the oracle says.
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ALL_TIME, DEFAULT_POSITIONS_SETTINGS, type Emission, TOPICS } from '@km0/contracts'
import { currentSnapshot, type Lake, type LakeRecord, LakeWriter, openLake, POSITIONS, readBatchInput, readLog, rowMaker } from '@km0/lake'
import { createPositionsHost } from '@km0/pipelines'
import { positionsBatchOver } from '@km0/pipelines/positions/positions-columns'
import { openServing, type Serving } from '@km0/serving'
import { startServices, type TestServices } from '@km0/testkit/services'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { arrivals, closed, fixes } from '../laws/arbitrary-log.ts'
import { type LogRecord, LogWriter, SECOND, T0 } from '../laws/driver.ts'
import { lakeMissing, lakeSettings } from './lake-folders.ts'
import { record } from './serving-rows.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const HOUR_MS = 3_600_000
const settings = DEFAULT_POSITIONS_SETTINGS

let services: TestServices<{ postgres: true }>
let serving: Serving
let lake: Lake
let missing: string | null
let epoch = 0
beforeAll(async () => {
  execFileSync(process.execPath, ['infra/build.mjs', 'cli/src/km0'], { cwd: root, stdio: 'inherit' })
  services = await startServices({ postgres: true })
  missing = await lakeMissing(services)
  serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
  await serving.migrate()
  if (missing === null) lake = await openLake(lakeSettings(services, 'night', { inlineRows: 60 }))
})
afterAll(async () => {
  lake?.close()
  await serving?.close()
  await services?.stop()
})
beforeEach((test) => test.skip(missing !== null, missing ?? ''))

/** Makes these records all that the lake holds, as a log of their own. */
async function fill(log: readonly LogRecord[]): Promise<void> {
  epoch += 1
  const writer = new LakeWriter(lake, epoch)
  await writer.prepare()
  await lake.use((connection) => connection.run('DELETE FROM lake.positions'))
  const maker = rowMaker(POSITIONS, epoch, settings)
  for (const partition of new Set(log.map((line) => line.partition))) {
    const records = log
      .filter((line) => line.partition === partition)
      .map((line): LakeRecord => ({ ...line, key: null, value: line.text === null ? null : Buffer.from(line.text), headers: {} }))
    const rows = records.map((one) => maker.row(one)).filter((row) => row !== null)
    await writer.nextOffset(POSITIONS, partition)
    const batch = { table: POSITIONS, partition, fromOffset: 0, nextOffset: records.length, newestArrivalMs: null, newestEventMs: null }
    await writer.append([{ ...batch, rows }])
  }
}

async function batchRows(range = ALL_TIME): Promise<[string, string][]> {
  const wide = { fromMs: Math.max(range.fromMs, Date.UTC(1999, 0)), toMs: Math.min(range.toMs, Date.UTC(2101, 0)) }
  const { sessionGapMs, maxAgeMs: maxGapMs } = settings
  const needsFromMs = Date.UTC(1999, 0)
  const columns = await readBatchInput(lake, { ...wide, needsFromMs, sessionGapMs, maxGapMs, snapshot: await currentSnapshot(lake) })
  const rows: [string, string][] = []
  positionsBatchOver(columns, (key, value) => rows.push([key, value]), settings, range)
  return rows.sort(([a], [b]) => (a < b ? -1 : 1))
}

const SEEDS = '1-8'
const hasPython = spawnSync('python3', ['-c', 'import zoneinfo; zoneinfo.ZoneInfo("Europe/Madrid")']).status === 0
if (!hasPython) console.warn('skipped: the oracle needs python3 (3.9 or newer) that knows Europe/Madrid (tzdata)')

it.skipIf(!hasPython)("whatever is late: the batch over the lake is the oracle's over the log", { timeout: 300_000 }, async () => {
  const words = ['test/oracle/check.py', '--seeds', SEEDS, '--job', 'positions', '--list']
  const listed = spawnSync('python3', words, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 })
  const cases = listed.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  const batches = cases.filter((one) => one.words[1] === 'batch')
  let rows = 0
  for (const { name, words: options, log, want } of batches) {
    const lines = (log as string)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
    await fill(lines.map(({ partition, offset, timestamp, value }) => ({ partition, offset, timestampMs: timestamp, text: value })))
    const [, , , fromMs, , toMs] = options
    const range = fromMs === undefined ? ALL_TIME : { fromMs: Number(fromMs), toMs: Number(toMs) }
    const found = (await batchRows(range)).map(([key, value]) => ({ topic: 'panell', key, value: JSON.parse(value) }))
    expect(found, name).toEqual(want)
    rows += found.length
  }
  expect(rows).toBeGreaterThan(300)
})

it('nothing late: live over the lake and batch over the lake are equal, byte for byte (property)', { timeout: 300_000 }, async () => {
  const delays = fc.array(fc.integer({ min: 0, max: 45 * SECOND }), { minLength: 1, maxLength: 50 })
  let compared = 0
  await fc.assert(
    fc.asyncProperty(fixes, delays, async (points, delaysMs) => {
      await fill(closed(arrivals(points, delaysMs)))
      const host = createPositionsHost({ ...settings, livePoints: false })
      for await (const records of readLog(lake, { table: POSITIONS, epoch, partition: 0, stepOffsets: 50 }))
        for (const { partition, offset, timestampMs, text } of records)
          host.onRecord(partition, offset, timestampMs, null, text, Buffer.byteLength(text ?? ''), true)
      const live = new Map(host.drain().map(({ output, key, value }) => [`${output} ${key}`, value]))
      const shared = [...live].filter(([key]) => !key.startsWith('panell senyal|')).sort(([a], [b]) => (a < b ? -1 : 1))
      const batch = (await batchRows()).filter(([key]) => !key.startsWith('recorregut|'))
      expect(shared).toEqual(batch.map(([key, value]) => [`panell ${key}`, value]))
      compared += batch.length
    }),
    { numRuns: 6 },
  )
  expect(compared).toBeGreaterThan(10)
})

function km0(...args: readonly string[]): Promise<{ code: number; out: string; said: string }> {
  const env = { ...process.env, ...services.environment, KM0_LAKE_SCHEMA: 'lake_night' }
  return new Promise((resolve) => {
    execFile(process.execPath, ['packages/cli/dist/km0.js', ...args], { cwd: root, env }, (error, out, said) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, said }),
    )
  })
}

/** A phone that is off from minute 20 to 42 of T0's hour, and sends what it kept afterwards; another van goes on. */
function phoneOff(): LogRecord[] {
  const log = new LogWriter()
  const fix = (second: number, arrivalMs?: number) =>
    log.position('furgoneta-3', T0 + second * SECOND, 41.98 + second / 20_000, 2.82, arrivalMs)
  for (let second = 0; second <= 1_200; second += 10) fix(second)
  for (let second = 1_210; second < 2_520; second += 10) log.position('altra', T0 + second * SECOND, 41.9, 2.8)
  for (let second = 1_210; second < 2_520; second += 10) fix(second, T0 + 2_520 * SECOND)
  for (let second = 2_520; second <= 3_000; second += 10) fix(second)
  return log.heartbeat(T0 + 2 * HOUR_MS).records
}

/** Stores what the live job would have written. */
async function serve(emissions: readonly Emission[], nextOffset: number): Promise<void> {
  const of = (output: Emission['output']) =>
    emissions
      .filter((emission) => emission.output === output)
      .map(({ key, value, offset }, index) => record(key ?? '', JSON.parse(value), { offset }, index))
  const batch = { partition: 0, clusterId: 'one', writtenAtMs: T0 }
  const [panel, late] = [of('panell'), of('tardans')]
  await serving.applyPanelBatch({ ...batch, topic: TOPICS.panel.name, records: panel, nextOffset: panel.length })
  await serving.applyLateBatch({ ...batch, topic: TOPICS.late.name, records: late, nextOffset: late.length })
  const mark = {
    ...{ particio: 0, offset: nextOffset, marca_aigua_ms: T0 + 2 * HOUR_MS - 45_000, progres_ms: T0 + 2 * HOUR_MS },
    ...{ darrer_batec_ms: null, darrer_registre_ms: null, epoca: 1 },
  }
  await serving.applyMarkBatch({ ...batch, topic: TOPICS.marks.name, records: [record('0', mark, { offset: 0 }, 0)], nextOffset: 1 })
}

it('a phone off for 22 minutes: the hour is dirty, and its certificate names the late points', { timeout: 300_000 }, async () => {
  const log = phoneOff()
  await fill(log)
  const host = createPositionsHost()
  for (const { partition, offset, timestampMs, text } of log)
    host.onRecord(partition, offset, timestampMs, null, text, Buffer.byteLength(text ?? ''), true)
  const emissions = host.drain()
  await serve(emissions, log.length)

  const dirty = await km0('dirty', '--json', '--from', String(T0), '--to', String(T0 + 24 * HOUR_MS))
  expect(dirty.code).toBe(1)
  const plan = JSON.parse(dirty.out)
  expect(plan.pieces).toEqual([{ fromMs: T0, toMs: T0 + HOUR_MS, vans: ['furgoneta-3'], points: 125 }])
  // What live holds of the van in the hour, and what is late; points that live counts in part are in both.
  expect(plan.rowsToRead).toBeGreaterThanOrEqual(301)
  expect(plan.rowsToRead).toBeLessThan(301 + 60)

  const certified = await km0('certify', '--hour', String(T0 + 5 * 60_000), '--json')
  expect(certified).toMatchObject({ code: 1, said: '' })
  const certificate = JSON.parse(certified.out)
  expect(certificate).toMatchObject({ hourMs: T0, result: 'explained' })
  expect(certificate.hashServed).not.toBe(certificate.hashRecomputed)
  expect(certificate.differences.length).toBeGreaterThan(15)
  for (const { van, because } of certificate.differences) {
    expect(van).toBe('furgoneta-3')
    expect(because.length).toBeGreaterThan(0)
  }
  expect(await serving.readCertificates({ fromMs: T0, toMs: T0 + HOUR_MS })).toMatchObject([{ hourMs: T0, result: 'explained' }])
  const text = (await km0('certify', '--hour', String(T0), '--show', '1')).out
  expect(text).toMatch(/late point: 2026-09-14T08:2\d:\d\d.000Z (tard|parcial), partition 0 offset \d+/)

  // A row that is wrong for no reason is told apart.
  const [stored] = emissions.filter(({ output, key }) => output === 'panell' && key?.startsWith('distancia|altra|'))
  const changed = { ...JSON.parse(stored?.value ?? ''), distancia_mm: 123 }
  const batch = { topic: TOPICS.panel.name, partition: 1, clusterId: 'one', writtenAtMs: T0, nextOffset: 1 }
  await serving.applyPanelBatch({ ...batch, records: [record(stored?.key ?? '', changed, { offset: log.length + 1 }, 0)] })
  const wrong = await km0('certify', '--hour', String(T0), '--show', '100')
  expect(wrong.code).toBe(3)
  expect(wrong.out).toMatch(/distancia\|altra\|\d+\n.*\n.*\n {4}no late point explains it/)
  expect((await km0('certify', '--hour', String(T0 + 2 * HOUR_MS))).said).toMatch(/not closed/)
})
