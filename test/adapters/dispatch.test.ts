import { EVERYTHING, encodeSource, madridWeeksBefore, type Scope, TOPICS } from '@km0/contracts'
import { type Dispatch, openDispatch, openServing, RegisterImportError, registerCsv, type Serving } from '@km0/serving'
import { Pool } from '@km0/serving/pool'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { distance, EMPTY_ALL, MINUTE, NOW, PanelWriter, signal } from './serving-rows.ts'

/** The store of dispatch over a real PostgreSQL: registers, mutes, silences and their corrections, what is usual. */

const HOUR = 60 * MINUTE
const MARTA = { id: 'u1', name: 'Marta', roles: ['dispatcher'] }
const PAU = { id: 'u2', name: 'Pau', roles: ['dispatcher'] }

let services: TestServices<{ postgres: true }>
let serving: Serving
let dispatch: Dispatch
let pool: Pool
let panel: PanelWriter
beforeAll(async () => {
  services = await startServices({ postgres: true })
  const options = { databaseUrl: services.postgres.url, applicationName: 'test' }
  serving = openServing(options)
  dispatch = openDispatch(options)
  pool = new Pool(options)
  await serving.migrate()
})
afterAll(async () => {
  await Promise.all([serving, dispatch, pool].map((store) => store?.close()))
  await services?.stop()
})
beforeEach(async () => {
  await pool.query(EMPTY_ALL)
  await pool.query('truncate km0.market, km0.shift, km0.mute, km0.usual_distance, km0.usual_hour')
  panel = new PanelWriter(serving)
})

const DEPOTS = 'id,name,lat,lon,markets\ngirona,Girona,41.98,2.8,lleo;salt\nolot,Olot,42.18,2.49,\n'
const VANS = 'van,name,depot\na,A,girona\nb,B,olot\nc,C,\n'
const ZONE = '"{""type"":""Polygon"",""coordinates"":[[[2,41],[3,41],[3,42],[2,41]]]}"'
const limited = (depots: string[], markets: string[] = []): Scope => ({ kind: 'limited', depots, markets })
async function register(): Promise<void> {
  await dispatch.importCsv('depots', DEPOTS)
  await dispatch.importCsv('vans', VANS)
}

describe('registers', () => {
  it('are tried out without being stored, then stored whole; a bad line keeps all out', async () => {
    expect(await dispatch.tryImport('depots', DEPOTS)).toEqual({ added: 2, changed: 0, same: 0 })
    expect((await dispatch.readRegister(EVERYTHING)).depots).toEqual([])
    expect(await dispatch.importCsv('depots', DEPOTS)).toEqual({ added: 2, changed: 0, same: 0 })
    expect(await dispatch.importCsv('vans', VANS)).toEqual({ added: 3, changed: 0, same: 0 })
    const bad = 'van,depot,in_service_from\nd,girona,\ne,nowhere,\nf,girona,soon\n'
    expect(await dispatch.tryImport('vans', bad)).toEqual({ problems: [{ line: 4, problem: expect.stringContaining('"soon"') }] })
    const unknown = bad.replace(',soon', ',')
    expect(await dispatch.importCsv('vans', unknown)).toEqual({ problems: [{ line: 3, problem: expect.stringContaining('"nowhere"') }] })
    expect((await dispatch.readRegister(EVERYTHING)).vans.map(({ van }) => van)).toEqual(['a', 'b', 'c'])
  })

  it('of markets and shifts: a calendar becomes what the file says, others stay', async () => {
    await register()
    expect(await dispatch.importCsv('markets', `id,name,zone\nlleo,Lleó,${ZONE}\nsalt,Salt,\n`)).toEqual({ added: 2, changed: 0, same: 0 })
    expect(await dispatch.importCsv('markets', `id,name,zone\nlleo,Lleó,${ZONE}\nsalt,Salt nou,\n`)).toEqual({
      added: 0,
      changed: 1,
      same: 1,
    })
    const week = 'depot,day,start,end\ngirona,mon-fri,06:30,21:30\ngirona,2026-12-25,,\nolot,sat,22:00,06:00\n'
    expect(await dispatch.importCsv('shifts', week)).toEqual({ added: 7, changed: 0, same: 0 })
    expect(await dispatch.importCsv('shifts', 'depot,day,start,end\ngirona,mon-thu,06:30,21:30\ngirona,fri,06:30,14:00\n')).toEqual({
      ...{ added: 0, same: 4 },
      // Friday ends at another time, Christmas is gone.
      changed: 2,
    })
    const { shifts } = await dispatch.readRegister(EVERYTHING)
    expect(shifts.map(({ depotId, day, end }) => `${depotId} ${day} ${end}`)).toEqual([
      ...['mon', 'tue', 'wed', 'thu'].map((day) => `girona ${day} 21:30`),
      ...['girona fri 14:00', 'olot sat 06:00'],
    ])
    const off = 'depot,day,start,end\ngirona,mon,,\ngirona,mon,06:00,14:00\nolot,mon,,\nolot,mon,,\nx,mon,,\n'
    expect(await dispatch.importCsv('shifts', off)).toMatchObject({ problems: [{ line: 5 }] })
    expect(await dispatch.importCsv('shifts', off.replace('olot,mon,,\nolot', 'olot'))).toMatchObject({ problems: [{ line: 3 }] })
  })

  it('a place goes when nothing needs it any more, and its calendar before or with it', async () => {
    await register()
    await dispatch.importCsv('markets', `id,name,zone\nlleo,Lleó,${ZONE}\nfar,Far,\n`)
    await dispatch.importCsv('shifts', 'depot,day,start,end\ngirona,sun,,\nolot,mon,06:00,14:00\n')
    expect(await dispatch.clearShifts('girona')).toBe(true)
    expect(await dispatch.clearShifts('girona')).toBe(false)
    expect((await dispatch.readRegister(EVERYTHING)).shifts.map(({ depotId }) => depotId)).toEqual(['olot'])
    await expect(dispatch.removePlace('depots', 'girona')).rejects.toBeInstanceOf(RegisterImportError)
    expect(await dispatch.removePlace('markets', 'far')).toBe(true)
    expect(await dispatch.removePlace('markets', 'far')).toBe(false)
    await dispatch.importCsv('depots', 'id,name,lat,lon,markets\nnou,Nou,42,2,nova\n')
    await dispatch.importCsv('markets', 'id,name\nnova,Nova\n')
    await expect(dispatch.removePlace('markets', 'nova')).rejects.toMatchObject({
      problems: [{ problem: expect.stringContaining('nou serve') }],
    })
    await dispatch.importCsv('shifts', 'depot,day,start,end\nnou,sun,,\n')
    expect(await dispatch.removePlace('depots', 'nou')).toBe(true)
    expect((await dispatch.readRegister(EVERYTHING)).shifts.map(({ depotId }) => depotId)).toEqual(['olot'])
  })

  it('go out as the file that comes in, by scope', async () => {
    await register()
    await dispatch.importCsv('markets', `id,name,zone\nlleo,Lleó,${ZONE}\nfar,Far,\n`)
    await dispatch.importCsv('shifts', 'depot,day,start,end\ngirona,sun,,\nolot,mon,06:00,14:00\n')
    const stored = await dispatch.readRegister(EVERYTHING)
    for (const kind of ['depots', 'vans', 'markets', 'shifts'] as const) {
      expect(await dispatch.tryImport(kind, registerCsv(kind, stored))).toEqual({ added: 0, changed: 0, same: expect.any(Number) })
    }
    const seen = await dispatch.readRegister(limited(['girona']))
    expect([seen.depots, seen.vans, seen.markets, seen.shifts].map((rows) => rows.length)).toEqual([1, 1, 1, 1])
  })

  it('take the change of one van', async () => {
    await register()
    const van = { van: 'a', name: 'Nova', plate: '1234 ABC', depotId: 'olot', inServiceFromMs: NOW, inServiceToMs: NOW + HOUR }
    await dispatch.putVan(van)
    expect((await dispatch.read(NOW, 0)).registered.find((one) => one.van === 'a')).toEqual(van)
    await expect(dispatch.putVan({ ...van, depotId: 'nowhere' })).rejects.toBeInstanceOf(RegisterImportError)
  })
})

describe('mutes', () => {
  const mute = (scope: Scope, kind: 'van' | 'depot', subject: string, untilMs: number | null, atMs = NOW) =>
    dispatch.mute(scope, { kind, subject, untilMs, note: 'taller', actor: MARTA, atMs })
  const inForce = async (nowMs = NOW) => (await dispatch.read(nowMs, 0)).mutes.map(({ subject }) => subject)

  it('hold until their time or until lifted, the newest of a van or depot', async () => {
    await register()
    const first = await mute(EVERYTHING, 'van', 'a', NOW + HOUR)
    await mute(EVERYTHING, 'depot', 'olot', null)
    expect(await inForce()).toEqual(['olot', 'a'])
    expect(await inForce(NOW + HOUR)).toEqual(['olot'])
    const second = await mute(EVERYTHING, 'van', 'a', null, NOW + 1)
    expect(await inForce(NOW + 2)).toEqual(['a', 'olot'])
    expect(await dispatch.unmute(EVERYTHING, first as number, PAU, NOW + 2)).toBe(false)
    expect(await dispatch.unmute(EVERYTHING, second as number, PAU, NOW + 2)).toBe(true)
    expect(await inForce(NOW + 3)).toEqual(['olot'])
    const changes = await dispatch.readHandOver(EVERYTHING, { fromMs: NOW, toMs: NOW + 10 })
    expect(
      changes.changes.map(
        (change) => `${change.kind} ${'mute' in change ? change.mute.subject : ''} ${'actor' in change ? change.actor.name : ''}`,
      ),
    ).toEqual(['unmuted a Pau', 'muted a Marta', 'muted olot Marta', 'muted a Marta'])
  })

  it('are only of vans and depots that the scope may see', async () => {
    await register()
    expect(await mute(limited(['olot']), 'van', 'a', null)).toBeNull()
    expect(await mute(limited(['olot']), 'depot', 'girona', null)).toBeNull()
    expect(await mute(EVERYTHING, 'depot', 'nowhere', null)).toBeNull()
    const own = await mute(limited([], ['salt']), 'van', 'a', null)
    expect(own).not.toBeNull()
    expect(await dispatch.unmute(limited(['olot']), own as number, PAU, NOW)).toBe(false)
    expect((await dispatch.readHandOver(limited(['olot']), { fromMs: 0, toMs: NOW })).changes).toEqual([])
  })
})

describe('silences', () => {
  let lateOffset = 0
  async function late(van: string, ...eventsMs: number[]): Promise<void> {
    const records = eventsMs.map((data_ms) => {
      lateOffset += 1
      const value = { motiu: 'tard', data_ms, finestres_tancades: 5 }
      return {
        offset: lateOffset,
        key: van,
        value: Buffer.from(JSON.stringify(value)),
        headers: encodeSource({ epoch: 1, partition: 0, offset: lateOffset }),
      }
    })
    await serving.applyLateBatch({
      topic: TOPICS.late.name,
      partition: 0,
      nextOffset: lateOffset + 1,
      clusterId: 'one',
      records,
      writtenAtMs: NOW,
    })
  }

  it('say what was known then and is known now, when points of theirs come late', async () => {
    await register()
    await panel.apply([signal('a', 'sense-senyal', NOW - 22 * MINUTE), { offset: 1 }], [signal('a', 'amb-senyal', NOW), { offset: 2 }])
    await panel.apply([signal('b', 'sense-senyal', NOW - 20 * MINUTE), { offset: 3 }])
    const episodes = async () => (await dispatch.read(NOW + 1, HOUR)).episodes
    expect(await episodes()).toEqual([
      { van: 'b', depotId: 'olot', sinceMs: NOW - 20 * MINUTE, endedMs: null, latePoints: 0, longestGapMs: 0, overOutage: false },
      {
        van: 'a',
        depotId: 'girona',
        sinceMs: NOW - 22 * MINUTE,
        endedMs: NOW,
        latePoints: 0,
        longestGapMs: 22 * MINUTE,
        overOutage: false,
      },
    ])
    // One every ten seconds: what was a silence is a gap of ten seconds. A point twice is one.
    const points = Array.from({ length: 131 }, (_, n) => NOW - 22 * MINUTE + (n + 1) * 10_000)
    await late('a', ...points, points[0] as number)
    await late('b', NOW - 15 * MINUTE, NOW - 40 * MINUTE)
    expect(await episodes()).toMatchObject([
      { van: 'b', latePoints: 1, longestGapMs: 5 * MINUTE },
      { van: 'a', latePoints: 131, longestGapMs: 10_000 },
    ])
    // Once it is old news only a correction keeps it in the panel.
    expect((await dispatch.read(NOW + 2 * HOUR, HOUR)).episodes.map(({ van }) => van)).toEqual(['b', 'a'])
    expect((await dispatch.read(NOW + 2 * HOUR, HOUR)).episodes.map(({ latePoints }) => latePoints)).toEqual([1, 131])
  })

  it('are told to who takes over, with notes, newest first, by scope', async () => {
    await register()
    await panel.apply(
      [signal('a', 'sense-senyal', NOW - 50 * MINUTE), { offset: 1 }],
      [signal('a', 'amb-senyal', NOW - 20 * MINUTE), { offset: 2 }],
    )
    await panel.apply([signal('b', 'sense-senyal', NOW - 15 * MINUTE), { offset: 3 }])
    await serving.acknowledge(EVERYTHING, { van: 'b', sinceMs: NOW - 15 * MINUTE, actor: MARTA, note: 'al túnel', atMs: NOW - 5 * MINUTE })
    const words = async (scope: Scope) =>
      (await dispatch.readHandOver(scope, { fromMs: NOW - 30 * MINUTE, toMs: NOW })).changes.map(
        (change) => `${change.kind} ${'van' in change ? change.van : ''}`,
      )
    expect(await words(EVERYTHING)).toEqual(['acknowledged b', 'new b', 'returned a'])
    expect(await words(limited(['girona']))).toEqual(['returned a'])
  })
})

describe('what is usual', () => {
  it('is the 99th percentile of the same hour in the four weeks before, with how many windows that is', async () => {
    await register()
    const rows = [1, 2, 3, 4].flatMap((weeks) => {
      const { startMs } = madridWeeksBefore(NOW, weeks)
      // 1 … 60 metres in each week: 240 windows, of which 60 m is the 99th percentile; then what is of other hours.
      const own = Array.from({ length: 60 }, (_, n) => distance('a', startMs + (n + 1) * MINUTE, (n + 1) * 1_000))
      return [...own, distance('a', startMs, 9_000_000), distance('a', startMs + 61 * MINUTE, 9_000_000)]
    })
    const lone = { ...distance('b', madridWeeksBefore(NOW, 1).endMs, 5_000), posicions: 1 }
    const older = distance('a', madridWeeksBefore(NOW, 5).endMs, 9_000_000)
    await panel.apply(...[...rows, lone, older].map((row, n) => [row, { offset: n + 1 }] as const))
    expect((await dispatch.read(NOW, 0)).usual).toBeNull()
    expect(await dispatch.computeUsual(NOW, NOW)).toBe(true)
    expect(await dispatch.computeUsual(NOW + 1, NOW)).toBe(false)
    expect((await dispatch.read(NOW, 0)).usual?.vans).toEqual([{ van: 'a', p99Mm: 60_000, windows: 240 }])
    // Rows of the days before are forgotten.
    expect(await dispatch.computeUsual(NOW + 49 * HOUR, NOW)).toBe(true)
    expect((await dispatch.read(NOW, 0)).usual).toBeNull()
  })

  it('totals of the hour and the day tell where they come from', async () => {
    await register()
    const hourMs = Math.floor(NOW / HOUR) * HOUR
    await panel.apply(...[5, 10, 60].map((minutes, n) => [distance('a', hourMs + minutes * MINUTE, 7_000), { offset: n + 1 }] as const), [
      distance('a', hourMs - 30 * MINUTE, 1_000),
      { offset: 9 },
    ])
    const live = { hourVersion: null, dayVersions: [], dayIsLive: true }
    expect(await dispatch.readTravelTotals(EVERYTHING, hourMs)).toEqual([{ van: 'a', hourMm: 21_000, dayMm: 22_000, ...live }])
    expect(await dispatch.readTravelTotals(limited(['olot']), hourMs)).toEqual([])
  })
})
