import {
  type Actor,
  EMPTY_DISPATCH,
  EVERYTHING,
  type ImportView,
  type Market,
  type MuteView,
  type RegisteredVan,
  type Scope,
} from '@km0/contracts'
import { Registry } from '@km0/runtime'
import { RegisterImportError, type StoredDispatch, type StoredRegister } from '@km0/serving'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MaskingState } from '../masking/masking-state.ts'
import { StillSource } from '../panel-fuzz.testbench.ts'
import { type PanelServer, startPanelServer } from '../panel-server.ts'
import { sessionFor, testSignIn } from '../sign-in/sessions.testbench.ts'
import { dispatchExtension } from './dispatch-extension.ts'
import { sinceOf } from './dispatch-rest.ts'
import { dispatchEnvironment, dispatchLimits } from './dispatch-settings.ts'
import { DispatchState } from './dispatch-state.ts'

/** Monday, 12:00 in Madrid. */
const NOW = Date.UTC(2026, 10, 30, 11)
const HOUR = 3_600_000
const GIRONA = { id: 'girona', name: 'Girona', lat: 41.98, lon: 2.8, markets: ['lleo'], shiftStart: null, shiftEnd: null }
const square: Market = {
  id: 'lleo',
  name: 'Lleó',
  zone: {
    type: 'Polygon',
    coordinates: [
      [
        [2.7, 41.9],
        [2.9, 41.9],
        [2.9, 42.1],
        [2.7, 42.1],
        [2.7, 41.9],
      ],
    ],
  },
}

/** The store, in memory. */
class Store {
  readonly vans: RegisteredVan[] = []
  readonly mutes: MuteView[] = []
  reads = 0
  away = false
  async read(): Promise<StoredDispatch> {
    this.reads += 1
    if (this.away) throw new Error('the store is away')
    return {
      depots: [GIRONA],
      registered: [...this.vans],
      markets: [square],
      shifts: [],
      mutes: [...this.mutes],
      episodes: [],
      usual: null,
    }
  }
  async readRegister(): Promise<StoredRegister> {
    return {
      depots: [GIRONA],
      vans: this.vans,
      markets: [square],
      shifts: [{ depotId: 'girona', day: 'mon', start: '06:00', end: '14:00' }],
    }
  }
  async tryImport(_kind: string, csv: string): Promise<ImportView> {
    return csv === 'bad' ? { problems: [{ line: 2, problem: 'no' }] } : { added: 1, changed: 0, same: 0 }
  }
  readonly imported: string[] = []
  importCsv(kind: string, csv: string): Promise<ImportView> {
    this.imported.push(csv)
    return this.tryImport(kind, csv)
  }
  async clearShifts(depotId: string) {
    this.imported.push(`no calendar of ${depotId}`)
    return true
  }
  async removePlace(_kind: string, id: string) {
    if (id === 'girona') throw new RegisterImportError([{ line: 1, problem: 'a have this depot' }])
    return id === 'olot'
  }
  async putVan(van: RegisteredVan): Promise<void> {
    if (van.depotId === 'nowhere') throw new RegisterImportError([{ line: 1, problem: 'depot "nowhere" is not registered' }])
    this.vans.push(van)
  }
  async mute(_scope: Scope, command: Omit<MuteView, 'id'>): Promise<number | null> {
    if (command.subject === 'nobody') return null
    this.mutes.push({ ...command, id: this.mutes.length + 1 })
    return this.mutes.length
  }
  async unmute(_scope: Scope, id: number, _actor: Actor): Promise<boolean> {
    const at = this.mutes.findIndex((mute) => mute.id === id)
    if (at >= 0) this.mutes.splice(at, 1)
    return at >= 0
  }
  async readHandOver() {
    return { changes: [], more: false }
  }
  async readTravelTotals() {
    return []
  }
  async computeUsual() {
    return false
  }
}

let store: Store
let state: MaskingState
let panel: PanelServer
let url: string
const troubles: unknown[] = []
beforeEach(async () => {
  store = new Store()
  state = new MaskingState({ clock: 'machine', placeOf: () => null })
  panel = await startPanelServer({
    ...{ host: '127.0.0.1', port: 0, allowedNames: [], state, source: new StillSource(), metrics: new Registry(), mapStyleUrl: null },
    signIn: testSignIn([sessionFor('Pau', 'dispatcher')]),
    extensions: [
      dispatchExtension({
        store,
        state,
        limits: EMPTY_DISPATCH.limits,
        nowMs: () => NOW,
        onTrouble: (error) => troubles.push(error),
        everyMs: HOUR,
      }),
    ],
    pages: async () => async (_request, response) => void response.end('page'),
    onError: (error) => troubles.push(error),
    machineNowMs: () => NOW,
  })
  url = `http://127.0.0.1:${panel.port}`
})
afterEach(async () => {
  await panel.close()
  expect(troubles.splice(0)).toEqual([])
})

async function post(
  path: string,
  body: unknown,
  who?: string,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const headers = { 'content-type': 'application/json', origin: url, ...(who === undefined ? {} : { cookie: `who=${who}` }) }
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const held = () => state.snapshot(EVERYTHING, NOW)

describe('the register over REST', () => {
  const van = { van: 'a', name: 'A', plate: null, depotId: 'girona', inServiceFrom: '2026-03-29', inServiceTo: '2026-10-25' }

  it('a changed van is in the panel before it is answered, days whole on both days when clocks change', async () => {
    expect((await post('/api/register/van', van)).status).toBe(201)
    expect(held().registered).toEqual([
      {
        van: 'a',
        name: 'A',
        plate: null,
        depotId: 'girona',
        inServiceFromMs: Date.UTC(2026, 2, 28, 23),
        inServiceToMs: Date.UTC(2026, 9, 25, 23),
      },
    ])
  })

  it.each([
    [{ inServiceTo: '2026-03-28' }, /last day in service is before/],
    [{ inServiceTo: '2026-02-30' }, /does not fit/],
    [{ depotId: 'nowhere' }, /cannot be stored/],
    [{ name: '' }, /does not fit/],
    [{ name: 'a\u0000' }, /does not fit/],
    [{ colour: 'red' }, /does not fit/],
  ])('refuses %j', async (over, expected) => {
    const { status, body } = await post('/api/register/van', { ...van, ...over })
    expect([status, body.error]).toEqual([400, expect.stringMatching(expected)])
    expect(store.vans).toEqual([])
  })

  it.each([
    [
      'depot',
      { id: 'olot', name: 'Olot', lat: 42.18, lon: 2.49, markets: ['a', 'b'], shiftStart: null, shiftEnd: null },
      'id,name,lat,lon,markets,shift_start,shift_end\r\nolot,Olot,42.18,2.49,a;b,,\r\n',
    ],
    ['market', { id: 'a', name: 'A', zone: null }, 'id,name,zone\r\na,A,\r\n'],
    [
      'shifts',
      { depotId: 'olot', shifts: [{ day: 'mon', start: '06:00', end: '14:00' }] },
      'depot,day,start,end\r\nolot,mon,06:00,14:00\r\n',
    ],
    ['shifts', { depotId: 'olot', shifts: [] }, 'no calendar of olot'],
  ])('a form of a %s is stored as a file of one', async (what, body, csv) => {
    expect(await post(`/api/register/${what}`, body)).toMatchObject({ status: 201, body })
    expect(store.imported).toEqual([csv])
    expect((await post(`/api/register/${what}`, body, 'Pau')).status).toBe(403)
  })

  it.each([
    ['depot', { lat: 91 }, /does not fit/],
    ['depot', { shiftStart: '24:00' }, /does not fit/],
    ['depot', { markets: ['a;b'] }, /does not fit/],
  ])('a form that does not fit is refused: %s %j', async (what, over, expected) => {
    const depot = { id: 'olot', name: 'Olot', lat: 42.18, lon: 2.49, markets: [], shiftStart: null, shiftEnd: null }
    const { status, body } = await post(`/api/register/${what}`, { ...depot, ...over })
    expect([status, body.error]).toEqual([400, expect.stringMatching(expected)])
    expect(store.imported).toEqual([])
  })

  it('a place is removed, unless it is in use or there is none', async () => {
    expect(await post('/api/register/remove', { kind: 'depots', id: 'olot' })).toMatchObject({ status: 200 })
    expect(await post('/api/register/remove', { kind: 'depots', id: 'nowhere' })).toMatchObject({ status: 404 })
    expect(await post('/api/register/remove', { kind: 'depots', id: 'girona' })).toMatchObject({
      status: 400,
      body: { error: 'girona cannot be removed', hint: 'a have this depot' },
    })
  })

  it('gives the zones of the markets as GeoJSON, those without one left out', async () => {
    const response = await fetch(`${url}/api/zones.geojson`)
    expect(response.headers.get('content-type')).toMatch(/^application\/geo\+json/)
    expect(await response.json()).toEqual({
      ...{ type: 'FeatureCollection', nowMs: NOW },
      features: [{ type: 'Feature', properties: { market: 'lleo', name: 'Lleó' }, geometry: square.zone }],
    })
  })

  it('is changed by administrators only, and a bad file is told line by line', async () => {
    for (const [path, body] of [
      ['/api/register/van', van],
      ['/api/register/import', { kind: 'vans', csv: 'van\na\n' }],
      ['/api/register/preview', { kind: 'vans', csv: 'van\na\n' }],
    ] as const) {
      expect((await post(path, body, 'Pau')).status).toBe(403)
    }
    expect(await post('/api/register/preview', { kind: 'vans', csv: 'bad' })).toEqual({
      status: 200,
      body: { problems: [{ line: 2, problem: 'no' }] },
    })
    expect((await post('/api/register/import', { kind: 'vans', csv: 'x'.repeat(100_000) })).status).toBe(201)
    const seen = async (who: string) =>
      (await (await fetch(`${url}/api/register`, { headers: { cookie: `who=${who}` } })).json()) as { mayEdit: boolean }
    expect((await seen('Pau')).mayEdit).toBe(false)
  })

  it('goes out as CSV', async () => {
    const response = await fetch(`${url}/api/register.csv?kind=shifts`)
    expect(await response.text()).toBe('depot,day,start,end\r\ngirona,mon,06:00,14:00\r\n')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="km0-shifts-2026-11-30.csv"')
    expect((await fetch(`${url}/api/register.csv?kind=users`)).status).toBe(400)
  })
})

describe('mutes over REST', () => {
  const command = { kind: 'van', subject: 'a', untilMs: NOW + HOUR, note: 'taller' }

  it('are in the panel at once, with who and until when, until lifted', async () => {
    const { status, body } = await post('/api/mutes', command, 'Pau')
    expect([status, body.id]).toEqual([201, 1])
    expect(held().dispatch?.mutes).toEqual([
      { ...command, id: 1, atMs: NOW, actor: { id: 'test:Pau', name: 'Pau', roles: ['dispatcher'] } },
    ])
    expect((await post('/api/mutes/lift', { id: 1 })).status).toBe(200)
    expect(held().dispatch?.mutes).toEqual([])
    expect((await post('/api/mutes/lift', { id: 1 })).status).toBe(404)
  })

  it.each([
    [{ untilMs: NOW }, 400],
    [{ untilMs: NOW + 32 * 24 * HOUR }, 400],
    [{ kind: 'market' }, 400],
    [{ subject: '' }, 400],
    [{ subject: 'nobody' }, 404],
  ])('refuse %j', async (over, status) => {
    expect((await post('/api/mutes', { ...command, ...over })).status).toBe(status)
  })

  it('a store that is away is told once, and the panel goes on with what it has', async () => {
    await post('/api/mutes', command)
    store.away = true
    await post('/api/mutes', { ...command, subject: 'b' })
    await post('/api/mutes', { ...command, subject: 'c' })
    expect(troubles.splice(0)).toHaveLength(1)
    expect(held().dispatch?.mutes.map(({ subject }) => subject)).toEqual(['a'])
    store.away = false
    await post('/api/mutes', { ...command, subject: 'd' })
    expect(held().dispatch?.mutes).toHaveLength(4)
  })
})

describe('since when one takes over', () => {
  it.each([
    ['11:30', Date.UTC(2026, 10, 30, 10, 30)],
    ['12:00', NOW],
    // Not yet today: yesterday.
    ['12:01', Date.UTC(2026, 10, 29, 11, 1)],
    [null, NOW - 8 * HOUR],
    [String(NOW - 5), NOW - 5],
  ])('%s', (text, expected) => expect(sinceOf(text, NOW)).toBe(expected))

  it.each(['24:00', 'noon', '1', String(NOW + 1), '-1'])('%s is refused', (text) => {
    expect(() => sinceOf(text, NOW)).toThrow(expect.objectContaining({ status: 400 }))
  })

  it('is what the answer says', async () => {
    const view = (await (await fetch(`${url}/api/handover?from=11:30`)).json()) as { fromMs: number }
    expect(view.fromMs).toBe(Date.UTC(2026, 10, 30, 10, 30))
  })
})

describe('who is outside the zones', () => {
  const facts = { markets: [square], shifts: [], mutes: [], episodes: [], usual: null }
  const outsideOf = (one: DispatchState) =>
    one.view(
      () => true,
      () => true,
    ).outside

  it('is known of vans whose depot sells in markets that all have one', () => {
    const one = new DispatchState()
    one.apply(facts)
    one.takeDirty()
    one.locate('in', GIRONA, 2.8, 42)
    expect(one.takeDirty()).toBe(false)
    one.locate('out', GIRONA, 2.6, 42)
    one.locate('unknown', undefined, 2.6, 42)
    one.locate('half', { ...GIRONA, id: 'half', markets: ['lleo', 'other'] }, 2.6, 42)
    one.locate('none', { ...GIRONA, id: 'none', markets: [] }, 2.6, 42)
    expect([outsideOf(one), one.takeDirty()]).toEqual([['out'], true])
    one.locate('out', GIRONA, 2.8, 42)
    expect([outsideOf(one), one.takeDirty()]).toEqual([[], true])
  })

  it('follows the register: another zone, another depot, seen by scope', () => {
    const live = {
      lat: 42,
      lon: 2.8,
      data_ms: NOW,
      arribada_ms: NOW,
      velocitat_mm_s: null,
      rumb_graus: null,
      dubtos: false,
      estat: 'aturada' as const,
    }
    state.apply({
      kind: 'register',
      depots: [GIRONA],
      registered: [{ van: 'a', name: 'a', plate: null, depotId: 'girona', inServiceFromMs: null, inServiceToMs: null }],
    })
    state.apply({ kind: 'point', value: { ...live, repartidor: 'a' }, source: null })
    state.apply({ kind: 'dispatch', facts })
    expect(held().dispatch?.outside).toEqual([])
    const far: Market = {
      ...square,
      zone: {
        type: 'Polygon',
        coordinates: [
          [
            [0, 41],
            [1, 41],
            [1, 42],
            [0, 41],
          ],
        ],
      },
    }
    expect(state.apply({ kind: 'dispatch', facts: { ...facts, markets: [far] } })).toBe(true)
    expect(held().dispatch?.outside).toEqual(['a'])
    expect(state.snapshot({ kind: 'limited', depots: ['olot'], markets: [] }, NOW).dispatch?.outside).toEqual([])
    expect(state.apply({ kind: 'dispatch', facts: { ...facts, markets: [far] } })).toBe(false)
    state.takeChanges(NOW)
    expect(state.takeChanges(NOW).dispatch).toBe(false)
  })
})

describe('settings', () => {
  it('have the defaults that are documented', () => {
    const settings = Object.fromEntries(Object.entries(dispatchEnvironment).map(([name, schema]) => [name, schema.parse(undefined)]))
    expect(dispatchLimits(settings as never)).toEqual(EMPTY_DISPATCH.limits)
  })

  it.each(['15,3,60', '3,15', '0,1,2', '3,15,60,90', 'a,b,c', '3,15,2000', '3,4.5,60'])('refuse the steps %s', (text) => {
    expect(dispatchEnvironment.KM0_SILENCE_STEPS_MIN.safeParse(text).success).toBe(false)
  })
})
