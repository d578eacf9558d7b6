import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Scope } from '@km0/contracts'
import { decodePacked } from '@km0/contracts/packed-columns'
import type { ReplayHourHeader, VanTrackHeader } from '@km0/contracts/van-day-panel'
import { type Lake, LakeWriter, openLake } from '@km0/lake'
import { openServing, type Serving } from '@km0/serving'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LakeProcess } from '../../apps/dashboard/src/server/lake/lake-process.ts'
import { LocalLake } from '../../apps/dashboard/src/server/lake/local-lake.ts'
import { ACCESS } from '../../apps/dashboard/src/server/sign-in/access.ts'
import { MINUTE } from '../laws/driver.ts'
import { fillLake, HOUR, logOf, runLiveInto } from './backfill-log.ts'
import { lakeMissing, lakeSettings } from './lake-folders.ts'
import { FOREIGN, OURS, panelOverBoth, THEIRS } from './panel-attack.ts'
import { refuseSome } from './refused-letters.ts'

/** What the panel reads of a real lake and store: a van's day, and where everybody was. */

/** 14 September 2026 in Madrid begins at 22:00 UTC of the 13th. */
const DAY = Date.UTC(2026, 8, 13, 22)
const DAY_END = DAY + 24 * HOUR
const at = (hour: number, minute = 0) => DAY + hour * HOUR + minute * MINUTE
const LIMITS = { points: 50_000, queryMs: 20_000, sampleMs: 60_000 }
const ALL: Scope = { kind: 'all' }
const never = new AbortController().signal

let services: TestServices<{ postgres: true }>
let missing: string | null
let lake: Lake | undefined
let serving: Serving
let local: LocalLake

beforeAll(async () => {
  services = await startServices({ postgres: true })
  missing = await lakeMissing(services)
  if (missing !== null) return
  serving = openServing({ databaseUrl: services.postgres.url, applicationName: 'test' })
  await serving.migrate()
  lake = await openLake(lakeSettings(services, 'panel'))
  const writer = new LakeWriter(lake, 1)
  await writer.prepare()
  const records = logOf(0, at(25), [
    { van: 'furgoneta-3', fromMs: at(8), toMs: at(11, 30), offFromMs: at(9, 50), offToMs: at(10, 12) },
    { van: 'furgoneta-4', fromMs: at(9), toMs: at(10, 10) },
  ])
  await fillLake(writer, records)
  await runLiveInto(serving, writer, records)
  await refuseSome(writer, at(10))
  local = new LocalLake({ settings: lakeSettings(services, 'panel'), limits: LIMITS, placeOf: (lat) => (lat > 41.98 ? 'north' : null) })
})
afterAll(async () => {
  await local?.close()
  lake?.close()
  await serving?.close()
  await services?.stop()
})

describe("a van's day", () => {
  it('is the track of the lake, late and refused points with their reason and place', async (test) => {
    test.skip(missing !== null, missing ?? '')
    const bytes = await local.vanDay({ van: 'furgoneta-3', fromMs: DAY, toMs: DAY_END }, never)
    const { header, columns } = decodePacked<VanTrackHeader>(bytes.buffer)
    const [event, lat, , delay] = columns
    expect(header).toMatchObject({ source: 'lake', why: null, isCut: false, pointCount: 3.5 * 180 })
    expect(event).toHaveLength(header.pointCount)
    expect([event?.[0], event?.at(-1)]).toEqual([8 * HOUR, 11.5 * HOUR - 20_000])
    expect(Math.abs((lat?.[0] ?? 0) / 1e6 - 41.98)).toBeLessThan(0.021)
    expect([delay?.[0], Math.max(...(delay ?? []))]).toEqual([1_000, 22 * MINUTE + 1_000])
    // All of them came within a second of the phone being on again.
    expect(header.late.length).toBeGreaterThan(60)
    for (const late of header.late) {
      expect(late.arrivalMs).toBe(at(10, 12) + 1_000)
      expect(late.lat).toBeGreaterThan(41)
      expect(late.windowsClosed).toBeGreaterThanOrEqual(late.reason === 'tard' ? 5 : 0)
    }
    expect(header.refused).toEqual([
      { arrivalMs: at(10), eventMs: at(20), reason: 'futur', detail: null, lat: null, lon: null },
      { arrivalMs: at(10, 1), eventMs: null, reason: 'camps', detail: 'data_ms', lat: 41.98, lon: 2.82 },
    ])
  })

  it('is in the store too: windows, the sessions that the gap has made, late points; and nobody sees a van that is not theirs', async (test) => {
    test.skip(missing !== null, missing ?? '')
    const day = { startMs: DAY, endMs: DAY_END }
    const rows = await serving.readVanDay(ALL, 'furgoneta-3', day)
    expect(rows?.windows.length).toBeGreaterThan(150)
    for (const window of rows?.windows ?? []) expect(window.endMs - window.startMs).toBe(5 * MINUTE)
    expect(rows?.sessions.map(({ startMs }) => startMs)).toEqual([at(8), expect.any(Number)])
    expect(rows?.latePoints.length).toBeGreaterThan(60)
    expect(rows?.partition).toBe(0)
    expect(rows?.hours.map(({ hourMs }) => hourMs)).toEqual([at(8), at(9), at(10), at(11)])
    const other: Scope = { kind: 'limited', depots: ['elsewhere'], markets: [] }
    expect(await serving.readVanDay(other, 'furgoneta-3', day)).toBeNull()
  })

  it('is thinned to the limit, first and last kept', async (test) => {
    test.skip(missing !== null, missing ?? '')
    const few = new LocalLake({ settings: lakeSettings(services, 'panel'), limits: { ...LIMITS, points: 100 }, placeOf: () => null })
    const { header, columns } = decodePacked<VanTrackHeader>(
      (await few.vanDay({ van: 'furgoneta-3', fromMs: DAY, toMs: DAY_END }, never)).buffer,
    )
    expect(header.pointCount).toBe(630)
    expect([columns[0]?.length, columns[0]?.[0], columns[0]?.at(-1)]).toEqual([100, 8 * HOUR, 11.5 * HOUR - 20_000])
    await few.close()
  })
})

describe('an hour of the fleet', () => {
  const hourOf = async (hour: number, vans: string[] | null) =>
    decodePacked<ReplayHourHeader>((await local.replay({ fromMs: at(hour), toMs: at(hour + 1), vans }, never)).buffer)

  it('has a point of each van a sample, the last one before, and places', async (test) => {
    test.skip(missing !== null, missing ?? '')
    const { header, columns } = await hourOf(9, null)
    expect(header.vans).toEqual([
      { van: 'furgoneta-3', rows: 61 },
      { van: 'furgoneta-4', rows: 60 },
    ])
    const [event, lat, , place] = columns
    // Van 3 was on its way already.
    expect([event?.[0], event?.[1], event?.[61]]).toEqual([-20_000, 40_000, 40_000])
    expect(header.places).toEqual(['north'])
    for (const [row, index] of (place ?? new Int32Array()).entries()) expect(index).toBe((lat?.[row] ?? 0) > 41.98e6 ? 0 : -1)
  })

  it('shows those of the scope only, and where a van was that has gone', async (test) => {
    test.skip(missing !== null, missing ?? '')
    const { header, columns } = await hourOf(12, ['furgoneta-4'])
    expect(header.vans).toEqual([{ van: 'furgoneta-4', rows: 1 }])
    expect(columns[0]?.[0]).toBe(at(10, 10) - 20_000 - at(12))
    expect((await hourOf(12, [])).header.vans).toEqual([])
  })
})

describe('somebody who sees one depot, over a real store and lake', () => {
  const ASKED = `van=${THEIRS.van}&day=2026-09-14&kind=vans&since=${at(0)}&from=${at(9)}&to=${at(10)}&product=secret+d%27ells&market=${THEIRS.market}`
  it('gets nothing of another by any route, export or stream, and changes nothing of theirs', async (test) => {
    test.skip(missing !== null, missing ?? '')
    const panel = await panelOverBoth({ databaseUrl: services.postgres.url, lake: local, atMs: at(10) })
    try {
      await expect.poll(async () => (await panel.ask('all', '/api/panel')).text).toMatch(/"episodes":\[\{/)
      const gets = Object.entries(ACCESS).flatMap(([route, { vans }]) =>
        route.startsWith('GET ') && vans === 'scoped' ? [route.slice(4)] : [],
      )
      const told: string[] = []
      for (const path of gets.filter((each) => each !== '/api/events')) {
        const query = path === '/api/outages' ? '' : `?${ASKED}`
        const all = await panel.ask('all', path + query)
        expect([path, all.status]).toEqual([path, 200])
        if (FOREIGN.test(all.text)) told.push(path)
        const ours = await panel.ask('limited', path + query)
        expect([path, [200, 404].includes(ours.status)]).toEqual([path, true])
        // A refusal may say the name that was asked for, not what is known of it.
        const text = ours.status === 200 ? ours.text : ours.text.replaceAll(THEIRS.van, '')
        expect([
          path,
          FOREIGN.exec(text.replaceAll(JSON.stringify({ product: "secret d'ells", market: THEIRS.market }).slice(1, -1), ''))?.[0] ?? null,
        ]).toEqual([path, null])
        // Whether there is such a van is told to nobody either.
        const unknown = await panel.ask('limited', path + query.replace(THEIRS.van, 'furgoneta-x'))
        const answered = ({ status, text: said }: typeof ours, van: string) => [path, status, status === 200 || said.replaceAll(van, '')]
        expect(answered(unknown, 'furgoneta-x')).toEqual(answered(ours, THEIRS.van))
      }
      // The questions are good ones: whoever sees everything is told of the other by most of them.
      expect(told.length).toBeGreaterThan(20)
      const before = JSON.stringify(await panel.pool.query('select * from km0.mute order by id'))
      for (const [path, body] of [
        ['/api/acknowledgements', { van: THEIRS.van, sinceMs: at(10), note: 'x' }],
        ['/api/mutes', { kind: 'van', subject: THEIRS.van, untilMs: null, note: 'x' }],
        ['/api/mutes', { kind: 'depot', subject: THEIRS.depot, untilMs: null, note: 'x' }],
        ['/api/mutes/lift', { id: 2 }],
        ['/api/stock/acknowledgements', { product: "secret d'ells", market: THEIRS.market, startMs: at(10), note: 'x' }],
        ['/api/subscriptions/remove', { id: 2 }],
        ['/api/subscriptions/test', { id: 2 }],
      ] as const)
        expect([path, body, (await panel.ask('limited', path, body)).status]).toEqual([path, body, 404])
      expect(JSON.stringify(await panel.pool.query('select * from km0.mute order by id'))).toBe(before)
      expect(
        await panel.pool.query(`select 1 from km0.acknowledgement where note = 'x' union all select 1 from km0.stock_acknowledgement`),
      ).toEqual([])
      // A stream goes on from an event that the scope may see, and knows no other.
      const limited: Scope = { kind: 'limited', depots: [OURS.depot], markets: [] }
      expect(await panel.store.findEvent(limited, `returned/${THEIRS.van}`)).toBeNull()
      expect(await panel.store.findEvent(limited, `returned/${OURS.van}`)).not.toBeNull()
      expect((await panel.store.readEvents(limited, { afterId: 0, limit: 9 })).map(({ key }) => key)).toEqual([`returned/${OURS.van}`])
    } finally {
      await panel.close()
    }
  })
})

describe('the process that reads the lake', () => {
  it('answers as this one does, stops what nobody waits for, ends when idle and comes back', async (test) => {
    test.skip(missing !== null, missing ?? '')
    execFileSync(process.execPath, ['infra/build.mjs', 'dashboard/src/lake-reader'], { stdio: 'inherit' })
    const settings = lakeSettings(services, 'panel')
    const reader = new LakeProcess({
      program: join(import.meta.dirname, '../../apps/dashboard/dist/lake-reader.js'),
      environment: {
        ...process.env,
        DATABASE_URL: services.postgres.url,
        KM0_LAKE_SCHEMA: settings.catalogSchema,
        KM0_LAKE_EXTENSIONS: settings.extensionsDir,
        KM0_LAKE_TEMPORARY: settings.temporaryDir,
        KM0_REPLAY_SAMPLE_MS: '60000',
      },
      queryMs: 20_000,
      idleMs: 100,
    })
    const query = { van: 'furgoneta-3', fromMs: DAY, toMs: DAY_END }
    try {
      const gone = new AbortController()
      const dropped = reader.vanDay(query, gone.signal)
      gone.abort()
      await expect(dropped).rejects.toThrow('nobody waits')
      expect(await reader.vanDay(query, never)).toEqual(await local.vanDay(query, never))
      await expect.poll(() => reader.pid, { timeout: 20_000 }).toBeNull()
      const hour = await reader.replay({ fromMs: at(9), toMs: at(10), vans: null }, never)
      expect(decodePacked<ReplayHourHeader>(hour.buffer).header.vans).toHaveLength(2)
    } finally {
      await reader.close()
    }
  })

  it('says what is missing where there is no lake', async (test) => {
    test.skip(missing !== null, missing ?? '')
    const none = new LocalLake({ settings: lakeSettings(services, 'nowhere'), limits: LIMITS, placeOf: () => null })
    await expect(none.replay({ fromMs: DAY, toMs: DAY + HOUR, vans: null }, never)).rejects.toMatchObject({
      trouble: { kind: 'missing', says: expect.stringContaining('no lake in schema') },
    })
  })
})
