import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEFAULT_POSITIONS_SETTINGS, type Emission } from '@km0/contracts'
import {
  currentSnapshot,
  exactFiles,
  finalMarks,
  LakeReadOnlyError,
  type LakeRecord,
  LakeWriter,
  lakeStatus,
  maintain,
  openLake,
  POSITIONS,
  queryLake,
  readLog,
  readPositions,
  STOCK_EVENTS,
  storedPartitions,
} from '@km0/lake'
import { createPositionsHost } from '@km0/pipelines'
import { startServices, type TestServices } from '@km0/testkit/services'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { lakeMissing, lakeSettings } from './lake-folders.ts'
import { batchOf, HOUR_MS, newLake, position, START_MS } from './lake-records.ts'

let services: TestServices<{ postgres: object }>
let missing: string | null

beforeAll(async () => {
  // What was committed must outlive a kill.
  services = await startServices({ postgres: { fsync: true } })
  missing = await lakeMissing(services)
})
afterAll(() => services?.stop())
beforeEach((test) => test.skip(missing !== null, missing ?? ''))

it('reads a range by event time as a plain filter of the log would (property)', { timeout: 180_000 }, async () => {
  const { lake, writer } = await newLake(services, 'ranges')
  const log: { van: string; eventMs: number; offset: number; lat: number; lon: number; partition: number }[] = []
  const next = [0, 0, 0]
  for (const partition of next.keys()) await writer.nextOffset(POSITIONS, partition)
  const vans = ['a', "o'hara", 'furgoneta-3', '😀', 'b|c']
  const point = fc.tuple(fc.constantFrom(...vans), fc.integer({ min: 0, max: 60 * HOUR_MS }))
  const append = fc.record({ partition: fc.nat({ max: 2 }), points: fc.array(point, { minLength: 8, maxLength: 120 }) })
  const query = fc.record({
    fromMs: fc.integer({ min: -HOUR_MS, max: 60 * HOUR_MS }),
    lengthMs: fc.integer({ min: 1, max: 40 * HOUR_MS }),
    vans: fc.option(fc.subarray(vans), { nil: undefined }),
    tidy: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(append, { minLength: 1, maxLength: 4 }),
      fc.array(query, { minLength: 1, maxLength: 4 }),
      async (appends, queries) => {
        for (const { partition, points } of appends) {
          const from = next[partition] ?? 0
          const records = points.map(([van, ms], index) => position(partition, from + index, van, START_MS + ms))
          await writer.append([batchOf(POSITIONS, records, from)])
          next[partition] = from + records.length
          for (const record of records) {
            const { repartidor: van, lat, lon, data_ms: eventMs } = JSON.parse(String(record.value))
            log.push({ van, eventMs, lat, lon, partition, offset: record.offset })
          }
        }
        for (const { fromMs, lengthMs, vans: some, tidy } of queries) {
          if (tidy) await maintain(lake, { keepSnapshotsMs: 0, keepFilesMs: 0 }, Date.now() + 1_000)
          const range = { fromMs: START_MS + fromMs, toMs: START_MS + fromMs + lengthMs }
          const columns = await readPositions(lake, some === undefined ? range : { ...range, vans: some })
          const found = Array.from({ length: columns.rowCount }, (_, row) => ({
            van: columns.vans[columns.van[row] ?? -1],
            eventMs: columns.eventMs[row],
            lat: columns.lat[row],
            lon: columns.lon[row],
            partition: columns.partition[row],
            offset: columns.offset[row],
          }))
          const wanted = log.filter(
            ({ van, eventMs }) => eventMs >= range.fromMs && eventMs < range.toMs && (some === undefined || some.includes(van)),
          )
          const order = (rows: { partition?: number | undefined; offset?: number | undefined }[]) =>
            rows.sort((a, b) => (a.partition ?? 0) - (b.partition ?? 0) || (a.offset ?? 0) - (b.offset ?? 0))
          expect(order(found)).toEqual(order([...wanted]))
        }
      },
    ),
    { numRuns: 15 },
  )
  expect(log.length).toBeGreaterThan(100)
  lake.close()
})

/** What the live job makes of records: results and late points, in order, with the record that caused each. */
function liveResults(
  records: Iterable<{ partition: number; offset: number; timestampMs: number; key: string | null; text: string | null }>,
): Emission[] {
  const host = createPositionsHost()
  const results: Emission[] = []
  for (const { partition, offset, timestampMs, key, text } of records) {
    host.onRecord(partition, offset, timestampMs, key, text, Buffer.byteLength(text ?? ''), true)
    results.push(...host.drain())
  }
  return results.filter(({ output }) => output !== 'rebutjats')
}

it.each(['borders', 'days', 'edges', 'settings', 'size'])('gives the live job the same rows as the log did: %s', async (name) => {
  const file = fileURLToPath(new URL(`../oracle/vectors/${name}.in.ndjson`, import.meta.url))
  const log = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { partition: number; offset: number; timestamp: number; key: string | null; value: string | null })
    .map((line) => ({ ...line, timestampMs: line.timestamp, text: line.value }))
  const { lake, writer } = await newLake(services, `vector_${name}`)
  const partitions = [...new Set(log.map(({ partition }) => partition))].sort((a, b) => a - b)
  for (const partition of partitions) {
    const records = log
      .filter((record) => record.partition === partition)
      .map((record): LakeRecord => ({ ...record, value: record.text === null ? null : Buffer.from(record.text), headers: {} }))
    await writer.nextOffset(POSITIONS, partition)
    await writer.append([batchOf(POSITIONS, records, 0)])
  }
  await maintain(lake, { keepSnapshotsMs: 0, keepFilesMs: 0 }, Date.now() + 1_000)
  // What the lake tells of the final marks is never ahead of the live job's.
  const host = createPositionsHost()
  for (const { partition, offset, timestampMs, key, text } of log)
    host.onRecord(partition, offset, timestampMs, key, text, Buffer.byteLength(text ?? ''), true)
  const { delayMs, allowedLatenessMs } = DEFAULT_POSITIONS_SETTINGS
  for (const { partition, progressMs, finalMs } of await finalMarks(lake, { table: POSITIONS, delayMs, allowedLatenessMs })) {
    expect([name, partition, progressMs]).toEqual([name, partition, host.progressMs(partition)])
    expect(finalMs).toBeLessThanOrEqual(host.finalMs(partition))
    if (name !== 'settings') expect(finalMs).toBe(host.finalMs(partition))
  }
  const expected = partitions.flatMap((partition) => liveResults(log.filter((record) => record.partition === partition)))
  const found: Emission[] = []
  for (const { partition } of await storedPartitions(lake, POSITIONS)) {
    const records = []
    for await (const part of readLog(lake, { table: POSITIONS, epoch: 1, partition, stepOffsets: 7 })) records.push(...part)
    found.push(...liveResults(records))
  }
  expect(expected.length).toBeGreaterThan(0)
  expect(found).toEqual(expected)
  lake.close()
})

it('goes on when PostgreSQL is killed and comes back', async () => {
  const { lake, writer } = await newLake(services, 'restart')
  const records = (from: number, until: number) =>
    Array.from({ length: until - from }, (_, index) => position(0, from + index, 'a', START_MS + (from + index) * 1_000))
  await writer.nextOffset(POSITIONS, 0)
  await writer.append([batchOf(POSITIONS, records(0, 100), 0)])
  await services.postgres.kill9()
  await expect(writer.append([batchOf(POSITIONS, records(100, 200), 100)])).rejects.toThrow()
  await services.restart('postgres')
  let failure: unknown = null
  for (let attempt = 0; attempt < 20; attempt += 1) {
    try {
      await writer.append([batchOf(POSITIONS, records(100, 200), 100)])
      failure = null
      break
    } catch (error) {
      failure = error
      expect(error).toHaveProperty('name', 'LakeUnavailableError')
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
  }
  expect(failure).toBeNull()
  const columns = await readPositions(lake, { fromMs: START_MS, toMs: START_MS + HOUR_MS })
  expect([...columns.offset].sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, offset) => offset))
  lake.close()
})

it('reads itself as it was, until the snapshot is forgotten', async () => {
  const { lake, writer } = await newLake(services, 'travel')
  await writer.nextOffset(POSITIONS, 0)
  await writer.append([batchOf(POSITIONS, [position(0, 0, 'a', START_MS)], 0)])
  const snapshot = await currentSnapshot(lake)
  await writer.append([batchOf(POSITIONS, [position(0, 1, 'b', START_MS + 1)], 1)])
  const range = { fromMs: START_MS, toMs: START_MS + 10 }
  expect((await readPositions(lake, { ...range, snapshot })).vans).toEqual(['a'])
  expect((await readPositions(lake, range)).vans).toEqual(['a', 'b'])
  await maintain(lake, { keepSnapshotsMs: HOUR_MS, keepFilesMs: HOUR_MS }, Date.now())
  expect((await readPositions(lake, { ...range, snapshot })).vans).toEqual(['a'])
  await maintain(lake, { keepSnapshotsMs: 0, keepFilesMs: 0 }, Date.now() + 1_000)
  await expect(readPositions(lake, { ...range, snapshot })).rejects.toThrow()
  lake.close()
})

it('runs reading statements only', async () => {
  const { lake, writer } = await newLake(services, 'sql')
  await writer.nextOffset(POSITIONS, 0)
  await writer.append([
    batchOf(
      POSITIONS,
      [0, 1, 2].map((offset) => position(0, offset, 'a', START_MS + offset)),
      0,
    ),
  ])
  const readOnly = await openLake(lakeSettings(services, 'sql'), { readOnly: true })
  const { columns, rows, isCut } = await queryLake(readOnly, 'SELECT van, kafka_offset FROM positions ORDER BY 2', 2)
  expect({ columns, rows, isCut }).toEqual({
    columns: ['van', 'kafka_offset'],
    rows: [
      ['a', '0'],
      ['a', '1'],
    ],
    isCut: true,
  })
  const target = join(services.dataDir, 'stolen.csv')
  for (const sql of [
    'DELETE FROM positions',
    'DROP TABLE positions',
    'CREATE TABLE x (a INTEGER)',
    `COPY positions TO '${target}'`,
    `CALL ducklake_expire_snapshots('lake', older_than => now())`,
    'SELECT 1; DELETE FROM positions',
    'SET threads = 1',
  ])
    await expect(queryLake(readOnly, sql, 10), sql).rejects.toThrow(LakeReadOnlyError)
  await expect(queryLake(readOnly, 'SELECT * FROM nothing_here', 10)).rejects.toThrow(/nothing_here/)
  expect(existsSync(target)).toBe(false)
  expect((await readPositions(lake, { fromMs: START_MS, toMs: START_MS + 10 })).rowCount).toBe(3)
  readOnly.close()
  lake.close()
})

it('does its upkeep beside writers of other partitions and readers, and nobody stops', { timeout: 120_000 }, async () => {
  const { lake } = await newLake(services, 'beside', 40)
  const upkeep = await openLake(lakeSettings(services, 'beside', { inlineRows: 40 }))
  let isWriting = true
  let rounds = 0
  let reads = 0
  const write = async (partition: number) => {
    const writer = new LakeWriter(lake, 1)
    let next = await writer.nextOffset(POSITIONS, partition)
    // Until both others had their turns, however slow they are.
    for (let number = 0; number < 25 || ((rounds < 2 || reads < 2) && number < 1_000); number += 1) {
      const count = 10 + ((number * 37 + partition * 13) % 90)
      const records = Array.from({ length: count }, (_, index) =>
        position(partition, next + index, `v${partition}`, START_MS + (next + index) * 90_000),
      )
      await writer.append([batchOf(POSITIONS, records, next)])
      next += count
    }
    return next
  }
  const tidy = async () => {
    for (; isWriting; rounds += 1) await maintain(upkeep, { keepSnapshotsMs: 5_000, keepFilesMs: HOUR_MS }, Date.now())
  }
  const read = async () => {
    for (let before = 0; isWriting; reads += 1) {
      const { rowCount } = await readPositions(lake, { fromMs: START_MS, toMs: START_MS + 1_000 * HOUR_MS })
      expect(rowCount).toBeGreaterThanOrEqual(before)
      before = rowCount
    }
  }
  const writing = Promise.all([write(0), write(1)]).finally(() => {
    isWriting = false
  })
  const [ends] = await Promise.all([writing, tidy(), read()])
  const { partition, offset } = await readPositions(lake, { fromMs: START_MS, toMs: START_MS + 1_000 * HOUR_MS })
  const places = new Set(offset.map((value, row) => value * 2 + (partition[row] ?? 0)))
  expect([offset.length, places.size]).toEqual([ends[0] + ends[1], ends[0] + ends[1]])
  expect(Math.min(rounds, reads)).toBeGreaterThan(1)
  // Of each offset one row is left in the catalog, and no file.
  await maintain(upkeep, { keepSnapshotsMs: 0, keepFilesMs: HOUR_MS }, Date.now() + 1_000)
  const left = await upkeep.use(async (connection) => {
    const catalog = 'lake_catalog.lake_beside'
    const tables = await connection.all<{ name: string; files: number }>(
      `SELECT i.table_name AS name, (SELECT count(*)::INTEGER FROM ${catalog}.ducklake_data_file f WHERE f.table_id = t.table_id) AS files
        FROM ${catalog}.ducklake_inlined_data_tables i JOIN ${catalog}.ducklake_table t USING (table_id) WHERE starts_with(t.table_name, 'offsets_')`,
    )
    const rows = tables.map(({ name }) => connection.all<{ n: number }>(`SELECT count(*)::INTEGER AS n FROM ${catalog}.${name}`))
    return { files: tables.map(({ files }) => files), rows: (await Promise.all(rows)).map(([row]) => row?.n) }
  })
  expect(left).toEqual({ files: [0, 0], rows: [1, 1] })
  console.log(`${rounds} rounds of upkeep and ${reads} reads beside ${ends[0] + ends[1]} rows`)
  upkeep.close()
  lake.close()
})

it('forgets days that are over, and their files', async () => {
  const { lake, writer } = await newLake(services, 'retention', 5)
  await writer.nextOffset(POSITIONS, 0)
  const day = 24 * HOUR_MS
  const records = Array.from({ length: 30 }, (_, offset) => position(0, offset, 'a', START_MS + (offset % 3) * day))
  await writer.append([batchOf(POSITIONS, records, 0)])
  await writer.append([batchOf(POSITIONS, [position(0, 30, 'a', START_MS)], 30)])
  const files = await exactFiles(lake, POSITIONS)
  const settings = { keepSnapshotsMs: 0, keepFilesMs: 0, keepRowsMs: day }
  // The clock of the rows, not of the files: only what is old by event time goes.
  expect(await maintain(lake, settings, START_MS + 2 * day)).toMatchObject({ deletedRows: 11, postponed: [] })
  const columns = await readPositions(lake, { fromMs: START_MS, toMs: START_MS + 10 * day })
  expect([...new Set(columns.eventMs)].sort()).toEqual([START_MS + day, START_MS + 2 * day])
  // What a round replaces, the next one deletes.
  for (let round = 0; round < 2; round += 1) await maintain(lake, settings, Date.now() + 1_000)
  expect(files.filter((file) => existsSync(file))).toHaveLength(0)
  lake.close()
})

it('keeps stock events, and writes down a hole', async () => {
  const { lake, writer } = await newLake(services, 'stock')
  const value = '{"tipus":"estoc.actualitzat","data_ms":1789380000000,"dades":{"producte":"pa","mercat":"girona","estoc_actual":4}}'
  const record = { partition: 3, offset: 7, timestampMs: START_MS, key: 'x', value: Buffer.from(value), headers: {} }
  expect(await writer.nextOffset(STOCK_EVENTS, 3)).toBe(0)
  await writer.skip({ table: STOCK_EVENTS, partition: 3, fromOffset: 0, toOffset: 7, foundMs: START_MS })
  await writer.append([batchOf(STOCK_EVENTS, [record], 7)])
  const records = []
  for await (const part of readLog(lake, { table: STOCK_EVENTS, epoch: 1, partition: 3 })) records.push(...part)
  expect(records).toEqual([{ epoch: 1, partition: 3, offset: 7, timestampMs: START_MS, key: 'x', text: value, headers: {} }])
  expect((await lakeStatus(lake)).holes).toEqual([
    { table: 'stock_events', epoch: 1, partition: 3, fromOffset: 0, toOffset: 7, foundMs: START_MS },
  ])
  lake.close()
})
