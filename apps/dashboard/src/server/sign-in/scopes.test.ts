import { DEFAULT_POSITIONS_SETTINGS, EVERYTHING, type PanelSnapshot, type Scope, STOCK_SOCKET } from '@km0/contracts'
import { Registry } from '@km0/runtime'
import { io, type Socket } from 'socket.io-client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { EventStreams } from '../data-out/event-stream.ts'
import { exportsRoutes } from '../data-out/exports-rest.ts'
import { subscriptionsRoutes } from '../data-out/subscriptions-rest.ts'
import { daysRoutes } from '../days/days-rest.ts'
import { dispatchExtension } from '../dispatch/dispatch-extension.ts'
import { lakeExtension } from '../lake/lake-extension.ts'
import { mapRoutes } from '../map/map-rest.ts'
import { MaskingState } from '../masking/masking-state.ts'
import type { PanelEvent } from '../panel-events.ts'
import { type PanelExtension, type PanelServer, startPanelServer } from '../panel-server.ts'
import type { PanelSource } from '../panel-source.ts'
import { stockExtension } from '../stock/stock-extension.ts'
import { ACCESS } from './access.ts'
import { sessionFor, type TestSignIn, testSignIn } from './sessions.testbench.ts'
import { sessionView } from './sign-in-rest.ts'
import { SIGNED_OUT_EVENT } from './socket-guard.ts'

const NOW = 1_789_380_000_000
const MINE = 'furgoneta-meva'
const OTHER = 'furgoneta-aliena'
const SALT: Scope = { kind: 'limited', depots: ['salt'], markets: [] }
const MASKED: Scope = { ...EVERYTHING, masked: true }

/**
 * How each scoped route is called. A route that is new in ACCESS must be here too: it is called by somebody who sees one depot, and then either
 * its answer holds no van of another depot, or what it asked of a store was asked with that scope, or both.
 */
const CALLS: Readonly<Record<string, { readonly query?: string; readonly body?: object }>> = {
  'GET /api/panel': {},
  'GET /api/trail': { query: `?van=${OTHER}` },
  'GET /api/outages': {},
  'POST /api/acknowledgements': { body: { van: OTHER, sinceMs: NOW, note: '' } },
  'GET /api/register': {},
  'GET /api/register.csv': { query: '?kind=vans' },
  'GET /api/zones.geojson': {},
  'POST /api/mutes': { body: { kind: 'van', subject: OTHER, untilMs: null, note: '' } },
  'POST /api/mutes/lift': { body: { id: 1 } },
  'GET /api/handover': { query: `?since=${NOW - 3_600_000}` },
  'GET /api/distances/totals': {},
  'GET /api/stock': {},
  'GET /api/stock/history': { query: '?product=pa&market=salt' },
  'POST /api/stock/acknowledgements': { body: { product: 'pa', market: 'salt', startMs: NOW, note: '' } },
  'GET /api/trails': {},
  'GET /api/points': { query: `?van=${OTHER}` },
  'GET /api/van-day': { query: `?van=${OTHER}&day=2026-09-14` },
  'GET /api/van-day/track': { query: `?van=${OTHER}&day=2026-09-14` },
  'GET /api/replay': { query: `?from=${NOW - 3_600_000}&to=${NOW}` },
  'GET /api/replay/hour': { query: `?from=${NOW - (NOW % 3_600_000)}` },
  'GET /api/days': {},
  'GET /api/days.csv': {},
  'GET /api/days/van': { query: `?van=${OTHER}&day=2026-09-14` },
  'GET /api/fleet.csv': {},
  'GET /api/fleet.geojson': {},
  'GET /api/no-signal.csv': {},
  'GET /api/no-signal.geojson': {},
  'GET /api/distances.csv': {},
  'GET /api/distances.geojson': {},
  'GET /api/stock.csv': {},
  'GET /api/track.csv': { query: `?van=${OTHER}` },
  'GET /api/track.geojson': { query: `?van=${OTHER}` },
  'GET /api/events': {},
  'GET /api/subscriptions': {},
  'POST /api/subscriptions': { body: { name: 'x', channel: 'folder', reportMinutes: 60 } },
  'POST /api/subscriptions/remove': { body: { id: 1 } },
  'POST /api/subscriptions/test': { body: { id: 1 } },
  'POST /api/deliveries/again': { body: { id: 1 } },
}

/** Scopes that stores were asked with, of the call that is under way. */
const asked: Scope[] = []
const isScope = (value: unknown): value is Scope =>
  typeof value === 'object' && value !== null && 'kind' in value && (value.kind === 'all' || value.kind === 'limited')
/** A scope, or one in what is asked, or in a viewer. */
function noteScopes(value: unknown, depth = 0): void {
  if (isScope(value)) asked.push(value)
  else if (typeof value === 'object' && value !== null && depth < 2) for (const part of Object.values(value)) noteScopes(part, depth + 1)
}
/** A store that notes for whom it is asked, and then is away. */
const store = new Proxy({} as never, {
  get:
    () =>
    async (...given: unknown[]) => {
      for (const one of given) noteScopes(one)
      throw new Error('away')
    },
})

const source: PanelSource = {
  start: async (give) => {
    const depot = { lat: 42, lon: 2.8, markets: [], shiftStart: null, shiftEnd: null }
    const registered = { plate: null, inServiceFromMs: null, inServiceToMs: null }
    give({
      kind: 'register',
      depots: ['salt', 'olot'].map((id) => ({ ...depot, id, name: id })),
      registered: [
        { ...registered, van: MINE, name: MINE, depotId: 'salt' },
        { ...registered, van: OTHER, name: OTHER, depotId: 'olot' },
      ],
    })
    for (const [partition, van] of [MINE, OTHER].entries()) for (const event of eventsOf(van, partition)) give(event)
  },
  stop: async () => undefined,
  acknowledge: async () => true,
  readTrail: async () => [],
  readOutages: async (scope, fromMs, toMs) => {
    asked.push(scope)
    return { fromMs, toMs, outages: [], silences: { counted: 0, overOutages: 0 } }
  },
  endOffsets: () => null,
  health: () => ({ kafka: { status: 'ok' } }),
}

function eventsOf(van: string, partition: number): PanelEvent[] {
  const from = { epoch: 1, partition, offset: 1 }
  return [
    {
      kind: 'point',
      source: from,
      value: {
        ...{ repartidor: van, lat: 42, lon: 2.8, data_ms: NOW, arribada_ms: NOW, velocitat_mm_s: null, rumb_graus: null },
        ...{ dubtos: false, estat: 'en-moviment' },
      },
    },
    { kind: 'acknowledgement', view: { van, sinceMs: NOW, note: `nota de ${van}`, actor: sessionFor('Pau').actor, atMs: NOW } },
  ]
}

let signIn: TestSignIn
let panel: PanelServer
let state: MaskingState
let url: string
const sockets: Socket[] = []
let newestEvent = 0
const events = {
  // Something new each time somebody looks.
  newestEvent: async () => ++newestEvent,
  findEvent: async () => null,
  readEvents: async (scope: Scope) => {
    asked.push(scope)
    return []
  },
}
const streams = new EventStreams({
  store: events as never,
  onTrouble: () => undefined,
  lookEveryMs: 20,
  state: new MaskingState({ clock: 'machine', placeOf: () => null }),
})

beforeAll(async () => {
  signIn = testSignIn(
    [
      sessionFor('limited', 'dispatcher', SALT),
      sessionFor('all', 'administrator'),
      sessionFor('token', 'reader', SALT),
      sessionFor('masked', 'analyst', MASKED),
      { ...sessionFor('analyst', 'analyst'), exportScope: MASKED },
    ],
    null,
  )
  state = new MaskingState({ clock: 'machine', placeOf: () => null })
  const nowMs = () => NOW
  const parts = { serving: store, store, lake: store, stock: store, state, nowMs, machineNowMs: nowMs }
  const extensions: PanelExtension[] = [
    stockExtension(store, () => undefined, nowMs),
    { ...dispatchExtension({ ...parts, limits: {} as never, onTrouble: () => undefined }), attach: () => undefined },
    lakeExtension({ ...parts, endOffsets: () => null, rules: DEFAULT_POSITIONS_SETTINGS, outageAfterMs: 60_000 }),
    { routes: daysRoutes(parts) },
    { routes: mapRoutes({ ...parts, recentPoints: async () => ({ leaked: OTHER }) as never }) },
    { routes: exportsRoutes(parts) },
    { routes: subscriptionsRoutes({ ...parts, channels: async () => ({ webhook: true, email: true, folder: true }) as never }) },
    { routes: streams.routes, stop: () => streams.stop() },
  ]
  panel = await startPanelServer({
    ...{ host: '127.0.0.1', port: 0, allowedNames: [], state, source, extensions, mapStyleUrl: null, machineNowMs: nowMs },
    signIn: { ...signIn, socketCheckMs: 60_000 },
    metrics: new Registry(),
    pages: async () => async (_request, response) => void response.end('page'),
    onError: () => undefined,
  })
  url = `http://127.0.0.1:${panel.port}`
  await vi.waitFor(async () => expect((await snapshotOf('all')).registered).toHaveLength(2))
})
afterAll(async () => {
  for (const socket of sockets) socket.disconnect()
  await panel.close()
})

const as = (who: string) => ({ cookie: `who=${who}`, origin: url })
const snapshotOf = async (who: string) => (await (await fetch(`${url}/api/panel`, { headers: as(who) })).json()) as PanelSnapshot

describe('somebody who sees one depot', () => {
  test('is tried on every scoped route', () => {
    const scoped = Object.entries(ACCESS).filter(([, { vans }]) => vans === 'scoped')
    expect(scoped.map(([route]) => route).sort()).toEqual(Object.keys(CALLS).sort())
  })

  test.each(Object.entries(CALLS))('%s', async (route, { query = '', body }) => {
    const [method = '', path = ''] = route.split(' ')
    asked.length = 0
    const abort = new AbortController()
    const response = await fetch(`${url}${path}${query}`, {
      method,
      headers: { ...as('limited'), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: abort.signal,
    })
    // Anything else would say that the call of this table is wrong, or that nobody answers it.
    expect([200, 201, 404, 503]).toContain(response.status)
    const isStream = response.headers.get('content-type')?.includes('event-stream') === true
    if (isStream) await expect.poll(() => asked.length).toBeGreaterThan(0)
    const text = isStream ? '' : await response.text()
    abort.abort()
    if (response.status === 404) expect(text).not.toContain('there is no /api')
    // A refusal may say the name that was asked for, not what is known of it.
    if (response.status < 400) expect(text).not.toContain(OTHER)
    expect(asked.filter((scope) => JSON.stringify(scope) !== JSON.stringify(SALT))).toEqual([])
    const proof = asked.length > 0 || response.status === 404 || text.includes(MINE) || response.status === 200
    expect(proof, `${route} neither asked a store nor answered`).toBe(true)
  })

  test('gets their own', async () => {
    const snapshot = await snapshotOf('limited')
    expect(snapshot.points.map(({ van }) => van)).toEqual([MINE])
    expect(snapshot.depots.map(({ id }) => id)).toEqual(['salt'])
    expect(snapshot.acknowledgements.map(({ van }) => van)).toEqual([MINE])
    const csv = await (await fetch(`${url}/api/fleet.csv`, { headers: as('limited') })).text()
    expect(csv).toContain(MINE)
    const byToken = await fetch(`${url}/api/panel`, { headers: { authorization: 'Bearer token' } })
    expect(((await byToken.json()) as PanelSnapshot).points.map(({ van }) => van)).toEqual([MINE])
  })
})

describe('somebody who sees pseudonyms', () => {
  const GETS = Object.entries(CALLS).filter(([route]) => route.startsWith('GET ') && route !== 'GET /api/events')

  test.each(GETS)('gets no name of a van by %s, or is refused', async (route, { query = '' }) => {
    const path = route.slice('GET '.length)
    // By the name that they know it by; its own is nobody's to them.
    const name = state.nameFor(MASKED, MINE)
    const response = await fetch(`${url}${path}${query.replace(OTHER, name)}`, { headers: as('masked') })
    const text = await response.text()
    expect(response.status).toBe(ACCESS[route]?.masks === true ? (text.includes('away') || response.status === 503 ? 503 : 200) : 403)
    expect(`${text} ${response.headers.get('content-disposition')}`).not.toMatch(/furgoneta|nota de/)
    if (route === 'GET /api/panel' || route === 'GET /api/fleet.csv') expect(text).toContain(name)
    const real = await fetch(`${url}/api/trail?van=${MINE}`, { headers: as('masked') })
    expect(real.status).toBe(404)
  })

  test('of files alone: the panel names vans, and files that are taken away do not', async () => {
    expect((await snapshotOf('analyst')).points.map(({ van }) => van).sort()).toEqual([OTHER, MINE].sort())
    for (const file of ['fleet.csv', 'fleet.geojson', 'no-signal.csv', 'distances.csv']) {
      const text = await (await fetch(`${url}/api/${file}`, { headers: as('analyst') })).text()
      expect(text).not.toContain('furgoneta')
    }
    const view = sessionView({ ...sessionFor('analyst', 'analyst'), exportScope: MASKED }, NOW).session
    expect(view).toMatchObject({ filesMasked: true, scope: EVERYTHING })
    expect(view).not.toHaveProperty('exportScope')
    expect((await fetch(`${url}/api/register.csv?kind=vans`, { headers: as('analyst') })).status).toBe(403)
  })
})

describe('sockets', () => {
  const connect = (namespace: string, headers: Record<string, string>) => {
    const socket = io(`${url}${namespace}`, { transports: ['websocket'], reconnection: false, extraHeaders: headers, forceNew: true })
    sockets.push(socket)
    return socket
  }
  const told = <Value>(socket: Socket, event: string) => new Promise<Value>((resolve) => socket.once(event, resolve))

  test.each(['/', STOCK_SOCKET])('in %s nobody comes in without a session', async (namespace) => {
    for (const headers of [{}, as('nobody'), { authorization: 'Bearer nothing' }] as Record<string, string>[])
      expect((await told<Error>(connect(namespace, headers), 'connect_error')).message).toBe('sign-in')
  })

  test('tell of one depot alone, in snapshots and afterwards', async () => {
    const socket = connect('/', as('limited'))
    const heard: string[] = []
    socket.onAny((...given) => heard.push(JSON.stringify(given)))
    await told(socket, 'snapshot')
    await told(socket, 'delta')
    expect(heard.join()).toContain(MINE)
    expect(heard.join()).not.toContain(OTHER)
    const masked = connect('/', as('masked'))
    const seen: string[] = []
    masked.onAny((...given) => seen.push(JSON.stringify(given)))
    await told(masked, 'snapshot')
    await told(masked, 'delta')
    expect(seen.join()).toContain(state.nameFor(MASKED, OTHER))
    expect(seen.join()).not.toMatch(/furgoneta|nota de/)
  })

  test('in every namespace are told and closed when their session ends, or sees something else', async () => {
    for (const change of ['ends', 'sees more']) {
      const session = sessionFor(change, 'dispatcher', SALT)
      signIn.people.set(change, session)
      const both = ['/', STOCK_SOCKET].map((namespace) => connect(namespace, as(change)))
      await Promise.all(both.map((socket) => told(socket, 'connect')))
      const [out, closed] = [both.map((socket) => told(socket, SIGNED_OUT_EVENT)), both.map((socket) => told<string>(socket, 'disconnect'))]
      if (change === 'ends') signIn.people.delete(change)
      else signIn.people.set(change, { ...session, scope: EVERYTHING })
      signIn.changed()
      await Promise.all(out)
      expect(await Promise.all(closed)).toEqual(['io server disconnect', 'io server disconnect'])
    }
    expect((await told<Error>(connect('/', as('ends')), 'connect_error')).message).toBe('sign-in')
    await told(connect('/', as('sees more')), 'snapshot')
  })

  test('a stream of events ends with its session too', async () => {
    signIn.people.set('listens', sessionFor('listens', 'dispatcher', SALT))
    const response = await fetch(`${url}/api/events`, { headers: as('listens') })
    signIn.people.delete('listens')
    signIn.changed()
    await expect(response.text()).rejects.toThrow()
  })
})
