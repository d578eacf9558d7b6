// A backup of store, lake and checkpoints, put into empty services by the command that a person would type.
import { execFile, execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { LakeWriter, openLake, POSITIONS, readPositions } from '@km0/lake'
import { openServing } from '@km0/serving'
import { dumpDatabase } from '@km0/serving/backup/database-backup'
import { startServices, type TestServices } from '@km0/testkit/services'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { lakeMissing, lakeSettings } from './lake-folders.ts'
import { batchOf, HOUR_MS, newLake, position, START_MS } from './lake-records.ts'
import { distance, NOW, PanelWriter, session, signal } from './serving-rows.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
let services: TestServices<{ postgres: true }>
let missing: string | null
let otherUrl: string
beforeAll(async () => {
  execFileSync(process.execPath, ['infra/build.mjs', 'cli/src/km0'], { cwd: root, stdio: 'inherit' })
  services = await startServices({ postgres: true })
  missing = await lakeMissing(services)
  const pool = new pg.Pool({ connectionString: services.postgres.url, max: 1 })
  await pool.query('create database restored')
  await pool.end()
  const url = new URL(services.postgres.url)
  url.pathname = '/restored'
  otherUrl = url.href
})
afterAll(() => services?.stop())

/** Runs the command; `to` names the place that is meant. */
function km0(to: 'one' | 'other', ...args: readonly string[]): Promise<{ code: number; out: string; said: string }> {
  const places = {
    DATABASE_URL: to === 'one' ? services.postgres.url : otherUrl,
    KM0_LAKE_DATA: join(services.dataDir, 'lake', to === 'one' ? 'backup' : 'restored'),
    KM0_CHECKPOINTS: join(services.dataDir, `checkpoints-${to}`),
    KM0_LAKE_SCHEMA: 'lake_backup',
    KM0_AUTH_SECRET: 'not-to-be-found-in-a-backup-of-ours',
  }
  const env = { ...process.env, ...services.environment, ...places }
  return new Promise((resolve) => {
    execFile(process.execPath, ['packages/cli/dist/km0.js', ...args], { cwd: root, env }, (error, out, said) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, said }),
    )
  })
}

/** All rows of all tables, as PostgreSQL writes them, but for what a restore changes on purpose. */
async function rowsOf(databaseUrl: string): Promise<Record<string, string>> {
  const all: Record<string, string> = {}
  await dumpDatabase({ databaseUrl, applicationName: 'test' }, 'lake_backup', async ({ schema, name }, rows) => {
    const lines = (await text(rows)).split('\n').filter((line) => !line.startsWith('data_path\t'))
    all[`${schema}.${name}`] = lines.sort().join('\n')
  })
  return all
}

it('puts store, lake and checkpoints into empty services, equal to what they were', async (test) => {
  test.skip(missing !== null, missing ?? '')
  const serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
  await serving.migrate()
  const panel = new PanelWriter(serving)
  await panel.apply(
    [distance('furgoneta 🚚\t1', NOW, 5_000), { offset: 1 }],
    [session('b', NOW, NOW + 60_000), { offset: 2 }],
    [signal('b', 'sense-senyal', NOW), { offset: 3 }],
  )
  await serving.importVans([
    { line: 2, row: { van: 'b', name: 'b\\n', plate: null, depotId: null, inServiceFromMs: null, inServiceToMs: null } },
  ])
  const { lake, writer } = await newLake(services, 'backup', 5)
  await writer.nextOffset(POSITIONS, 0)
  const records = Array.from({ length: 30 }, (_, offset) => position(0, offset, 'a', START_MS + offset * HOUR_MS))
  await writer.append([batchOf(POSITIONS, records, 0)])
  await writer.append([batchOf(POSITIONS, [position(0, 30, 'a', START_MS)], 30)])
  lake.close()
  const checkpoints = join(services.dataDir, 'checkpoints-one', 'positions', '1')
  mkdirSync(checkpoints, { recursive: true })
  writeFileSync(join(checkpoints, '0000.state'), Buffer.from([0, 255, 10, 13]))

  const out = join(services.dataDir, 'set')
  expect(await km0('one', 'backup', '--out', out)).toMatchObject({
    code: 0,
    out: `${out}\n`,
    said: expect.stringContaining('KM0_AUTH_SECRET'),
  })
  const texts = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.name.endsWith('.json'))
  expect(texts.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')).join()).not.toContain('not-to-be-found')
  expect((await km0('one', 'backup', '--out', out)).said).toContain('holds something')

  expect(await km0('other', 'restore', out, '--check')).toMatchObject({ code: 0 })
  expect(await km0('other', 'restore', out)).toMatchObject({ code: 0, said: '' })
  expect(await rowsOf(otherUrl)).toEqual(await rowsOf(services.postgres.url))
  expect(readFileSync(join(services.dataDir, 'checkpoints-other', 'positions', '1', '0000.state'))).toEqual(Buffer.from([0, 255, 10, 13]))

  // What was restored goes on: the store takes the next rows, the lake the next offset.
  const store = openServing({ databaseUrl: otherUrl, applicationName: 'test' })
  expect(await store.migrate()).toEqual([])
  expect([...(await store.nextOffsets('repartiment.panell'))]).toEqual([[0, 3]])
  const second = await openLake(
    lakeSettings(services, 'backup', { catalogUrl: otherUrl, dataPath: join(services.dataDir, 'lake', 'restored') }),
  )
  expect((await readPositions(second, { fromMs: START_MS, toMs: START_MS + 100 * HOUR_MS })).rowCount).toBe(31)
  const next = new LakeWriter(second, 1)
  expect(await next.nextOffset(POSITIONS, 0)).toBe(31)
  await next.append([batchOf(POSITIONS, [position(0, 31, 'a', START_MS)], 31)])
  second.close()
  await Promise.all([serving.close(), store.close()])

  expect(await km0('other', 'restore', out)).toMatchObject({ code: 2, said: expect.stringContaining('--replace') })
  const [name = ''] = readdirSync(join(out, 'postgres'))
  appendFileSync(join(out, 'postgres', name), 'x')
  expect(await km0('other', 'restore', out, '--replace')).toMatchObject({
    code: 2,
    said: expect.stringContaining(`${name} has other bytes`),
  })
})

/** Every text that PostgreSQL has, of our tables and of the lake's catalog, and every row of every file of the lake that names it. */
async function placesOf(name: string): Promise<string[]> {
  const places: string[] = []
  await dumpDatabase(
    { databaseUrl: services.postgres.url, applicationName: 'test' },
    'lake_backup',
    async ({ schema, name: table }, rows) => {
      const lines = (await text(rows)).split('\n').filter((line) => line.includes(name))
      if (lines.length > 0) places.push(`${schema}.${table}`)
    },
  )
  const pool = new pg.Pool({ connectionString: services.postgres.url, max: 1 })
  // Tables of a catalog that no snapshot shows are in no backup.
  const { rows: tables } = await pool.query(`select tablename from pg_tables where schemaname = 'lake_backup'`)
  for (const { tablename } of tables) {
    const found = await pool.query(`select 1 from lake_backup.${tablename} t where position($1 in t::text) > 0 limit 1`, [name])
    if (found.rowCount !== 0) places.push(`lake_backup.${tablename}`)
  }
  await pool.end()
  const folder = join(services.dataDir, 'lake', 'backup')
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.name.endsWith('.parquet'))
  const lake = await openLake(lakeSettings(services, 'backup'))
  await lake.use(async (connection) => {
    for (const entry of files) {
      const path = join(entry.parentPath, entry.name)
      const rows = await connection.all(`SELECT 1 FROM read_parquet('${path}') AS t WHERE contains(t::VARCHAR, '${name}') LIMIT 1`)
      if (rows.length > 0 || readFileSync(path).includes(name)) places.push(entry.name)
    }
  })
  lake.close()
  return [...new Set(places)].sort()
}

it('erases a van from store and lake, but for what people wrote, and no other one', async (test) => {
  test.skip(missing !== null, missing ?? '')
  const gone = 'zz-Rosa "la 1"'
  const stays = 'zz-Rosa "la 12"'
  const serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
  const panel = new PanelWriter(serving)
  panel.offset = 3
  await panel.apply(
    ...[gone, stays].flatMap((van, index) => [
      [distance(van, NOW, 5_000), { offset: 10 + index }] as const,
      [session(van, NOW, NOW + 60_000), { offset: 20 + index }] as const,
      [signal(van, 'sense-senyal', NOW), { offset: 30 + index }] as const,
    ]),
  )
  const pool = new pg.Pool({ connectionString: services.postgres.url, max: 1 })
  for (const van of [gone, stays]) {
    await pool.query(
      `insert into km0.version (natural_id, pipeline, from_ms, to_ms, owners, question, code, settings, session_gap_ms, snapshot, epoch, offsets, final_ms,
         spans, points, state, actor_id, actor_name, actor_roles, reason, requested_at_ms, started_at_ms)
       values ($1, 'positions', 0, 1, array[$2, 'other'], 'q', 'c', '{}', 1, 1, 1, '{}', 1, jsonb_build_object($2::text, '[0,1,2]'::jsonb), 1, 'ready', 'a', 'a', '{}', 'r', 0, 0)`,
      [`n-${van}`.replace(van, String(van.length)), van],
    )
    await pool.query(
      `insert into km0.pointer values ('distance', $1, 0, (select max(id) from km0.version), 1), ('alert', $1, 0, (select max(id) from km0.version), 1)`,
      [van],
    )
    await pool.query(`select km0.tell('k/' || $1, 'returned', $1, null, null, 1, '{}', 1)`, [van])
    await pool.query(
      `insert into km0.audit (at_ms, actor_name, action, detail, address) values (1, 'a', 'x', 'muted ' || $1 || ', today', '')`,
      [van],
    )
  }
  const { lake, writer } = await newLake(services, 'backup', 5)
  const from = await writer.nextOffset(POSITIONS, 0)
  // Enough for files, a few for the catalog alone; one of another form, whose text is kept.
  const records = Array.from({ length: 40 }, (_, n) =>
    position(0, from + n, n % 2 === 0 ? gone : stays, START_MS + n * HOUR_MS, n === 6 ? { bateria: 3 } : {}),
  )
  await writer.append([batchOf(POSITIONS, records, from)])
  await writer.append([batchOf(POSITIONS, [position(0, from + 40, gone, START_MS)], from + 40)])
  lake.close()
  const goneInSql = gone.replaceAll('"', '\\"')
  const before = (await placesOf('zz-Rosa')).length
  expect(before).toBeGreaterThan(10)
  const keptRows = async () => [
    await pool.query('select * from km0.distance_row where van = $1', [stays]).then(({ rows }) => rows),
    await pool.query('select owners, spans from km0.version where $1 = any(owners)', [stays]).then(({ rows }) => rows),
  ]
  const kept = await keptRows()

  const shown = await km0('one', 'erase', gone, '--checkpoints', join(services.dataDir, 'checkpoints-one'))
  expect(shown).toMatchObject({ code: 1, said: expect.stringContaining('nothing was changed') })
  expect(shown.out).toContain('in the lake: positions 21')
  expect(shown.out).toContain('distance_row 1')
  expect((await placesOf('zz-Rosa')).length).toBe(before)
  // There is no Kafka here, which it says by its exit code.
  const done = await km0('one', 'erase', gone, '--yes', '--settle', '0', '--checkpoints', join(services.dataDir, 'checkpoints-one'))
  expect(done).toMatchObject({ code: 1, out: expect.stringContaining('erased; Kafka was not asked') })
  expect(done.out).toContain('texts of audit: 1 name it')

  expect(await keptRows()).toEqual(kept)
  const left = (place: string) => !['km0.audit', 'km0.pointer'].includes(place)
  for (const spelled of [`${gone}`, goneInSql, `${goneInSql}"`.replaceAll('\\', '\\\\')]) {
    expect((await placesOf(spelled)).filter(left), spelled).toEqual([])
  }
  expect((await placesOf(stays.slice(0, -1))).length).toBeGreaterThan(0)
  // The market of that name is none of its business.
  expect((await pool.query('select kind from km0.pointer where owner = $1', [gone])).rows).toEqual([{ kind: 'alert' }])
  const again = await openLake(lakeSettings(services, 'backup'))
  expect((await readPositions(again, { fromMs: START_MS, toMs: START_MS + 100 * HOUR_MS })).rowCount).toBe(31 + 20)
  const next = new LakeWriter(again, 1)
  expect(await next.nextOffset(POSITIONS, 0)).toBe(from + 41)
  again.close()
  await pool.query(
    `insert into km0.live_point (van, lat, lon, event_ms, arrival_ms, doubtful, motion, epoch, source_partition, source_offset, written_at_ms)
     values ('drives', 1, 1, $1, $1, false, 'moving', 1, 0, 1, 1)`,
    [Date.now()],
  )
  expect(await km0('one', 'erase', 'drives', '--yes')).toMatchObject({ code: 2, said: expect.stringContaining('was heard 0 min ago') })
  await pool.end()
  await serving.close()
})
