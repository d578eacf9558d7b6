import {
  addCounts,
  coveredShare,
  EVERYTHING,
  LATENESS_STEPS_MS,
  type LatenessCounts,
  latenessQuantile,
  latenessStep,
  type Scope,
  TOPICS,
} from '@km0/contracts'
import { openLatenessHours, openServing, type Serving } from '@km0/serving'
import { Pool } from '@km0/serving/pool'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EMPTY_ALL, MINUTE, NOW, PanelWriter, record, session, signal } from './serving-rows.ts'

let services: TestServices<{ postgres: true }>
let serving: Serving
let pool: Pool
let panel: PanelWriter
beforeAll(async () => {
  services = await startServices({ postgres: true })
  serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
  pool = new Pool({ databaseUrl: services.postgres.url, applicationName: 'test-raw' })
  await serving.migrate()
})
afterAll(async () => {
  await serving?.close()
  await pool?.close()
  await services?.stop()
})
beforeEach(async () => {
  await pool.query(EMPTY_ALL)
  panel = new PanelWriter(serving)
})

describe('late points', () => {
  const rules = { windowSizeMs: 300_000, slideMs: 60_000, sessionGapMs: 180_000, maxSegmentMs: 180_000, maxGapMs: 604_800_000 }
  const late = (van: string, eventMs: number, offset: number, motiu = 'tard') =>
    record(van, { motiu, data_ms: eventMs, finestres_tancades: 5 }, { offset }, offset)
  const dirty = async (scope: Scope = EVERYTHING) => {
    const hours = await serving.readDirtyHours(scope, { fromMs: NOW - 30 * 86_400_000, toMs: NOW + 86_400_000, rules })
    return hours
      .filter(({ causes }) => causes.has('windows') || causes.has('session'))
      .map(({ van, hourMs, points }) => [van, hourMs, points.length])
  }

  it('make hours dirty: those of their windows, and those in which the sessions begin that they touch', async () => {
    const hour = Math.floor(NOW / 3_600_000) * 3_600_000
    await panel.apply([session('a', hour - 100 * MINUTE, hour + 10 * MINUTE), { offset: 1 }])
    await panel.apply([signal('b', 'amb-senyal', hour - 5 * MINUTE), { offset: 2 }])
    const batch = { topic: TOPICS.late.name, partition: 0, clusterId: 'one', writtenAtMs: NOW }
    const records = [late('a', hour + 12 * MINUTE, 3), late('a', hour + 58 * MINUTE, 4, 'parcial'), late('b', hour + 20 * MINUTE, 5)]
    expect(await serving.applyLateBatch({ ...batch, nextOffset: 6, records })).toEqual([])
    const expected = [
      ['a', hour - 2 * 3_600_000, 1],
      ['a', hour, 2],
      ['a', hour + 3_600_000, 1],
      ['b', hour - 3_600_000, 1],
      ['b', hour, 1],
    ]
    expect(await dirty()).toEqual(expected)
    // Emitted again after a restart of the job, at other places of the topic.
    await serving.applyLateBatch({ ...batch, nextOffset: 12, records: records.map((row) => ({ ...row, offset: row.offset + 6 })) })
    expect(await dirty()).toEqual(expected)
    expect(await dirty({ kind: 'limited', depots: ['nowhere'], markets: [] })).toEqual([])
    expect(await serving.applyLateBatch({ ...batch, nextOffset: 13, records: [late('a', hour, 12, 'other')] })).toHaveLength(1)
    await serving.dropOldDays({ resultDays: 1, trackDays: 1 }, NOW + 5 * 86_400_000)
    expect(await dirty()).toEqual([])
  })

  it('are clean where a version is published that was computed with them, of each kind and hour for itself', async () => {
    const hour = Math.floor(NOW / 3_600_000) * 3_600_000
    const records = [late('a', hour + 12 * MINUTE, 3), late('a', hour + 58 * MINUTE, 4)]
    await serving.applyLateBatch({ topic: TOPICS.late.name, partition: 0, clusterId: 'one', writtenAtMs: NOW, nextOffset: 6, records })
    expect(await dirty()).toEqual([
      ['a', hour, 2],
      ['a', hour + 3_600_000, 1],
    ])
    const epochIs = (epoch: number) =>
      pool.query(
        `insert into km0.partition_mark (partition, next_offset, epoch, written_at_ms) values (0, 9, $1, 0)
         on conflict (partition) do update set epoch = excluded.epoch`,
        [epoch],
      )
    await epochIs(1)
    const publish = async (kind: string, hourMs: number, next: number) => {
      const [{ id }] = (await pool.query(
        `insert into km0.version (natural_id, pipeline, from_ms, to_ms, question, code, settings, session_gap_ms, snapshot, epoch, offsets, final_ms, spans,
           points, state, actor_id, actor_name, actor_roles, reason, requested_at_ms, started_at_ms)
         values (gen_random_uuid()::text, 'positions', $1, $1, 'q', 'c', '{}', 180000, 1, 1, jsonb_build_object('0', $2::bigint), $1, '{}', 0, 'ready', 'x', 'X', '{}', '', 0, 0)
         returning id`,
        [hourMs, next],
      )) as [{ id: number }]
      await pool.query(
        `insert into km0.pointer values ($1, 'a', $2, $3, 0) on conflict (kind, owner, hour_ms) do update set version = excluded.version`,
        [kind, hourMs, id],
      )
    }
    for (const kind of ['distance', 'session', 'travel']) await publish(kind, hour, 4)
    // The second point came after its snapshot; the hour after is not published.
    expect(await dirty()).toEqual([
      ['a', hour, 1],
      ['a', hour + 3_600_000, 1],
    ])
    for (const hourMs of [hour, hour + 3_600_000]) for (const kind of ['distance', 'travel']) await publish(kind, hourMs, 5)
    expect(await dirty()).toEqual([['a', hour, 1]])
    await publish('session', hour, 5)
    expect(await dirty()).toEqual([])
    // After a savepoint was restored, or the log replaced, a late point with a small offset is not one that the version had.
    const again = record('a', { motiu: 'tard', data_ms: hour + 12 * MINUTE, finestres_tancades: 5 }, { offset: 3, epoch: 2 }, 6)
    await serving.applyLateBatch({
      topic: TOPICS.late.name,
      partition: 0,
      clusterId: 'one',
      writtenAtMs: NOW,
      nextOffset: 7,
      records: [again],
    })
    expect(await dirty()).toEqual([['a', hour, 1]])
    await epochIs(2)
    for (const kind of ['distance', 'session', 'travel']) await publish(kind, hour, 5)
    expect(await dirty()).toEqual([])
    await pool.query('delete from km0.pointer; delete from km0.version')
  })

  it('and so does a hole in the log, for the vans of its partition', async () => {
    const hour = Math.floor(NOW / 3_600_000) * 3_600_000
    await pool.query(
      `insert into km0.live_point (van, lat, lon, event_ms, arrival_ms, doubtful, motion, epoch, source_partition, source_offset, written_at_ms)
       select v, 41, 2, 0, 0, false, 'moving', 1, p, 0, 0 from (values ('a', 0), ('b', 1)) as x (v, p)`,
    )
    const span = { inici_ms: hour + 10 * MINUTE, data_ms: hour + 20 * MINUTE }
    const hole = record('forat|0', { motiu: 'forat', ...span, des_de_offset: 40, fins_offset: 90 }, { offset: 90 }, 0)
    const batch = { topic: TOPICS.late.name, partition: 0, clusterId: 'one', writtenAtMs: NOW, nextOffset: 1, records: [hole] }
    expect(await serving.applyLateBatch(batch)).toEqual([])
    await panel.apply([session('a', hour - 50 * MINUTE, hour + 9 * MINUTE), { offset: 1 }])
    const query = { fromMs: NOW - 86_400_000, toMs: NOW + 86_400_000, rules, allowedLatenessMs: MINUTE }
    const plan = async () => {
      const { pieces, points, waiting } = await serving.readDirtyPlan(EVERYTHING, query)
      return { pieces, points, waiting }
    }
    const piece = { fromMs: hour - 3_600_000, toMs: hour + 3_600_000, vans: ['a'], points: 0 }
    // While live may still change an hour it is proposed to nobody.
    const marks = `insert into km0.partition_mark (partition, next_offset, epoch, written_at_ms, watermark_ms) values (0, 9, 9, 0, $1)
      on conflict (partition) do update set epoch = excluded.epoch, watermark_ms = excluded.watermark_ms`
    await pool.query(marks, [hour + 3_600_000])
    expect(await plan()).toEqual({ pieces: [{ ...piece, toMs: hour }], points: 0, waiting: { hours: 1, untilMs: hour + 3_600_000 } })
    await pool.query(marks, [hour + 3_600_000 + MINUTE])
    expect(await plan()).toEqual({ pieces: [piece], points: 0, waiting: null })
  })
})

describe('hours of lateness', () => {
  it('are added up as they were measured: half of the points within a second', async () => {
    const lateness = openLatenessHours({ databaseUrl: services.postgres.url, applicationName: 'test' })
    const counts = new Array<number>(LATENESS_STEPS_MS.length + 1).fill(0)
    counts[latenessStep(1_000)] = 50
    counts[latenessStep(60_000)] = 50
    const hour = { points: 100, late: 0, partlyLate: 0, counts, refused: {} }
    await lateness.write(
      [3_600_000, 7_200_000].map((hourMs) => ({ hourMs, ...hour })),
      NOW,
      0,
    )
    const stored = await lateness.read(0)
    await lateness.close()
    const all = stored.reduce<LatenessCounts>((sum, one) => addCounts(sum, one.counts), [])
    expect([coveredShare(all, 45_000), coveredShare(all, 60_000), latenessQuantile(all, 0.5)]).toEqual([0.5, 1, 1_000])
    expect(stored.map(({ points }) => points)).toEqual([100, 100])
  })
})
