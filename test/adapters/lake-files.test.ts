// The files of the lake: what readers that are not ours are given, how they grow, and what a crash may leave among them.
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { coveredShare } from '@km0/contracts'
import {
  DEAD_LETTERS,
  exactFiles,
  exportRows,
  LATE_POSITIONS,
  type LakeTable,
  LakeWriter,
  lakeStatus,
  maintain,
  measureLateness,
  openLake,
  POSITIONS,
  queryLake,
  readPositions,
  STOCK_EVENTS,
} from '@km0/lake'
import { migrate } from '@km0/lake/schema'
import { startServices, type TestServices } from '@km0/testkit/services'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { lakeMissing, lakeSettings } from './lake-folders.ts'
import { batchOf, HOUR_MS, newLake, position, START_MS } from './lake-records.ts'
import { restoreLake } from './recorded-lake.ts'

let services: TestServices<{ postgres: true }>
let missing: string | null

beforeAll(async () => {
  services = await startServices({ postgres: true })
  missing = await lakeMissing(services)
})
afterAll(() => services?.stop())
beforeEach((test) => test.skip(missing !== null, missing ?? ''))

it('grows a column without rewriting: old rows read as null, an older version goes on writing', async () => {
  const { lake, writer: old } = await newLake(services, 'growth', 1)
  await old.nextOffset(POSITIONS, 0)
  await old.append([batchOf(POSITIONS, [position(0, 0, 'a', START_MS, { bateria: 71 })], 0)])
  const before = await exactFiles(lake, POSITIONS)
  const newer: LakeTable = { ...POSITIONS, columns: [...POSITIONS.columns, { name: 'battery', type: 'INTEGER' }] }
  await lake.use((connection) => migrate(connection, [newer]))
  const young = new LakeWriter(lake, 1)
  const [row] = batchOf(POSITIONS, [position(0, 1, 'a', START_MS + 1)], 1).rows
  await young.append([{ ...batchOf(POSITIONS, [position(0, 1, 'a', START_MS + 1)], 1), table: newer, rows: [[...(row ?? []), 55]] }])
  await old.append([batchOf(POSITIONS, [position(0, 2, 'a', START_MS + 2)], 2)])
  expect(await exactFiles(lake, POSITIONS)).toEqual(expect.arrayContaining(before))
  const sql = `SELECT battery, value->>'$.bateria' AS kept FROM positions ORDER BY kafka_offset`
  expect((await queryLake(lake, sql, 10)).rows).toEqual([
    [null, '71'],
    ['55', null],
    [null, null],
  ])
  expect((await readPositions(lake, { fromMs: START_MS, toMs: START_MS + 10 })).rowCount).toBe(3)
  lake.close()
})

it('opens a lake that the first version wrote, grows it, and leaves it to that version to go on', async () => {
  const settings = lakeSettings(services, 'recorded')
  const pool = new pg.Pool({ connectionString: services.postgres.url, max: 1 })
  // 32 positions an hour apart, the last two still in the catalog, and two stock events: old-lake-writer.ts, run with the code of that commit.
  const file = fileURLToPath(new URL('recorded/lake-b177eae.json.gz', import.meta.url))
  const recorded = await restoreLake(pool, settings.catalogSchema, settings.dataPath ?? '', file)
  await pool.end()
  const lake = await openLake(settings)
  const writer = new LakeWriter(lake, 1)
  await writer.prepare()
  const before = await exactFiles(lake, POSITIONS)
  // Two days, and what was in the catalog: other readers are given it as a file.
  expect(before.length).toBe(3)
  expect([await writer.nextOffset(POSITIONS, 0), await writer.nextOffset(STOCK_EVENTS, 0)]).toEqual([32, 2])
  const all = { fromMs: 0, toMs: START_MS + 1_000 * HOUR_MS }
  const offsets = async () => Array.from((await readPositions(lake, all)).offset).sort((a, b) => a - b)
  expect(await offsets()).toEqual([...Array(32).keys()])

  const newer: LakeTable = { ...POSITIONS, columns: [...POSITIONS.columns, { name: 'battery', type: 'INTEGER' }] }
  await lake.use((connection) => migrate(connection, [newer]))
  const batch = batchOf(POSITIONS, [position(0, 32, 'a', START_MS)], 32)
  await writer.append([{ ...batch, table: newer, rows: batch.rows.map((row) => [...row, 55]) }])
  // The columns that the recorded writer knows, and no others.
  const columns = recorded.filter(({ name }) => POSITIONS.columns.some((column) => column.name === name))
  expect(columns.map(({ name }) => name)).not.toContain('battery')
  const known = POSITIONS.columns.filter(({ name }) => columns.some((column) => column.name === name))
  const places = known.map(({ name }) => POSITIONS.columns.findIndex((column) => column.name === name))
  const next = batchOf(POSITIONS, [position(0, 33, 'a', START_MS)], 33)
  const rows = next.rows.map((row) => places.map((place) => row[place] ?? null))
  await new LakeWriter(lake, 1).append([{ ...next, table: { ...POSITIONS, columns: known }, rows }])
  expect(await exactFiles(lake, POSITIONS)).toEqual(expect.arrayContaining(before))
  await maintain(lake, { keepSnapshotsMs: HOUR_MS, keepFilesMs: HOUR_MS }, Date.now())
  expect(await offsets()).toEqual([...Array(34).keys()])
  const sql = `SELECT kafka_offset, battery, value->>'$.bateria' FROM positions WHERE kafka_offset IN (3, 31, 32, 33) ORDER BY 1`
  expect((await queryLake(lake, sql, 10)).rows).toEqual([
    ['3', null, '71'],
    ['31', null, null],
    ['32', '55', null],
    ['33', null, null],
  ])
  lake.close()
})

it('exports a range and names its exact files', async () => {
  const { lake, writer } = await newLake(services, 'export', 5)
  await writer.nextOffset(POSITIONS, 0)
  for (const part of [0, 10, 20]) {
    const records = Array.from({ length: 10 }, (_, index) => position(0, part + index, 'a', START_MS + (part + index) * HOUR_MS))
    await writer.append([batchOf(POSITIONS, records, part)])
  }
  await writer.append([batchOf(POSITIONS, [position(0, 30, 'a', START_MS)], 30)])
  const folder = join(services.dataDir, 'exports')
  mkdirSync(folder, { recursive: true })
  const range = { table: POSITIONS, fromMs: START_MS + HOUR_MS, toMs: START_MS + 20 * HOUR_MS }
  expect(await exportRows(lake, { ...range, format: 'parquet', path: join(folder, 'a.parquet') })).toMatchObject({ rows: 19 })
  expect(await exportRows(lake, { ...range, format: 'csv', path: join(folder, "it's.csv") })).toMatchObject({ rows: 19 })
  expect(readFileSync(join(folder, "it's.csv"), 'utf8').trim().split('\n')).toHaveLength(20)
  const delta = join(folder, 'delta')
  const exported = await exportRows(lake, { ...range, format: 'delta', path: delta })
  const log = readFileSync(join(delta, '_delta_log', '00000000000000000000.json'), 'utf8')
    .trim()
    .split('\n')
  const added = log.map((line) => JSON.parse(line).add).filter((action) => action !== undefined)
  expect(added.map(({ path }) => join(delta, decodeURIComponent(path)))).toEqual(exported.files)
  expect(added.map(({ partitionValues, size }) => [partitionValues.event_day, size])).toEqual([
    ['2026-09-14', statSync(exported.files[0] ?? '').size],
    ['2026-09-15', statSync(exported.files[1] ?? '').size],
  ])
  const inDelta = await lake.use((connection) =>
    connection.all(`SELECT kafka_offset::INTEGER AS o FROM read_parquet([${exported.files.map((file) => `'${file}'`)}]) ORDER BY 1`),
  )
  expect(inDelta).toEqual(Array.from({ length: 19 }, (_, index) => ({ o: index + 1 })))
  const files = await exactFiles(lake, POSITIONS)
  expect(files.every((file) => statSync(file).size > 0)).toBe(true)
  const counted = await lake.use((connection) =>
    connection.all<{ n: number }>(`SELECT count(*)::INTEGER AS n FROM read_parquet([${files.map((file) => `'${file}'`).join(', ')}])`),
  )
  expect(counted).toEqual([{ n: 31 }])
  const status = await lakeStatus(lake)
  expect(status.tables.find(({ table }) => table === 'positions')).toMatchObject({
    rows: 31,
    files: files.length,
    days: 2,
    firstDay: '2026-09-14',
  })
  expect(status.partitions).toMatchObject([{ table: 'positions', partition: 0, epoch: 1, nextOffset: 31, rows: 31 }])
  await writer.nextOffset(DEAD_LETTERS, 3)
  // All that this epoch knows at once: offsets of another one are none.
  const places = [(await writer.nextOffsets()).entries(), (await new LakeWriter(lake, 9).nextOffsets()).entries()]
  expect(places.map((entries) => [...entries].sort())).toEqual([
    [
      ['dead_letters/3', 0],
      ['positions/0', 31],
    ],
    [],
  ])
  lake.close()
})

it('T08, T09: a file that was cut short anywhere is no part of the lake, hides no whole row, and is cleared away', async () => {
  const { lake, writer } = await newLake(services, 'torn', 1)
  await writer.nextOffset(POSITIONS, 0)
  const records = Array.from({ length: 50 }, (_, offset) => position(0, offset, 'dièsel 😀', START_MS + offset))
  await writer.append([batchOf(POSITIONS, records.slice(0, 25), 0)])
  const [whole = ''] = await exactFiles(lake, POSITIONS)
  const size = statSync(whole).size
  // A writer that was killed at any byte of its file; the next one goes on where the lake stands.
  const torn = [0, 1, 4, Math.floor(size / 2), size - 9, size - 1].map((bytes) => {
    const path = join(dirname(whole), `torn-${bytes}.parquet`)
    copyFileSync(whole, path)
    truncateSync(path, bytes)
    return path
  })
  expect(await writer.nextOffset(POSITIONS, 0)).toBe(25)
  await writer.append([batchOf(POSITIONS, records.slice(25), 25)])
  const columns = await readPositions(lake, { fromMs: START_MS, toMs: START_MS + HOUR_MS })
  expect([...columns.offset].sort((a, b) => a - b)).toEqual(records.map(({ offset }) => offset))
  expect(await exactFiles(lake, POSITIONS)).toHaveLength(2)
  await maintain(lake, { keepSnapshotsMs: 0, keepFilesMs: 0 }, Date.now() + 1_000)
  expect(torn.filter((path) => existsSync(path))).toEqual([])
  expect((await readPositions(lake, { fromMs: START_MS, toMs: START_MS + HOUR_MS })).rowCount).toBe(50)
  lake.close()
})

it('measures how late the positions of each hour of arrival were, and what became of them', async () => {
  const { lake, writer } = await newLake(services, 'lateness')
  const late = (offset: number, lateMs: number) => ({ ...position(0, offset, 'a', START_MS - lateMs), timestampMs: START_MS })
  const side = (offset: number, value: object) => ({
    partition: 0,
    offset,
    timestampMs: START_MS,
    key: 'a',
    value: Buffer.from(JSON.stringify(value)),
    headers: {},
  })
  for (const table of [POSITIONS, LATE_POSITIONS, DEAD_LETTERS]) await writer.nextOffset(table, 0)
  await writer.append([batchOf(POSITIONS, [late(0, -3), late(1, 50), late(2, 45_000), late(3, 45_001), late(4, 90_000_000)], 0)])
  const tard = { motiu: 'tard', data_ms: START_MS - 90_000_000, finestres_tancades: 5 }
  // The second one is the first, written again after a restart.
  await writer.append([
    batchOf(LATE_POSITIONS, [side(0, tard), side(1, tard), side(2, { ...tard, motiu: 'parcial', data_ms: START_MS - 45_001 })], 0),
  ])
  await writer.append([
    batchOf(DEAD_LETTERS, [side(0, { motiu: 'futur', data_ms: 1 }), side(1, { motiu: 'json' }), side(2, { motiu: 'json' })], 0),
  ])
  const hourMs = Math.floor(START_MS / HOUR_MS) * HOUR_MS
  const [before, hour] = await measureLateness(lake, { fromMs: hourMs - HOUR_MS, toMs: hourMs + HOUR_MS })
  expect(before).toMatchObject({ hourMs: hourMs - HOUR_MS, points: 0, late: 0, refused: {} })
  expect(hour).toMatchObject({ hourMs, points: 5, late: 1, partlyLate: 1, refused: { futur: 1, json: 2 } })
  expect([50, 45_000, 60_000].map((ms) => coveredShare(hour?.counts ?? [], ms))).toEqual([0.4, 0.6, 0.8])
  lake.close()
})
