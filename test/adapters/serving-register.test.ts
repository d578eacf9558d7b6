import { EVERYTHING, type Scope } from '@km0/contracts'
import { openBackfills, openServing, RegisterImportError, type Serving } from '@km0/serving'
import { MIGRATIONS } from '@km0/serving/migrations'
import { type Client, Pool } from '@km0/serving/pool'
import { withinScope } from '@km0/serving/scope'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answersOf, recordedStore, refusedOf } from './recorded-store.ts'
import { distance, EMPTY_ALL, MINUTE, NOW, PANEL, PanelWriter, session, signal } from './serving-rows.ts'

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

describe('a store that an older version recorded', () => {
  it('is brought forward, serves what it served, and lets that version go on beside', async () => {
    const { sql, queries } = recordedStore('77502b6')
    await pool.query('drop schema km0 cascade')
    await pool.query(sql)
    const before = await answersOf(pool, queries)
    expect(Object.values(before).filter((rows) => rows.length > 0).length).toBeGreaterThan(20)
    expect(await serving.migrate()).toEqual(MIGRATIONS.flatMap(({ number }) => (number > 5 ? [number] : [])))
    expect(await answersOf(pool, queries)).toEqual(before)
    expect(await refusedOf(pool, queries)).toEqual([])
    // What this version makes of it: a published hour of one van, live rows of the rest.
    const { cells, vans, late } = await serving.readDays(EVERYTHING, [{ startMs: NOW - 720 * MINUTE, endMs: NOW + 720 * MINUTE }])
    expect(vans.map(({ van, name }) => [van, name])).toEqual(['a', 'b'].map((one) => [`furgoneta-${one}`, `Furgoneta ${one}`]))
    expect(cells.map(({ van, versions, isLive }) => [van, versions, isLive])).toEqual([
      ['furgoneta-a', [1], true],
      ['furgoneta-b', [], true],
    ])
    expect(late.map(({ van, tard, parcial }) => [van, tard, parcial])).toEqual([
      ['furgoneta-a', 1, 0],
      ['furgoneta-b', 0, 1],
    ])
    expect(Object.keys(await panel.stored())).toHaveLength(240 + 2 + 2)
    const backfills = openBackfills({ databaseUrl: services.postgres.url, applicationName: 'test' })
    const by = { actor: { id: 'a', name: 'a', roles: [] }, reason: 'test', atMs: NOW }
    expect((await backfills.rollBack(1, by)).hours).toBe(3)
    expect((await backfills.publish(2, by)).hours).toBe(3)
    await backfills.close()
  })
})

describe('register and scope', () => {
  const depot = (id: string, markets: string[]) => ({ id, name: id, lat: 41.9, lon: 2.8, markets, shiftStart: '06:00', shiftEnd: null })
  const van = (name: string, depotId: string | null) => ({
    van: name,
    name,
    plate: null,
    depotId,
    inServiceFromMs: NOW,
    inServiceToMs: null,
  })
  const lines = <Row>(rows: readonly Row[]) => rows.map((row, index) => ({ line: index + 2, row }))
  const limited = (depots: string[], markets: string[]): Scope => ({ kind: 'limited', depots, markets })

  beforeEach(async () => {
    await serving.importDepots(lines([depot('girona', ['lleo', 'salt']), depot('olot', [])]))
    await serving.importVans(lines([van('a', 'girona'), van('b', 'olot'), van('c', null)]))
  })

  it('is imported whole or not at all, with the line at fault', async () => {
    expect(await serving.importVans(lines([van('a', 'olot'), van('b', 'olot'), van('d', null)]))).toEqual({ added: 1, changed: 1, same: 1 })
    const wrong = serving.importVans(lines([van('e', null), van('f', 'nowhere'), van('g', 'elsewhere')]))
    await expect(wrong).rejects.toBeInstanceOf(RegisterImportError)
    await expect(wrong).rejects.toMatchObject({ problems: [{ line: 3 }, { line: 4 }] })
    await expect(serving.importVans(lines([van('e', null), van('e', null)]))).rejects.toMatchObject({ problems: [{ line: 3 }] })
    expect((await serving.readRegister(EVERYTHING)).registered.map(({ van: name }) => name)).toEqual(['a', 'b', 'c', 'd'])
    expect(await serving.importDepots(lines([depot('olot', ['x'])]))).toEqual({ added: 0, changed: 1, same: 0 })
    expect((await serving.readRegister(EVERYTHING)).depots).toEqual([depot('girona', ['lleo', 'salt']), depot('olot', ['x'])])
  })

  it('decides what a read may see, in every read', async () => {
    for (const name of ['a', 'b', 'c', 'stranger']) {
      await panel.apply(
        [distance(name, NOW, 1), { offset: 1 }],
        [signal(name, 'sense-senyal', NOW), { offset: 2 }],
        [session(name, NOW - MINUTE, NOW), { offset: 2 }],
      )
      await serving.acknowledge(EVERYTHING, { van: name, sinceMs: NOW, actor: { id: '1', name: 'Marta', roles: [] }, note: '', atMs: NOW })
    }
    const seen = async (scope: Scope) => {
      const shown = await serving.readPanelSnapshot(scope, { nowMs: NOW, topic: PANEL })
      const names = (rows: readonly { van: string }[]) => rows.map(({ van: name }) => name).join()
      const results = new Set<string>()
      for await (const { value } of serving.readAllResults(scope)) results.add(String(value.repartidor))
      const all = [shown.signals, shown.distances, shown.acknowledgements].map(names)
      expect(new Set([...all, [...results].sort().join()]).size).toBe(1)
      return { vans: all[0], registered: names(shown.registered), depots: shown.depots.map(({ id }) => id).join() }
    }
    expect(await seen(EVERYTHING)).toEqual({ vans: 'a,b,c,stranger', registered: 'a,b,c', depots: 'girona,olot' })
    expect(await seen(limited(['olot'], []))).toEqual({ vans: 'b', registered: 'b', depots: 'olot' })
    expect(await seen(limited([], ['salt']))).toEqual({ vans: 'a', registered: 'a', depots: 'girona' })
    expect(await seen(limited([], []))).toEqual({ vans: '', registered: '', depots: '' })
    expect(await serving.readTrack(limited(['olot'], []), 'a', { fromMs: 0, toMs: NOW * 2, maxPoints: 5 })).toEqual([])
  })

  it('keeps who acknowledged what; the newest of the present silence is shown', async () => {
    const marta = { id: 'local:1', name: 'Marta', roles: ['dispatcher'] }
    const pere = { id: 'local:2', name: 'Pere "P"', roles: [] }
    await panel.apply([signal('a', 'sense-senyal', NOW), { offset: 1 }])
    const view = { van: 'a', sinceMs: NOW, actor: marta, note: 'calling', atMs: NOW + 1 }
    expect(await serving.acknowledge(EVERYTHING, view)).toBe(true)
    expect(await serving.acknowledge(EVERYTHING, { ...view, actor: pere, note: 'ç🚚', atMs: NOW + 2 })).toBe(true)
    expect(await serving.acknowledge(limited(['olot'], []), view)).toBe(false)
    const shown = async () => (await serving.readPanelSnapshot(EVERYTHING, { nowMs: NOW, topic: PANEL })).acknowledgements
    expect(await shown()).toEqual([{ ...view, actor: pere, note: 'ç🚚', atMs: NOW + 2 }])
    expect(await pool.query('select count(*) as n from km0.acknowledgement')).toEqual([{ n: 2 }])
    await panel.apply([signal('a', 'amb-senyal', NOW + MINUTE), { offset: 2 }])
    expect(await shown()).toEqual([])
  })

  it('shows distances of the last 35 minutes', async () => {
    for (const minutes of [0, 34, 35, 60]) await panel.apply([distance('a', NOW - minutes * MINUTE, minutes), { offset: 100 - minutes }])
    const { distances } = await serving.readPanelSnapshot(EVERYTHING, { nowMs: NOW, topic: PANEL })
    expect(distances.map((row) => row.distanceMm)).toEqual([34, 0])
    expect(distances[1]).toEqual({
      van: 'a',
      depotId: 'girona',
      windowStartMs: NOW - 5 * MINUTE,
      windowEndMs: NOW,
      distanceMm: 0,
      positions: 2,
      jumps: 0,
      displacementMm: 1,
      revision: 0,
    })
  })
})

describe('row security', () => {
  const OLOT: Scope = { kind: 'limited', depots: ['olot'], markets: [] }
  const POLICED = `select c.table_name::text as name, array_agg(c.column_name::text) as columns
    from information_schema.columns c join pg_class t on t.oid = format('%I.%I', c.table_schema, c.table_name)::regclass
    where c.table_schema = 'km0' and t.relkind in ('r', 'p') and not t.relispartition
      and exists (select from pg_policy p where p.polrelid = t.oid) group by 1 order by 1`
  /** Far from any day that has partitions. */
  const AT = 4_102_444_800_000
  const VALUES: Readonly<Record<string, unknown>> = {
    state: 'signal',
    motion: 'moving',
    reason: 'tard',
    depot_id: 'olot',
    day: 'mon',
  }

  /** One row of each table for a van, a depot and a market, by what the columns want. */
  const fill = async (client: Client, table: string, of: { van: string; depot: string; market: string; n: number }) => {
    const { rows } = await client.query<{ name: string; type: string; wanted: boolean }>(
      `select column_name::text as name, udt_name::text as type, is_nullable = 'NO' and column_default is null and is_identity = 'NO' as wanted
       from information_schema.columns where table_schema = 'km0' and table_name = $1 order by ordinal_position`,
      [table],
    )
    const names = new Set(rows.map(({ name }) => name))
    const kinds = names.has('owner') ? ['distance', 'alert'] : [names.has('subject') ? 'van' : 'no-signal']
    for (const kind of kinds) {
      const own: Readonly<Record<string, unknown>> = {
        ...VALUES,
        kind,
        van: of.van,
        subject: of.van,
        owner: kind === 'alert' ? of.market : of.van,
        market: of.market,
        depot_id: of.depot,
        id: table === 'depot' ? of.depot : of.market,
        key: of.van,
        markets: `{${of.market}}`,
        window_start_ms: AT + of.n - 1,
        ...(table === 'stock_notice' ? { reason: 'begun' } : {}),
      }
      const generic: Readonly<Record<string, unknown>> = {
        text: 'x',
        _text: '{}',
        int4: 1,
        float8: 1,
        bool: false,
        jsonb: '{}',
        int8: AT + of.n,
      }
      const columns = rows.filter(({ name, wanted }) => wanted || name === 'van' || name === 'depot_id' || name === 'markets')
      await client.query(
        `insert into km0.${table} (${columns.map(({ name }) => name).join(', ')}) values (${columns.map((_, n) => `$${n + 1}`).join(', ')})`,
        columns.map(({ name, type }) => own[name] ?? generic[type]),
      )
    }
  }

  it('gives nothing foreign to a query that forgets the scope', async () => {
    const tables = await pool.query<{ name: string; columns: string[] }>(POLICED)
    expect(tables.length).toBeGreaterThan(25)
    class Undone extends Error {}
    const work = pool.transaction('begin', async (client) => {
      await client.query(`set local session_replication_role = replica`)
      for (const { name } of tables) {
        const { rows } = await client.query(`select from pg_partitioned_table where partrelid = 'km0.${name}'::regclass`)
        if (rows.length > 0)
          await client.query(`create table km0.of_test_${name} partition of km0.${name} for values from (${AT}) to (${AT + 9})`)
        await fill(client, name, { van: 'ours', depot: 'olot', market: 'salt', n: 1 })
        await fill(client, name, { van: 'theirs', depot: 'girona', market: 'lleo', n: 2 })
        await client.query(`analyze km0.${name}`)
      }
      const views = await client.query<{ name: string }>(`select viewname::text as name from pg_views where schemaname = 'km0'`)
      for (const name of [...tables.map((table) => table.name), ...views.rows.map((row) => row.name)]) {
        const everything = JSON.stringify((await client.query(`select * from km0.${name}`)).rows)
        const seen = await withinScope(client, OLOT, async () => JSON.stringify((await client.query(`select * from km0.${name}`)).rows))
        const isFilled = /theirs|girona|lleo/.test(everything)
        expect({ name, isFilled, foreign: /theirs|girona|lleo/.test(seen) }).toEqual({ name, isFilled: true, foreign: false })
        expect(seen.length, `${name}: rows of its own`).toBeGreaterThan(2)
      }
      await client.query(`select km0.enter_scope('{}', '{}'), set_config('role', 'km0_reader', true)`)
      for (const { name } of tables)
        expect({ name, rows: (await client.query(`select * from km0.${name}`)).rows }).toEqual({ name, rows: [] })
      throw new Undone()
    })
    await expect(work).rejects.toBeInstanceOf(Undone)
  })

  it('stands before every table that names a van, a depot or a market, and before each secret', async () => {
    const open = await pool.query<{ name: string }>(
      `select format('%s.%s', c.table_name, c.column_name) as name from information_schema.columns c
       join pg_class t on t.oid = format('%I.%I', c.table_schema, c.table_name)::regclass
       where c.table_schema = 'km0' and t.relkind in ('r', 'p') and not t.relispartition
         and has_column_privilege('km0_reader', t.oid, c.column_name, 'select')
         and c.column_name in ('van', 'vans', 'owner', 'owners', 'market', 'markets', 'depot_id', 'depots', 'product', 'subject', 'secret', 'target', 'body')
         and not (t.relrowsecurity and exists (select from pg_policy p where p.polrelid = t.oid))`,
    )
    expect(open).toEqual([])
    const leaky = await pool.query(
      `select relname from pg_class where relnamespace = 'km0'::regnamespace and relkind = 'v' and relname <> 'pointed' and not coalesce('security_invoker=true' = any(reloptions), false)`,
    )
    expect(leaky).toEqual([])
    const more = await pool.query(
      `select table_name, privilege_type from information_schema.role_table_grants where grantee = 'km0_reader' and privilege_type <> 'SELECT'`,
    )
    expect(more).toEqual([])
    for (const table of [
      'sign_in_user',
      'sign_in_secret',
      'access_key',
      'subscription',
      'delivery',
      'audit',
      'version_piece',
      'reprocessing',
    ])
      await expect(
        pool.transaction('begin', (client) => withinScope(client, OLOT, () => client.query(`select * from km0.${table}`))),
      ).rejects.toThrow(/permission denied/)
  })

  it('needs an administrator once, where the owner of the database may make no roles', async () => {
    const url = new URL(services.postgres.url)
    await pool.query(`create role plain login password 'plain'`)
    await pool.query('create database plain owner plain')
    Object.assign(url, { username: 'plain', password: 'plain', pathname: '/plain' })
    const plain = openServing({ databaseUrl: String(url), applicationName: 'plain' })
    await expect(plain.migrate()).rejects.toThrow(/administrator of the server runs once .*grant km0_reader to plain/)
    await pool.query('grant km0_reader to plain')
    await plain.migrate()
    await plain.importDepots([{ line: 1, row: { id: 'olot', name: 'o', lat: 42, lon: 2, markets: [], shiftStart: null, shiftEnd: null } }])
    expect((await plain.readRegister(OLOT)).depots).toHaveLength(1)
    await plain.close()
  })
})

describe('old days', () => {
  it('are dropped whole, and made again when a row needs them', async () => {
    const day = 86_400_000
    await panel.apply(
      [distance('a', NOW, 1), { offset: 1 }],
      [distance('a', NOW - 10 * day, 2), { offset: 2 }],
      [signal('a', 'sense-senyal', NOW - 10 * day), { offset: 3 }],
    )
    const other = openServing({ databaseUrl: services.postgres.url, applicationName: 'another' })
    const dropped = await other.dropOldDays({ resultDays: 5, trackDays: 1 }, NOW)
    await other.close()
    expect(dropped.some((name) => name.startsWith('distance_row_'))).toBe(true)
    // A signal state never expires.
    expect(Object.keys(await panel.stored())).toEqual([`distancia|a|${NOW}`, 'senyal|a'])
    await panel.apply([distance('a', NOW - 10 * day, 3), { offset: 4 }])
    expect(Object.keys(await panel.stored())).toHaveLength(3)
  })
})
