import { type Piece, type SessionSpan, sessionHours } from '@km0/backfill'
import {
  BackfillRefusedError,
  type Backfills,
  openBackfills,
  openRetention,
  openServing,
  PieceRows,
  retentionEnvironment,
  type VersionPlan,
} from '@km0/serving'
import { startServices, type TestServices } from '@km0/testkit/services'
import fc from 'fast-check'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

let services: TestServices<{ postgres: true }>
let store: Backfills
let pool: pg.Pool

const HOUR = 3_600_000
const MINUTE = 60_000
const T0 = Date.UTC(2026, 8, 14, 6)
const GAP = 3 * MINUTE
const by = { actor: { id: 'anna', name: 'Anna', roles: ['analyst'] }, reason: 'test', atMs: T0 }

beforeAll(async () => {
  services = await startServices({ postgres: true })
  const serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
  await serving.migrate()
  await serving.close()
  store = openBackfills({ databaseUrl: services.postgres.url, applicationName: 'test' })
  pool = new pg.Pool({ connectionString: services.postgres.url, max: 2 })
  pool.on('error', () => undefined)
})
afterAll(async () => {
  await store?.close()
  await pool?.end()
  await services?.stop()
})
beforeEach(async () => {
  await pool.query(
    'truncate km0.version, km0.version_piece, km0.version_hour, km0.version_log, km0.version_difference, km0.pointer, km0.publication, km0.publication_move, km0.version_distance, km0.version_session, km0.version_travel, km0.version_alert, km0.distance_row, km0.session_row, km0.partition_mark restart identity cascade',
  )
})

let naturalId = 0

/** A plan of one piece for some vans. */
function planOf(owners: readonly string[], fromMs: number, toMs: number, changes: Partial<VersionPlan> = {}): VersionPlan {
  naturalId += 1
  const piece: Piece = { piece: 0, fromMs, toMs, owners, points: 10, sessionsOnly: false }
  return {
    naturalId: `test-${naturalId}`,
    question: `${fromMs}-${toMs}-${owners.join()}`,
    request: { pipeline: 'positions', fromMs, toMs, owners: null },
    code: 'test',
    settings: {},
    sessionGapMs: GAP,
    snapshot: 1,
    epoch: 1,
    offsets: { 0: 100 },
    finalMs: toMs + 24 * HOUR,
    owners,
    spans: [],
    pieces: [piece],
    ...changes,
  }
}

async function liveDay(table: 'distance_row' | 'session_row', dayMs: number): Promise<void> {
  const name = `${table}_${new Date(dayMs).toISOString().slice(0, 10).replaceAll('-', '')}`
  await pool.query(`create table if not exists km0.${name} partition of km0.${table} for values from (${dayMs}) to (${dayMs + 24 * HOUR})`)
}

async function liveWindow(van: string, endMs: number, mm: number): Promise<void> {
  await pool.query(
    `insert into km0.distance_row values ($1, $2, $3, $4, 5, 0, 7, 0, 1, 0, 1, 0)
     on conflict (van, window_end_ms) do update set distance_mm = excluded.distance_mm`,
    [van, endMs - 5 * MINUTE, endMs, mm],
  )
}

async function versionOf(plan: VersionPlan, fill: (rows: PieceRows) => void): Promise<number> {
  const { id } = await store.createVersion(plan, by)
  const rows = new PieceRows(id)
  fill(rows)
  expect(await store.storePiece(id, 0, rows, T0)).toBe('stored')
  expect(await store.complete(id, T0)).toBe(true)
  return id
}

const window = (mm: number) => ({ distanceMm: mm, positions: 6, jumps: 0, displacementMm: 7 })

it('serves live rows until a version is published, and again when it is rolled back', async () => {
  await liveDay('distance_row', Date.UTC(2026, 8, 14))
  for (const van of ['a', 'b|\\n']) for (let minute = 1; minute <= 120; minute += 1) await liveWindow(van, T0 + minute * MINUTE, 1_000)
  const served = async () =>
    (
      await pool.query(
        'select van, hour_ms::float8 as hour, sum(distance_mm)::float8 as mm, max(version)::float8 as version from km0.served_distance group by 1, 2 order by 1, 2',
      )
    ).rows
  const before = await served()
  const id = await versionOf(planOf(['a', 'b|\\n'], T0, T0 + HOUR), (rows) => {
    for (let minute = 1; minute <= 60; minute += 1) rows.distance('b|\\n', T0 + (minute - 5) * MINUTE, T0 + minute * MINUTE, window(2_000))
    rows.travelHour('b|\\n', T0, { distanceMm: 24_000, positions: 72, jumps: 0, jumpsMm: 0, gaps: 1, gapsMm: 5 })
  })
  expect(await served()).toEqual(before)
  const difference = await store.difference(id)
  expect(difference.hours).toEqual([
    { owner: 'a', hourMs: T0, kind: 'distance', added: 0, removed: 60, changed: 0, beforeMm: null, afterMm: null },
    { owner: 'a', hourMs: T0, kind: 'travel', added: 0, removed: 1, changed: 0, beforeMm: 12_000, afterMm: null },
    { owner: 'b|\\n', hourMs: T0, kind: 'distance', added: 0, removed: 0, changed: 60, beforeMm: null, afterMm: null },
    { owner: 'b|\\n', hourMs: T0, kind: 'travel', added: 0, removed: 0, changed: 1, beforeMm: 12_000, afterMm: 24_000 },
  ])
  const published = await store.publish(id, by)
  expect(published.hours).toBe(6)
  expect(await served()).toEqual([
    { van: 'a', hour: T0 + HOUR, mm: 60_000, version: null },
    { van: 'b|\\n', hour: T0, mm: 120_000, version: id },
    { van: 'b|\\n', hour: T0 + HOUR, mm: 60_000, version: null },
  ])
  const travel = await pool.query(
    'select van, distance_mm::float8 as mm, gaps_mm::float8 as gaps from km0.served_travel order by van, hour_ms',
  )
  expect(travel.rows).toEqual([
    { van: 'a', mm: 12_000, gaps: null },
    { van: 'b|\\n', mm: 24_000, gaps: 5 },
    { van: 'b|\\n', mm: 12_000, gaps: null },
  ])
  await expect(store.publish(id, by)).rejects.toThrow(/served already/)
  // Afterwards nothing differs; what it has changed is kept.
  expect(await store.difference(id)).toEqual({ ...difference, isServed: true })
  expect((await store.rollBack(published.publication, by)).hours).toBe(6)
  expect(await served()).toEqual(before)
  await expect(store.rollBack(published.publication, by)).rejects.toThrow(/rolled back already/)
  expect((await store.publications(10)).map(({ action, undoes, hours }) => [action, undoes, hours])).toEqual([
    ['rollback', published.publication, 6],
    ['publish', null, 6],
  ])
})

it('is compared and published at once: the one waits for the other', async () => {
  await liveDay('distance_row', Date.UTC(2026, 8, 14))
  const vans = Array.from({ length: 40 }, (_, number) => `van-${number}`)
  for (let round = 0; round < 12; round += 1) {
    const id = await versionOf(planOf(vans, T0, T0 + HOUR), (rows) => {
      for (const van of vans)
        for (let minute = 1; minute <= 60; minute += 1)
          rows.distance(van, T0 + (minute - 5) * MINUTE, T0 + minute * MINUTE, window(round + 2))
    })
    const [, , published] = await Promise.all([store.difference(id), store.difference(id), store.publish(id, by)])
    expect(published.hours).toBe(3 * vans.length)
  }
})

it('stores a piece once, whoever runs it, and nothing of a version that runs no more', async () => {
  const { id } = await store.createVersion(planOf(['a'], T0, T0 + HOUR), by)
  const rowsOf = () => {
    const rows = new PieceRows(id)
    for (let minute = 1; minute <= 60; minute += 1) rows.distance('a', T0 + (minute - 5) * MINUTE, T0 + minute * MINUTE, window(1))
    return rows
  }
  const outcomes = await Promise.all([1, 2, 3].map(() => store.storePiece(id, 0, rowsOf(), T0)))
  expect(outcomes.sort()).toEqual(['done', 'done', 'stored'])
  const other = await store.createVersion(planOf(['a'], T0, T0 + HOUR), by)
  expect(await store.cancel(other.id, T0)).toBe(true)
  expect(await store.storePiece(other.id, 0, rowsOf(), T0)).toBe('stopped')
  expect((await pool.query('select count(*)::int as n from km0.version_distance')).rows).toEqual([{ n: 60 }])
})

it('keeps the served version of an hour and the newest, and says what it dropped', async () => {
  const make = () => versionOf(planOf(['a'], T0, T0 + HOUR), (rows) => rows.distance('a', T0, T0 + 5 * MINUTE, window(1)))
  const first = await make()
  await store.publish(first, by)
  const others = [await make(), await make(), await make()]
  expect(await store.dropOlderVersions(others[2] ?? 0, 2, T0)).toEqual([{ version: others[0], hours: 3 }])
  await expect(store.publish(others[0] ?? 0, by)).rejects.toThrow(/dropped to keep the newest/)
  const left = await pool.query('select distinct version::float8 as version from km0.version_distance order by 1')
  expect(left.rows.map(({ version }) => version)).toEqual([first, others[1], others[2]])
  const newest = await store.publish(others[2] ?? 0, by)
  await expect(store.rollBack(1, by)).rejects.toThrow(new RegExp(`by publication ${newest.publication}`))
})

it('deletes what is too old in batches, never what is served nor what a silence that lasts needs', async () => {
  const day = 24 * HOUR
  const make = (van: string) =>
    versionOf(planOf([van], T0, T0 + HOUR), (rows) => {
      for (let minute = 5; minute <= 60; minute += 5) rows.distance(van, T0 + (minute - 5) * MINUTE, T0 + minute * MINUTE, window(7))
      rows.session(van, T0 + MINUTE, T0 + 9 * MINUTE, 3)
      rows.travelHour(van, T0, { distanceMm: 84, positions: 72, jumps: 0, jumpsMm: 0, gaps: 0, gapsMm: 0 })
    })
  const [served, old] = [await make('served'), await make('old')]
  await store.publish(served, by)
  await pool.query(
    `truncate km0.no_signal_episode, km0.silence_watch, km0.outage, km0.acknowledgement, km0.audit;
     insert into km0.partition_mark (partition, next_offset, record_ms, epoch, written_at_ms) values (0, 1, ${T0 + 200 * day}, 1, 0);
     insert into km0.no_signal_episode values ('over', ${T0}, ${T0 + MINUTE}, 1, 0, 1), ('lasts', ${T0}, null, 1, 1, 1);
     insert into km0.outage values (0, ${T0}, ${T0 + MINUTE}, 'x', 1, 1), (1, ${T0}, ${T0 + MINUTE}, 'x', 1, 1);
     insert into km0.acknowledgement (van, since_ms, actor_id, actor_name, actor_roles, note, at_ms)
       values ('over', ${T0}, 'a', 'a', '{}', '', ${T0}), ('lasts', ${T0}, 'a', 'a', '{}', '', ${T0})`,
  )
  const views = async () =>
    Promise.all(['distance', 'session', 'travel'].map(async (kind) => (await pool.query(`select * from km0.served_${kind}`)).rows))
  const before = await views()
  expect(before.map((rows) => rows.length)).toEqual([12, 1, 1])
  const retention = openRetention({ databaseUrl: services.postgres.url, applicationName: 'test' })
  const settings = retentionEnvironment.parse({ KM0_RESULT_RETENTION_DAYS: 300 })
  const pace = { batchRows: 3, pauseMs: 0 }
  const counts = {
    silences: { no_signal_episode: 1, silence_watch: 1, acknowledgement: 1, outage: 1 },
    versions: { version_hour: 3, version_travel: 1, version_distance: 12, version_session: 1 },
  }
  const ofKinds = (rows: readonly { kind: string; rows: object }[] | null) =>
    Object.fromEntries((rows ?? []).flatMap(({ kind, rows: of }) => (Object.keys(of).length > 0 ? [[kind, of]] : [])))
  try {
    // Nothing is too old yet; what nothing is known of by the log is never.
    expect(ofKinds(await retention.apply(settings, T0 + 29 * day, pace))).toEqual({})
    // A guard is asked anew in each step: what is said of a silence goes once the silence is gone.
    const { acknowledgement: _, outage: __, silence_watch: ___, ...first } = counts.silences
    expect(ofKinds(await retention.preview(settings, T0 + 100 * day))).toMatchObject({ versions: counts.versions, silences: first })
    expect(await views()).toEqual(before)
    const shares: number[] = []
    const [one, other] = await Promise.all([
      retention.apply(settings, T0 + 100 * day, pace, (_row, share) => void shares.push(share)),
      retention.apply(settings, T0 + 100 * day, pace, (_row, share) => void shares.push(share)),
    ])
    expect([one, other].filter((rows) => rows === null).length).toBeLessThan(2)
    expect({ ...ofKinds(one), ...ofKinds(other) }).toEqual(counts)
    expect(shares.at(-1)).toBe(1)
    expect(await views()).toEqual(before)
    const left = async (table: string) => (await pool.query(`select van from km0.${table}`)).rows
    expect([await left('no_signal_episode'), await left('acknowledgement')]).toEqual([[{ van: 'lasts' }], [{ van: 'lasts' }]])
    expect((await pool.query('select partition from km0.outage')).rows).toEqual([{ partition: 1 }])
    await expect(store.publish(old, by)).rejects.toThrow(/dropped to keep/)
    expect((await pool.query('select action, detail from km0.audit')).rows).toEqual([
      { action: 'retention', detail: expect.stringContaining('version_distance 12') },
    ])
    // Years on, the clock of the log stands: what came by it stays. Distance by hour goes when the log has gone on.
    await retention.apply(settings, T0 + 900 * day, pace)
    expect(await views()).toEqual(before)
    await pool.query(`update km0.partition_mark set record_ms = ${T0 + 900 * day}`)
    await retention.apply(settings, T0 + 900 * day, pace)
    expect((await views())[2]).toEqual([])
  } finally {
    await retention.close()
  }
})

it('forgets hours whose day is dropped, but for distance by hour', async () => {
  const id = await versionOf(planOf(['a'], T0, T0 + HOUR), (rows) => {
    rows.distance('a', T0, T0 + 5 * MINUTE, window(1))
    rows.travelHour('a', T0, { distanceMm: 7, positions: 2, jumps: 0, jumpsMm: 0, gaps: 0, gapsMm: 0 })
  })
  await store.publish(id, by)
  const serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
  const dropped = await serving.dropOldDays({ resultDays: 3, trackDays: 3 }, T0 + 10 * 24 * HOUR)
  await serving.close()
  expect(dropped).toContain('version_distance_20260914')
  const pointers = await pool.query('select kind, hour_ms::float8 as hour from km0.pointer')
  expect(pointers.rows).toEqual([{ kind: 'travel', hour: T0 }])
  expect((await pool.query('select distance_mm::int as mm from km0.served_travel')).rows).toEqual([{ mm: 7 }])
  await expect(store.publish(id, by)).rejects.toThrow(/dropped/)
})

/** Chains of points of one van: sessions of a version know all points that had come by then, live lacks those that were late. */
const points = fc.array(fc.record({ stepMin: fc.constantFrom(1, 1, 1, 2, 2, 3, 3, 9, 40), late: fc.integer({ min: 0, max: 3 }) }), {
  minLength: 60,
  maxLength: 140,
  size: 'max',
})
const action = fc.oneof(
  fc.record({ kind: fc.constant('run' as const), from: fc.nat(5), hours: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('publish' as const), number: fc.nat(4) }),
  fc.record({ kind: fc.constant('back' as const), number: fc.nat(4) }),
)

function sessionsOf(times: readonly number[]): SessionSpan[] {
  const found: { startMs: number; endMs: number }[] = []
  for (const ms of times) {
    const last = found.at(-1)
    if (last !== undefined && ms - last.endMs <= GAP) last.endMs = ms
    else found.push({ startMs: ms, endMs: ms })
  }
  return found
}

it('any sequence of publish and roll back over random hours leaves no session missing or twice', async () => {
  // The longest chain of points goes on for four days.
  for (let day = 14; day <= 18; day += 1) await liveDay('session_row', Date.UTC(2026, 8, day))
  let moved = 0
  let van = 0
  await fc.assert(
    fc.asyncProperty(points, fc.array(action, { minLength: 5, maxLength: 12, size: 'max' }), async (steps, actions) => {
      van += 1
      const name = `van-${van}`
      let ms = T0
      const all = steps.map(({ stepMin, late }) => {
        ms += stepMin * MINUTE
        return { ms, late }
      })
      // Version n knows what had come in when it was frozen; live knows what was in time.
      const known = (round: number) => sessionsOf(all.filter(({ late }) => late <= round).map((point) => point.ms))
      const live = known(0)
      for (const { startMs, endMs } of live)
        await pool.query('insert into km0.session_row values ($1, $2, $3, 1, 1, 0, 1, 0)', [name, startMs, endMs])
      const versions: number[] = []
      const publications: number[] = []
      const finalMs = T0 + 48 * HOUR
      for (const step of actions) {
        try {
          if (step.kind === 'run') {
            const asked = { fromMs: T0 + step.from * HOUR, toMs: T0 + (step.from + step.hours) * HOUR }
            const fresh = known(Math.min(3, versions.length + 1))
            const served = await store.servedSessions([name], T0, finalMs)
            const { needed } = sessionHours(asked, served, fresh, { finalMs, sessionGapMs: GAP })
            const spans = [{ owner: name, ...needed, tailMs: needed.toMs }]
            const plan = planOf([name], asked.fromMs, asked.toMs, { spans, finalMs })
            versions.push(
              await versionOf(plan, (rows) => {
                for (const { startMs, endMs } of fresh)
                  if (startMs >= needed.fromMs && startMs < needed.toMs) rows.session(name, startMs, endMs, 1)
              }),
            )
            publications.push((await store.publish(versions.at(-1) ?? 0, by)).publication)
          }
          if (step.kind === 'publish' && versions[step.number] !== undefined)
            publications.push((await store.publish(versions[step.number] ?? 0, by)).publication)
          if (step.kind === 'back' && publications[step.number] !== undefined) await store.rollBack(publications[step.number] ?? 0, by)
          moved += 1
        } catch (error) {
          // Refused is allowed, as long as nothing changes.
          if (!(error instanceof BackfillRefusedError)) throw error
        }
        const served = [...(await store.servedSessions([name], T0, finalMs))].sort((a, b) => a.startMs - b.startMs)
        for (const [index, { endMs }] of served.entries()) expect(served[index + 1]?.startMs ?? finalMs, 'twice').toBeGreaterThan(endMs)
        for (const session of live)
          expect(
            served.filter(({ startMs, endMs }) => startMs <= session.startMs && endMs >= session.endMs),
            'missing',
          ).toHaveLength(1)
      }
    }),
    // A slow machine does fewer; a failure is told at once, since making it smaller takes the store minutes.
    { numRuns: 10, interruptAfterTimeLimit: 40_000, endOnFailure: true },
  )
  expect(moved).toBeGreaterThan(3)
})
