// A Delta table that the lake exports, read by two readers that are not ours: delta-rs (Python) and DuckDB's delta extension.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_POSITIONS_SETTINGS } from '@km0/contracts'
import { exportRows, LakeWriter, openLake, POSITIONS, rowMaker } from '@km0/lake'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cacheRoot } from '../../infra/embedded/cache.mjs'
import { lakeSettings } from '../adapters/lake-folders.ts'

const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 8, 14, 12)
const ROWS = 5_000

let services: TestServices<{ postgres: true }>
let table: string
beforeAll(async () => {
  services = await startServices({ postgres: true })
  const lake = await openLake(lakeSettings(services, 'delta'))
  const writer = new LakeWriter(lake, 1)
  await writer.prepare()
  await writer.nextOffset(POSITIONS, 0)
  const maker = rowMaker(POSITIONS, 1, DEFAULT_POSITIONS_SETTINGS)
  const rows = Array.from({ length: ROWS }, (_, offset) => {
    const eventMs = START_MS + offset * 40_000
    const value = { repartidor: `dièsel ${offset % 9}`, lat: 41 + offset / 1e5, lon: 2.8, data_ms: eventMs, bateria: offset % 100 }
    const record = { partition: 0, offset, timestampMs: eventMs + 1_000, key: null, value: Buffer.from(JSON.stringify(value)), headers: {} }
    return maker.row(record) ?? []
  })
  await writer.append([
    { table: POSITIONS, partition: 0, fromOffset: 0, nextOffset: ROWS, rows, newestArrivalMs: null, newestEventMs: null },
  ])
  table = join(services.dataDir, 'a table')
  await exportRows(lake, { table: POSITIONS, format: 'delta', fromMs: START_MS, toMs: START_MS + 1_000 * HOUR_MS, path: table })
  lake.close()
})
afterAll(() => services?.stop())

/** Installs Python packages into a folder of the cache, once. */
function pip(...packages: readonly string[]): string {
  const folder = join(cacheRoot(), 'proofs', packages.join('_').replace(/[^\w.=-]/g, ''))
  if (existsSync(folder)) return folder
  mkdirSync(folder, { recursive: true })
  execFileSync('python3', ['-m', 'pip', 'install', '--quiet', '--target', folder, ...packages], { stdio: 'inherit' })
  return folder
}

const QUESTION =
  'count(*) AS n, count(DISTINCT event_day) AS days, count(DISTINCT van) AS vans, sum(kafka_offset) AS offsets, min(event_ms) AS first'
const ANSWER = { n: ROWS, days: 3, vans: 9, offsets: (ROWS * (ROWS - 1)) / 2, first: START_MS }

it('is read by delta-rs', { timeout: 300_000 }, () => {
  const program = `
import sys, json
from deltalake import DeltaTable, QueryBuilder
t = DeltaTable(sys.argv[1])
assert t.metadata().partition_columns == ['event_day'], t.metadata()
rows = QueryBuilder().register('t', t).execute(sys.argv[2]).read_all()
print(json.dumps({name: rows[name][0].as_py() for name in rows.column_names}))
`
  const out = execFileSync('python3', ['-c', program, table, `SELECT ${QUESTION} FROM t`], {
    env: { ...process.env, PYTHONPATH: pip('deltalake==1.6.6') },
    encoding: 'utf8',
  })
  console.log(`delta-rs: ${out.trim()}`)
  expect(JSON.parse(out)).toEqual(ANSWER)
})

it("is read by DuckDB's delta extension", { timeout: 300_000 }, () => {
  const program = `
import sys, json, glob, duckdb
c = duckdb.connect(config={'allow_unsigned_extensions': 'true'})
c.execute("LOAD '" + glob.glob(sys.argv[1] + '/**/delta.duckdb_extension', recursive=True)[0] + "'")
r = c.execute(sys.argv[2], [sys.argv[3]])
names = [d[0] for d in r.description]
print(json.dumps({name: int(value) for name, value in zip(names, r.fetchone())}))
`
  const folder = pip('duckdb==1.5.5', 'duckdb-extension-delta==1.5.5')
  const out = execFileSync('python3', ['-c', program, folder, `SELECT ${QUESTION} FROM delta_scan(?)`, table], {
    env: { ...process.env, PYTHONPATH: folder },
    encoding: 'utf8',
  })
  console.log(`DuckDB: ${out.trim()}`)
  expect(JSON.parse(out)).toEqual(ANSWER)
})
