import { EVERYTHING, type Scope } from '@km0/contracts'
import { openServing, RegisterImportError, type Serving } from '@km0/serving'
import { Pool } from '@km0/serving/pool'
import { startServices, type TestServices } from '@km0/testkit/services'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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
