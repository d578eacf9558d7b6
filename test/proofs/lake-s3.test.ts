// The lake with its files in an S3-compatible object store: written exactly once, tidied up, read back, through an outage of the store.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import {
  exactFiles,
  exportRows,
  type LakeBatch,
  LakeUnavailableError,
  LakeWriter,
  lakeEnvironment,
  lakeSettingsOf,
  maintain,
  openLake,
  POSITIONS,
  readLog,
  readPositions,
  rowMaker,
} from '@km0/lake'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cacheRoot } from '../../infra/embedded/cache.mjs'

const START_MS = Date.UTC(2026, 8, 14, 12)
const RANGE = { fromMs: START_MS, toMs: START_MS + 100 * 3_600_000 }
const EACH = 400

let services: TestServices<{ postgres: true; s3: true }>
beforeAll(async () => {
  services = await startServices({ postgres: true, s3: true })
}, 1_000_000)
afterAll(() => services?.stop())

/** As a program finds it: by settings. */
function settings() {
  const { port, bucket, keyId, secret } = services.s3
  const environment = lakeEnvironment.parse({
    KM0_LAKE_DATA: `s3://${bucket}/lake`,
    KM0_LAKE_EXTENSIONS: join(cacheRoot(), 'duckdb'),
    KM0_LAKE_TEMPORARY: join(services.dataDir, 'temporary'),
    KM0_LAKE_INLINE_ROWS: '50',
    KM0_LAKE_S3_ENDPOINT: `127.0.0.1:${port}`,
    KM0_LAKE_S3_KEY_ID: keyId,
    KM0_LAKE_S3_SECRET: secret,
    KM0_LAKE_S3_TLS: 'false',
  })
  return lakeSettingsOf(environment, services.postgres.url, cacheRoot())
}

function batch(number: number): LakeBatch {
  const maker = rowMaker(POSITIONS, 1, DEFAULT_POSITIONS_SETTINGS)
  const from = number * EACH
  const rows = Array.from({ length: EACH }, (_, index) => {
    const eventMs = START_MS + (from + index) * 60_000
    const value = Buffer.from(JSON.stringify({ repartidor: `v${index % 3}`, lat: 41, lon: 2.8, data_ms: eventMs }))
    return maker.row({ partition: 0, offset: from + index, timestampMs: eventMs + 1_000, key: null, value, headers: {} }) ?? []
  })
  return { table: POSITIONS, partition: 0, fromOffset: from, nextOffset: from + EACH, rows, newestArrivalMs: null, newestEventMs: null }
}

/** Parquet files that lie in the bucket. */
function stored(folder = join(services.dataDir, 's3', 'objects', services.s3.bucket)): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? stored(path) : name.endsWith('.parquet') ? [path] : []
  })
}

async function offsets(lake: Awaited<ReturnType<typeof openLake>>): Promise<number[]> {
  const found: number[] = []
  for await (const records of readLog(lake, { table: POSITIONS, epoch: 1, partition: 0 }))
    found.push(...records.map(({ offset }) => offset))
  return found
}

it('keeps its files in a bucket', { timeout: 300_000 }, async () => {
  const lake = await openLake(settings())
  const writer = new LakeWriter(lake, 1)
  await writer.prepare()
  await writer.nextOffset(POSITIONS, 0)
  for (let number = 0; number < 5; number += 1) await writer.append([batch(number)])
  expect(stored().length).toBeGreaterThanOrEqual(5)
  const round = { keepSnapshotsMs: 0, keepFilesMs: 0 }
  for (let n = 0; n < 2; n += 1) expect(await maintain(lake, round, Date.now() + 1_000)).toMatchObject({ postponed: [] })
  const files = await exactFiles(lake, POSITIONS)
  // One a day; what was merged away is deleted in the bucket too.
  expect([files.length, stored().length]).toEqual([2, 2])
  expect(files.every((file) => file.startsWith(`s3://${services.s3.bucket}/lake/`))).toBe(true)
  expect((await readPositions(lake, RANGE)).rowCount).toBe(5 * EACH)
  const path = join(services.dataDir, 'copy.parquet')
  expect(await exportRows(lake, { table: POSITIONS, format: 'parquet', ...RANGE, path })).toMatchObject({ rows: 5 * EACH })
  expect(existsSync(path)).toBe(true)

  // The store goes away in the middle of an append: nothing is stored, and the same call is right afterwards.
  await services.s3.kill9()
  const failure = await writer.append([batch(5)]).then(
    () => null,
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(LakeUnavailableError)
  await services.restart('s3')
  await writer.append([batch(5)])
  expect(await offsets(lake)).toEqual(Array.from({ length: 6 * EACH }, (_, offset) => offset))
  lake.close()

  // A reader that only knows the catalog and the keys.
  const { dataPath: _, ...where } = settings()
  const reader = await openLake({ ...where, dataPath: null }, { readOnly: true })
  expect((await readPositions(reader, RANGE)).rowCount).toBe(6 * EACH)
  reader.close()
})
