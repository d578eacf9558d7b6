import { readFileSync } from 'node:fs'
import { EVERYTHING, TOPICS } from '@km0/contracts'
import { MigrationError, openServing, type ResultRecord, type Serving, ServingUnavailableError } from '@km0/serving'
import { OWNER_TABLES, VAN_TABLES } from '@km0/serving/erase/erase-van'
import { migrate } from '@km0/serving/migrate'
import { MIGRATIONS } from '@km0/serving/migrations'
import { isSchemaMissing, Pool, parseInt8, parseNumeric } from '@km0/serving/pool'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type At, distance, EMPTY_ALL, MINUTE, NOW, PANEL, PanelWriter, record, session, signal } from './serving-rows.ts'

let services: TestServices<{ postgres: true }>
let serving: Serving
let pool: Pool
let panel: PanelWriter
beforeAll(async () => {
  services = await startServices({ postgres: true })
  serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
  pool = new Pool({ databaseUrl: services.postgres.url, applicationName: 'test-raw' })
})
afterAll(async () => {
  await serving?.close()
  await pool?.close()
  await services?.stop()
})
beforeEach(async () => {
  await serving.migrate()
  await pool.query(EMPTY_ALL)
  panel = new PanelWriter(serving)
})

describe('migrations', () => {
  it('are applied once, also by programs that start together', async () => {
    await pool.query('drop schema km0 cascade')
    const applied = await Promise.all([1, 2, 3, 4].map(() => migrate(pool)))
    expect(applied.flat()).toEqual(MIGRATIONS.map(({ number }) => number))
    expect(await serving.migrate()).toEqual([])
  })

  it('go forward only: an older program does not start on a newer database, nor on one of another making', async () => {
    const next = { number: 999_999, name: 'later', sql: 'create table km0.later (a integer)' }
    expect(await migrate(pool, [...MIGRATIONS, next])).toEqual([999_999])
    await expect(serving.migrate()).rejects.toThrow(MigrationError)
    await expect(serving.migrate()).rejects.toThrow(/newer version/)
    await pool.query('delete from km0.migration where number = 999999; drop table km0.later')
    const altered = MIGRATIONS.map((migration) => ({ ...migration, sql: `${migration.sql} ` }))
    await expect(migrate(pool, altered)).rejects.toThrow(/another text/)
  })

  it.each([5, 11])('keep the rows of a store that stands at migration %i', async (number) => {
    await pool.query('drop schema km0 cascade')
    await migrate(
      pool,
      MIGRATIONS.filter((migration) => migration.number <= number),
    )
    const end = NOW
    await panel.apply([distance('a', end, 5), { offset: 10 }], [distance('b', end, 7), { offset: 11 }])
    const before = await panel.stored()
    expect(Object.keys(before)).toHaveLength(2)
    expect(await serving.migrate()).toEqual(MIGRATIONS.flatMap((migration) => (migration.number > number ? [migration.number] : [])))
    expect(await panel.stored()).toEqual(before)
    await panel.apply([distance('a', end, 6), { offset: 12 }])
    expect((await panel.stored())[`distancia|a|${end}`]).toEqual(distance('a', end, 6))
  })

  it('make no table that names a van and that docs/personal-data.md does not', async () => {
    const tables = await pool.query<{ name: string }>(
      `select distinct c.table_name::text as name from information_schema.columns c
       join pg_class t on t.oid = format('%I.%I', c.table_schema, c.table_name)::regclass
       where c.table_schema = 'km0' and c.column_name in ('van', 'owner') and t.relkind in ('r', 'p') and not t.relispartition`,
    )
    const text = readFileSync(new URL('../../docs/personal-data.md', import.meta.url), 'utf8')
    expect(tables.length).toBeGreaterThan(15)
    expect(tables.flatMap(({ name }) => (text.includes(`\`${name}\``) ? [] : [name]))).toEqual([])
  })

  it('make no table with a column of a van or an owner that km0 erase does not know', async () => {
    const columns = await pool.query<{ name: string }>(
      `select c.table_name || '.' || c.column_name as name from information_schema.columns c
       join pg_class t on t.oid = format('%I.%I', c.table_schema, c.table_name)::regclass
       where c.table_schema = 'km0' and c.column_name in ('van', 'owner') and t.relkind in ('r', 'p') and not t.relispartition`,
    )
    const known = [...VAN_TABLES.map((table) => `${table}.van`), ...OWNER_TABLES.map((table) => `${table}.owner`)]
    expect(columns.map(({ name }) => name).sort()).toEqual(known.sort())
  })

  it('leave nothing behind when one fails', async () => {
    const broken = { number: 999_999, name: 'broken', sql: 'create table km0.half (a integer); select 1 / 0' }
    await expect(migrate(pool, [...MIGRATIONS, broken])).rejects.toThrow(/division by zero/)
    expect(await pool.query(`select 1 as found from pg_tables where schemaname = 'km0' and tablename = 'half'`)).toEqual([])
  })
})

describe('results', () => {
  it('move forward only: by epoch, then offset', async () => {
    const end = NOW
    await panel.apply([distance('a', end, 5), { offset: 10 }])
    await panel.apply([distance('a', end, 4), { offset: 9 }])
    expect(await panel.stored()).toEqual({ [`distancia|a|${end}`]: distance('a', end, 5) })
    await panel.apply([distance('a', end, 6, { revisio: 1 }), { offset: 11 }])
    await panel.apply([distance('a', end, 7), { offset: 2, epoch: 2 }])
    await panel.apply([distance('a', end, 8), { offset: 500, epoch: 1 }])
    expect(await panel.stored()).toEqual({ [`distancia|a|${end}`]: distance('a', end, 7) })
    await panel.apply([distance('a', end, 9, { revisio: 2 }), { offset: 3, epoch: 2 }])
    expect(await panel.stored()).toEqual({ [`distancia|a|${end}`]: distance('a', end, 9, { revisio: 2 }) })
  })

  it('take the last of several in one batch, and of several that one record caused', async () => {
    await panel.apply(
      [distance('a', NOW, 1), { offset: 1 }],
      [distance('a', NOW, 3), { offset: 3 }],
      [distance('a', NOW, 2), { offset: 2 }],
      [signal('a', 'amb-senyal', NOW), { offset: 7 }],
      [signal('a', 'sense-senyal', NOW), { offset: 7 }],
    )
    expect(await panel.stored()).toEqual({ [`distancia|a|${NOW}`]: distance('a', NOW, 3), 'senyal|a': signal('a', 'sense-senyal', NOW) })
  })

  it('are the same when a batch is applied twice, or again after the offset was lost', async () => {
    const batch = [
      [distance('a', NOW, 1), { offset: 1 }],
      [session('a', NOW - MINUTE, NOW), { offset: 2 }],
      [signal('a', 'sense-senyal', NOW), { offset: 2 }],
      [signal('a', 'amb-senyal', NOW + MINUTE), { offset: 3 }],
    ] as const
    await panel.apply(...batch)
    const before = await panel.stored()
    panel.offset = 0
    expect((await panel.apply(...batch)).distanceEndsMs).toEqual([])
    await pool.query('delete from km0.serving_offset')
    panel.offset = 0
    expect((await panel.apply(...batch)).distanceEndsMs).toEqual([NOW])
    expect(await panel.stored()).toEqual(before)
  })

  it('hold names with quotes, emoji and percent signs, and times of any day', async () => {
    const names = [`O'Hara "x"`, 'furgoneta 🚚', '%_\\', 'x'.repeat(64), '{a,b}', 'NULL']
    for (const [index, van] of names.entries()) await panel.apply([distance(van, NOW + index * 86_400_000, index), { offset: index }])
    await panel.apply([distance('old', 946_684_800_000 + 300_000, 1), { offset: 99 }])
    const all = await panel.stored()
    for (const [index, van] of names.entries()) {
      expect(all[`distancia|${van}|${NOW + index * 86_400_000}`]).toEqual(distance(van, NOW + index * 86_400_000, index))
    }
    expect(Object.keys(all)).toHaveLength(names.length + 1)
  })

  it('that are not ours are refused by offset and stop nothing', async () => {
    const good = record(`distancia|a|${NOW}`, distance('a', NOW, 1), { offset: 1 }, 6)
    const records: ResultRecord[] = [
      { offset: 0, key: 'k', value: Buffer.from('{"tipus":'), headers: {} },
      { offset: 1, key: 'k', value: Buffer.from('[]'), headers: good.headers },
      { ...record('k', { ...distance('a', NOW, 1), fi_ms: 'soon' }, { offset: 1 }, 2) },
      { ...record('k', { ...distance('a\u0000', NOW, 1) }, { offset: 1 }, 3) },
      { ...good, offset: 4, headers: {} },
      { offset: 5, key: 'gone', value: null, headers: {} },
      good,
    ]
    const batch = { topic: PANEL, partition: 0, nextOffset: 7, clusterId: 'one', records, writtenAtMs: NOW }
    const { refused } = await serving.applyPanelBatch(batch)
    expect(refused.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4])
    expect(Object.keys(await panel.stored())).toEqual([`distancia|a|${NOW}`])
    expect(await serving.nextOffsets(PANEL)).toEqual(new Map([[0, 7]]))
  })

  it('keep their past: each silence has a beginning and, once over, an end', async () => {
    const episodes = () => pool.query('select van, since_ms, ended_ms from km0.no_signal_episode order by van, since_ms')
    await panel.apply([signal('a', 'amb-senyal', NOW), { offset: 1 }], [signal('a', 'sense-senyal', NOW + 5), { offset: 2 }])
    expect(await episodes()).toEqual([{ van: 'a', since_ms: NOW + 5, ended_ms: null }])
    await panel.apply(
      [signal('a', 'amb-senyal', NOW + 20), { offset: 3 }],
      [signal('a', 'sense-senyal', NOW + 30), { offset: 4 }],
      [signal('b', 'sense-senyal', NOW + 7), { offset: 4 }],
    )
    const expected = [
      { van: 'a', since_ms: NOW + 5, ended_ms: NOW + 20 },
      { van: 'a', since_ms: NOW + 30, ended_ms: null },
      { van: 'b', since_ms: NOW + 7, ended_ms: null },
    ]
    expect(await episodes()).toEqual(expected)
    await panel.apply([signal('a', 'amb-senyal', NOW + 20), { offset: 3 }], [signal('a', 'sense-senyal', NOW + 30), { offset: 4 }])
    expect(await episodes()).toEqual(expected)
  })

  it('tell how late they are', async () => {
    expect(await serving.readDelayQuantiles(0)).toBeNull()
    await panel.apply([distance('a', NOW, 1), { offset: 1 }], [distance('a', NOW + MINUTE, 1), { offset: 2 }])
    expect(await serving.readDelayQuantiles(0)).toEqual({ rows: 2, p50Ms: -10_000, p99Ms: 50_000, maxMs: 50_000 })
  })
})

describe('offsets', () => {
  it('are forgotten when the log was replaced, and kept when it was not', async () => {
    await panel.apply([distance('a', NOW, 1), { offset: 1 }])
    expect(await serving.forgetForeignOffsets(PANEL, 'one', new Map([[0, 1]]))).toBe(0)
    expect(await serving.nextOffsets(PANEL)).toEqual(new Map([[0, 1]]))
    expect(await serving.forgetForeignOffsets(PANEL, 'one', new Map([[0, 0]]))).toBe(1)
    await panel.apply([distance('a', NOW, 1), { offset: 1 }])
    expect(await serving.forgetForeignOffsets(PANEL, 'two', new Map([[0, 100]]))).toBe(1)
    expect(await serving.nextOffsets(PANEL)).toEqual(new Map())
  })

  it('and the rows before them are one: a snapshot says from where the log goes on', async () => {
    let done = false
    const seen: (readonly [number, number])[] = []
    const reader = (async () => {
      while (!done) {
        const { nextOffsets, distances } = await serving.readPanelSnapshot(EVERYTHING, { nowMs: NOW, topic: PANEL })
        seen.push([nextOffsets.get(0) ?? 0, distances.length])
      }
    })()
    for (let n = 0; n < 60; n += 1) await panel.apply([distance(`van-${n}`, NOW, n), { offset: n }])
    done = true
    await reader
    expect(seen.length).toBeGreaterThan(3)
    expect(seen.filter(([offset, rows]) => offset !== rows)).toEqual([])
  })
})

describe('live points', () => {
  const point = (van: string, eventMs: number, lat: number) => ({
    repartidor: van,
    lat,
    lon: 2.8,
    data_ms: eventMs,
    arribada_ms: eventMs + 1_000,
    velocitat_mm_s: null,
    rumb_graus: 12.5,
    dubtos: false,
    estat: 'en-moviment',
  })
  let liveOffset = 0
  const applyLive = (...points: readonly (readonly [ReturnType<typeof point>, At])[]) => {
    const records = points.map(([value, at]) => record(value.repartidor, value, at, liveOffset++))
    return serving.applyLiveBatch({
      topic: TOPICS.live.name,
      partition: 0,
      nextOffset: liveOffset,
      clusterId: 'one',
      records,
      writtenAtMs: NOW,
    })
  }

  it('keep the newest of each van, and one of each ten seconds as its track', async () => {
    liveOffset = 0
    await applyLive([point('a', NOW, 41.1), { offset: 1 }], [point('a', NOW + 9_000, 41.2), { offset: 2 }])
    await applyLive([point('a', NOW + 11_000, 41.3), { offset: 3 }], [point('b', NOW, 41.4), { offset: 4 }])
    await applyLive([point('a', NOW + 9_000, 41.2), { offset: 2 }])
    expect(await pool.query('select van, lat, event_ms from km0.live_point order by van')).toEqual([
      { van: 'a', lat: 41.3, event_ms: NOW + 11_000 },
      { van: 'b', lat: 41.4, event_ms: NOW },
    ])
    const span = { fromMs: NOW, toMs: NOW + MINUTE, maxPoints: 10 }
    expect(await serving.readTrack(EVERYTHING, 'a', span)).toEqual([
      [2.8, 41.1, NOW],
      [2.8, 41.3, NOW + 11_000],
    ])
    expect(await serving.readTrack(EVERYTHING, 'a', { ...span, maxPoints: 1 })).toEqual([[2.8, 41.3, NOW + 11_000]])
  })

  it('come with marks, which move forward too', async () => {
    const mark = (partition: number, offset: number, epoch: number) => ({
      particio: partition,
      offset,
      marca_aigua_ms: offset === 0 ? null : NOW,
      progres_ms: null,
      darrer_batec_ms: null,
      darrer_registre_ms: NOW,
      epoca: epoch,
    })
    const values = [mark(0, 5, 1), mark(0, 9, 1), mark(0, 7, 1), mark(1, 0, 1)]
    const batch = { topic: TOPICS.marks.name, partition: 0, clusterId: 'one', writtenAtMs: NOW }
    const records = values.map((value, n) => record(String(value.particio), value, { offset: n }, n))
    await serving.applyMarkBatch({ ...batch, nextOffset: 4, records })
    await serving.applyMarkBatch({ ...batch, nextOffset: 5, records: [record('0', mark(0, 8, 1), { offset: 9 }, 4)] })
    expect(await serving.readMarks()).toEqual(
      new Map([
        [0, { partition: 0, nextOffset: 9, epoch: 1, watermarkMs: NOW }],
        [1, { partition: 1, nextOffset: 0, epoch: 1, watermarkMs: null }],
      ]),
    )
  })
})

describe('outages of ours', () => {
  const outage = (partition: number, fromMs: number, toMs: number, offset: number, causa: string | null = 'pont') => ({
    tipus: 'tall',
    particio: partition,
    inici_ms: fromMs,
    fi_ms: toMs,
    causa,
    epoca: 1,
    offset,
  })
  const mark = (partition: number) => ({
    particio: partition,
    offset: 1,
    marca_aigua_ms: NOW,
    progres_ms: NOW,
    darrer_batec_ms: NOW,
    darrer_registre_ms: NOW,
    epoca: 1,
  })
  const apply = (values: readonly object[], from: number) =>
    serving.applyMarkBatch({
      topic: TOPICS.marks.name,
      partition: 0,
      clusterId: 'one',
      writtenAtMs: NOW,
      nextOffset: from + values.length,
      records: values.map((value, n) => record('key', value, { offset: n }, from + n)),
    })
  const stored = () => pool.query('select partition, from_ms, to_ms, cause, source_offset from km0.outage order by partition, from_ms')

  it('are stored once, however often and in whatever order the log is applied again', async () => {
    const values = [outage(0, NOW, NOW + 90_000, 7), mark(0), outage(1, NOW + 5, NOW + 90_005, 8, null), mark(1)]
    expect(await apply(values, 0)).toEqual([])
    const once = await stored()
    expect(once).toEqual([
      { partition: 0, from_ms: NOW, to_ms: NOW + 90_000, cause: 'bridge', source_offset: 7 },
      { partition: 1, from_ms: NOW + 5, to_ms: NOW + 90_005, cause: 'unknown', source_offset: 8 },
    ])
    await apply([...values].reverse(), 4)
    expect(await stored()).toEqual(once)
    expect(await apply([{ ...outage(0, 1, 2, 3), causa: 'gos' }], 8)).toHaveLength(1)
  })

  it('mark the silences that overlap them, which are left out of the count of vans', async () => {
    await apply([mark(0), mark(1), outage(0, NOW, NOW + 90_000, 7), outage(1, NOW, NOW + 90_000, 7)], 0)
    await panel.apply([signal('during', 'sense-senyal', NOW + 30_000), { partition: 0, offset: 1 }])
    await panel.apply([signal('before', 'sense-senyal', NOW - 600_000), { partition: 0, offset: 2 }])
    await panel.apply([signal('before', 'amb-senyal', NOW), { partition: 0, offset: 3 }])
    await panel.apply([signal('elsewhere', 'sense-senyal', NOW + 30_000), { partition: 2, offset: 4 }])
    await panel.apply([signal('after', 'sense-senyal', NOW + 90_000), { partition: 1, offset: 5 }])
    const span = { fromMs: NOW - MINUTE * 60, toMs: NOW + MINUTE * 60 }
    expect(await serving.readOutages(EVERYTHING, span)).toEqual({
      ...span,
      outages: [{ partitions: null, fromMs: NOW, toMs: NOW + 90_000, cause: 'bridge' }],
      silences: { counted: 3, overOutages: 1 },
    })
    const nobody = { kind: 'limited', depots: ['none'], markets: [] } as const
    expect(await serving.readOutages(nobody, span)).toMatchObject({
      outages: [{ cause: 'bridge' }],
      silences: { counted: 0, overOutages: 0 },
    })
    expect((await serving.readOutages(EVERYTHING, { fromMs: NOW + 90_000, toMs: NOW + 91_000 })).outages).toEqual([])
  })
})

describe('numbers', () => {
  it('T12: come back as numbers, and fail where they would not be exact', async () => {
    expect(await pool.query('select 9007199254740991::int8 as a, sum(x)::numeric as b, count(*) as c from unnest(array[10, 5]) x')).toEqual(
      [{ a: Number.MAX_SAFE_INTEGER, b: 15, c: 2 }],
    )
    expect(await pool.query("select '{1,NULL,-3}'::int8[] as a, '{10,2.5}'::numeric[] as b, '{}'::int8[] as c")).toEqual([
      { a: [1, null, -3], b: [10, 2.5], c: [] },
    ])
    await expect(pool.query("select '{1,9007199254740992}'::int8[] as a")).rejects.toThrow(/beyond 2\^53/)
    await expect(pool.query('select 9007199254740992::int8 as a')).rejects.toThrow(/beyond 2\^53/)
    await expect(pool.query('select 90071992547409920::numeric as a')).rejects.toThrow(/beyond 2\^53/)
    // The sum of three distances, and the greatest: as text they would be 10002009 and 9.
    await panel.apply(...[1000, 200, 9].map((mm, n) => [distance('a', NOW + n * MINUTE, mm), { offset: n }] as const))
    const sums = await pool.query(
      'select sum(distance_mm) as sum, max(distance_mm) as max, min(window_start_ms) as start from km0.distance_row',
    )
    expect(sums).toEqual([{ sum: 1209, max: 1000, start: NOW - 5 * MINUTE }])
    expect([parseInt8('-5'), parseNumeric('1.25'), parseNumeric('7')]).toEqual([-5, 1.25, 7])
  })
})

describe('a database that goes away', () => {
  it('is another thing than one whose tables are not made yet', async () => {
    const told = async (text: string) => pool.query(text).catch(isSchemaMissing)
    expect(await Promise.all(['select 1 from km0.none', 'create table none.x (a int)', 'select x'].map(told))).toEqual([true, true, false])
  })

  it('is told apart from a fault of ours, and found again', async () => {
    await panel.apply([distance('a', NOW, 1), { offset: 1 }])
    await services.postgres.kill9()
    await expect(serving.ping()).rejects.toBeInstanceOf(ServingUnavailableError)
    await expect(panel.apply([distance('a', NOW, 2), { offset: 2 }])).rejects.toBeInstanceOf(ServingUnavailableError)
    await services.restart('postgres')
    await panel.apply([distance('a', NOW, 3), { offset: 3 }])
    expect(await panel.stored()).toEqual({ [`distancia|a|${NOW}`]: distance('a', NOW, 3) })
    await expect(pool.query('select nonsense')).rejects.not.toBeInstanceOf(ServingUnavailableError)
  })
})
