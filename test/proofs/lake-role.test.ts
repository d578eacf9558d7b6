import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DEFAULT_POSITIONS_SETTINGS, TOPICS } from '@km0/contracts'
import { freePort } from '@km0/infra/embedded/ports'
import { DEAD_LETTERS, LATE_POSITIONS, type Lake, type LakeTable, lakeStatus, openLake, POSITIONS, readLog } from '@km0/lake'
import { createPositionsBatch } from '@km0/pipelines'
import { startServices, type TestServices } from '@km0/testkit/services'
import { type Log, openLog } from '@km0/transport'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { lakeMissing, lakeSettings } from '../adapters/lake-folders.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const START_MS = Date.now() - 3_600_000
const PARTITIONS = 2
let services: TestServices<{ kafka: true; postgres: object }>
let missing: string | null
let log: Log
const children: ChildProcess[] = []

beforeAll(async () => {
  services = await startServices({ kafka: true, postgres: { fsync: true } })
  missing = await lakeMissing(services)
  execFileSync(process.execPath, ['infra/build.mjs', 'apps/stream'], { cwd: root, stdio: 'inherit' })
  log = openLog({ brokers: [services.kafka.brokers], clientId: 'test' })
  const partitions = Object.fromEntries(Object.values(TOPICS).map(({ name }) => [name, { partitions: PARTITIONS }]))
  await log.ensureTopics(Object.values(TOPICS), partitions)
})
afterAll(() => services?.stop())
beforeEach((test) => test.skip(missing !== null, missing ?? ''))
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

interface Running {
  readonly child: ChildProcess
  health(): Promise<{ status: string; parts: Record<string, { status: string; detail?: string }> }>
  output: string
}

async function startRole(more: Record<string, string> = {}): Promise<Running> {
  const port = await freePort()
  const { dataPath, extensionsDir } = lakeSettings(services, 'role')
  const child = spawn(process.execPath, ['apps/stream/dist/main.js', '--role', 'lake'], {
    cwd: root,
    env: {
      ...process.env,
      ...services.environment,
      KM0_HTTP_PORT: String(port),
      KM0_DATA_DIR: join(services.dataDir, 'stream-lake'),
      KM0_LAKE_DATA: dataPath ?? '',
      KM0_LAKE_SCHEMA: 'lake_role',
      KM0_LAKE_EXTENSIONS: extensionsDir,
      KM0_LAKE_BATCH_MS: '100',
      KM0_LAKE_BATCH_ROWS: '400',
      KM0_LAKE_INLINE_ROWS: '100',
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  const running: Running = {
    child,
    output: '',
    health: async () => (await fetch(`http://127.0.0.1:${port}/health`)).json() as ReturnType<Running['health']>,
  }
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (running.output += String(chunk)))
  return running
}

async function until(what: string, condition: () => Promise<boolean>, timeoutMs = 40_000): Promise<void> {
  const endMs = performance.now() + timeoutMs
  while (!(await condition().catch(() => false))) {
    if (performance.now() > endMs) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await sleep(100)
  }
}

const value = (van: string, eventMs: number, n: number) =>
  JSON.stringify({ repartidor: van, lat: 41.5, lon: 2.5 + n / 1e5, data_ms: eventMs })

async function produce(from: number, until: number): Promise<void> {
  const producer = await log.openProducer()
  const records = Array.from({ length: until - from }, (_, index) => {
    const n = from + index
    const [eventMs, partition] = [START_MS + n * 100, n % PARTITIONS]
    const text = n % 97 === 0 ? '{broken' : value(`van-${n % 6}`, eventMs, n)
    return { topic: TOPICS.positions.name, key: `van-${n % 6}`, value: text, timestampMs: eventMs + 500, partition }
  })
  for (let start = 0; start < records.length; start += 500) await producer.send(records.slice(start, start + 500))
  await producer.send([
    { topic: TOPICS.late.name, key: 'van-1', value: '{"motiu":"tard","data_ms":1789293600000,"finestres_tancades":5}', partition: 0 },
    { topic: TOPICS.deadLetters.name, key: null, value: '{"motiu":"invalid"}', partition: 0 },
  ])
  await producer.close()
}

async function stored(lake: Lake, table: LakeTable): Promise<Map<string, string | null>> {
  const found = new Map<string, string | null>()
  for (let partition = 0; partition < PARTITIONS; partition += 1)
    for await (const part of readLog(lake, { table, epoch: 1, partition }))
      for (const { offset, text } of part) {
        expect(found.has(`${partition}/${offset}`)).toBe(false)
        found.set(`${partition}/${offset}`, text)
      }
  return found
}

async function readBack(topic: string): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for await (const { partition, records } of log.readTopic({ topic }))
    for (const { offset, value: bytes } of records) texts.set(`${partition}/${offset}`, String(bytes))
  return texts
}

async function lakeHas(lake: Lake): Promise<boolean> {
  const ends = await log.endOffsets(TOPICS.positions.name)
  const { partitions } = await lakeStatus(lake)
  const mine = partitions.filter(({ table }) => table === POSITIONS.name)
  return mine.length === PARTITIONS && mine.every(({ partition, nextOffset }) => nextOffset === ends.get(partition))
}

it('stores the log once, by offsets of its own, through kill -9 and an ordered stop', { timeout: 400_000 }, async () => {
  const lake = await openLake(lakeSettings(services, 'role'))
  await produce(0, 4_000)
  for (const killAfterMs of [2_500, 3_500, 3_000]) {
    const { child } = await startRole()
    await sleep(killAfterMs)
    child.kill('SIGKILL')
    await once(child, 'exit')
    await produce(4_000 + killAfterMs, 4_000 + killAfterMs + 300)
  }
  const role = await startRole()
  await until('the lake has the log', () => lakeHas(lake), 150_000)
  await until('the role is well', async () => (await role.health()).status === 'ok')
  const wanted = [...(await readBack(TOPICS.positions.name))].filter(([, text]) => text !== '{broken')
  const found = await stored(lake, POSITIONS)
  expect(found.size).toBe(wanted.length)
  for (const [place, text] of wanted) expect(found.get(place)).toBe(text)
  await until('late points', async () => (await stored(lake, LATE_POSITIONS)).size === 4)
  await until('dead letters', async () => (await stored(lake, DEAD_LETTERS)).size === 4)
  // What came just before the stop is stored by it: the age limit is far away.
  role.child.kill('SIGTERM')
  expect(await once(role.child, 'exit')).toEqual([0, null])
  const patient = await startRole({ KM0_LAKE_BATCH_MS: '600000' })
  await until('the role has joined', async () => (await patient.health()).status === 'ok')
  // A role that has just started stores what waits for it at once; from then on the age limit counts.
  await produce(20_000, 20_100)
  await until('what waited at the start is stored', () => lakeHas(lake))
  await produce(20_100, 20_200)
  await sleep(10_000)
  expect(await lakeHas(lake)).toBe(false)
  patient.child.kill('SIGTERM')
  expect(await once(patient.child, 'exit')).toEqual([0, null])
  expect(await lakeHas(lake)).toBe(true)
  lake.close()
})

it('is degraded and says what to install where the extensions are not to be had', async () => {
  const empty = join(services.dataDir, 'no-programs')
  mkdirSync(empty, { recursive: true })
  // Without a name service for DuckDB's hub, and without pip on the path.
  const role = await startRole({ KM0_LAKE_EXTENSIONS: join(services.dataDir, 'no-extensions'), PATH: empty })
  await until('the lake was tried', async () => !/being opened/.test((await role.health()).parts.lake?.detail ?? 'being opened'))
  const { status, parts } = await role.health()
  if (parts.lake?.status === 'ok') return console.warn("DuckDB's hub is reachable here: the lake was installed from it")
  expect(status).toBe('degraded')
  expect(parts.lake?.detail).toMatch(/Install Python 3 with pip/)
  role.child.kill('SIGTERM')
  expect(await once(role.child, 'exit')).toEqual([0, null])
})

function km0(...words: string[]): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['packages/cli/dist/km0.js', ...words], {
    cwd: root,
    env: {
      ...process.env,
      ...services.environment,
      KM0_LAKE_SCHEMA: 'lake_role',
      KM0_LAKE_EXTENSIONS: lakeSettings(services, 'role').extensionsDir,
    },
    encoding: 'utf8',
  })
  return { status, out: stdout, err: stderr }
}

it('answers `km0 lake`', () => {
  execFileSync(process.execPath, ['infra/build.mjs', 'packages/cli/src/km0'], { cwd: root, stdio: 'inherit' })
  const counted = km0('lake', 'sql', '--json', 'SELECT count(*) AS n, count(DISTINCT van) AS vans FROM positions')
  expect(counted.err).toBe('')
  const { n, vans } = JSON.parse(counted.out)
  expect(Number(n)).toBeGreaterThan(4_900)
  expect(vans).toBe('6')
  expect(km0('lake', 'sql', 'DROP TABLE positions')).toMatchObject({ status: 2, err: expect.stringMatching(/only SELECT/) })
  expect(km0('lake', 'sql', 'SELECT nothing FROM positions')).toMatchObject({ status: 2, err: expect.stringMatching(/nothing/) })
  const status = km0('lake', 'status', '--json')
  const report = JSON.parse(status.out)
  expect(status.status).toBe(0)
  expect(report.tables.find(({ table }: { table: string }) => table === 'positions').rows).toBe(Number(n))
  expect(report.seams.filter(({ table }: { table: string }) => table === 'positions').map(({ state }: { state: string }) => state)).toEqual(
    ['closed', 'closed'],
  )
  expect(km0('lake', 'status').out).toMatch(/^version \d+\n\ntable +rows +files/)
  const files = km0('lake', 'files').out.trim().split('\n')
  expect(files.length).toBeGreaterThan(0)
  expect(files.every((file) => file.endsWith('.parquet') && existsSync(file))).toBe(true)
  const out = join(services.dataDir, 'some.csv')
  const words = ['lake', 'export', '--format', 'csv', '--from', '2000-01-01', '--to', '2099-01-01', '--out', out]
  expect(km0(...words)).toMatchObject({ status: 0, out: `${out}\n`, err: expect.stringMatching(/^[0-9]+ rows of positions/) })
  expect(km0(...words)).toMatchObject({ status: 2, err: expect.stringMatching(/exists already/) })
  expect(km0('lake', 'export', '--format', 'delta')).toMatchObject({
    status: 2,
    err: expect.stringMatching(/--from, --to and --out are needed/),
  })
})

it('computes results of a range, equal to a batch run over the log: `km0 lake results`', async () => {
  const range = { fromMs: Math.floor(START_MS / 60_000) * 60_000 + 120_000, toMs: Math.floor(START_MS / 60_000) * 60_000 + 420_000 }
  const whole = createPositionsBatch(DEFAULT_POSITIONS_SETTINGS, range)
  for await (const { partition, records } of log.readTopic({ topic: TOPICS.positions.name }))
    for (const { offset, timestampMs, key, value: bytes } of records)
      whole.onRecord(partition, offset, timestampMs, key, String(bytes), bytes?.length ?? 0, true)
  const expected = whole.rows().map(({ key, value }) => `{"key":${JSON.stringify(key)},"value":${value}}`)
  const { status, out, err } = km0('lake', 'results', '--from', String(range.fromMs), '--to', String(range.toMs))
  expect({ status, lines: out.trim().split('\n') }).toEqual({ status: 0, lines: expected })
  expect(err).toMatch(/^\d+ rows from \d+ points, version \d+ of the lake\n$/)
  expect(expected.length).toBeGreaterThan(20)
  const one = km0('lake', 'results', '--from', String(range.fromMs), '--to', String(range.toMs), '--van', 'van-2', '--kind', 'distancia')
  expect(one.out.trim().split('\n')).toEqual(expected.filter((line) => line.includes('"distancia|van-2|')))
  expect(km0('lake', 'results', '--from', '2026-01-01', '--to', '2026-02-01')).toMatchObject({
    status: 2,
    err: expect.stringMatching(/seven days/),
  })
})

it('says that there is no lake yet', () => {
  const { status, stderr } = spawnSync(process.execPath, ['packages/cli/dist/km0.js', 'lake', 'status'], {
    cwd: root,
    env: {
      ...process.env,
      ...services.environment,
      KM0_LAKE_SCHEMA: 'no_such_lake',
      KM0_LAKE_EXTENSIONS: lakeSettings(services, 'role').extensionsDir,
    },
    encoding: 'utf8',
  })
  expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringMatching(/there is no lake in schema no_such_lake yet/) })
})
