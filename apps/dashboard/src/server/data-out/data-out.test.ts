import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { EVERYTHING, type PlatformEvent, type Scope } from '@km0/contracts'
import { closeServer } from '@km0/runtime'
import { newSecretsKey, openSecretBox, WEBHOOK_SECRET } from '@km0/serving'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { geoJsonOf } from '../../features/data-out/table-files.ts'
import { Refusal } from '../guard.ts'
import { MaskingState } from '../masking/masking-state.ts'
import type { Routes } from '../rest.ts'
import { keepSession } from '../sign-in/session.ts'
import { sessionFor } from '../sign-in/sessions.testbench.ts'
import { answerProblem } from './answer-check.testbench.ts'
import { EventStreams } from './event-stream.ts'
import { stockTable } from './export-tables.ts'
import { exportsRoutes } from './exports-rest.ts'
import { type SubscriptionsOptions, subscriptionsRoutes } from './subscriptions-rest.ts'

const NOW = 1_789_380_000_000
const GIRONA: Scope = { kind: 'limited', depots: ['girona'], markets: [] }

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Serves routes to somebody with a scope; resolves to its address. */
async function serve(routes: Routes, scope: Scope = EVERYTHING): Promise<string> {
  const server = createServer((request: IncomingMessage, response) => {
    const url = new URL(request.url ?? '/', 'http://panel')
    keepSession(request, sessionFor('Marta', 'dispatcher', scope))
    Promise.resolve(routes.get(url.pathname)?.[request.method ?? '']?.(request, response, url)).catch((error: unknown) => {
      response.writeHead(error instanceof Refusal ? error.status : 500).end(error instanceof Error ? error.message : '')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => closeServer(server))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function stateOf(): MaskingState {
  const state = new MaskingState({ clock: 'machine', placeOf: () => 'Girona' })
  state.apply({
    kind: 'register',
    depots: [{ id: 'girona', name: 'Girona', lat: 42, lon: 2, markets: [], shiftStart: null, shiftEnd: null }],
    registered: [{ van: 'a', name: '=A,1', plate: null, depotId: 'girona', inServiceFromMs: null, inServiceToMs: null }],
  })
  for (const [van, ageMs] of [
    ['a', 5_000],
    ['b', 600_000],
  ] as const) {
    state.apply({
      kind: 'point',
      source: { epoch: 1, partition: 0, offset: 1 },
      value: {
        ...{ repartidor: van, lat: 41.98, lon: 2.82, data_ms: NOW - ageMs, arribada_ms: NOW - ageMs, velocitat_mm_s: 13_900 },
        ...{ rumb_graus: 90, dubtos: false, estat: 'en-moviment' },
      },
    })
  }
  return state
}

describe('exports', () => {
  const exportsOf = (scope?: Scope) =>
    serve(
      exportsRoutes({
        state: stateOf(),
        serving: {
          readTrack: async () => [
            [2.7, 42, NOW - 60_000],
            [2.8, 42, NOW],
          ],
        },
        stock: { read: async () => ({ episodes: [], low: [], notices: [], markets: [], watermarkMs: null }) },
        machineNowMs: () => NOW,
      }),
      scope,
    )

  it('hold what is on the screen, of the vans that somebody may see', async () => {
    const all = await (await fetch(`${await exportsOf()}/api/fleet.csv`)).text()
    expect(all.split('\r\n').map((line) => line.split(',')[0])).toEqual(['van', 'a', 'b', ''])
    expect(all).toContain(
      `a,"'=A,1",,girona,moving,41.98,2.82,Girona,${new Date(NOW - 5_000).toISOString()},${NOW - 5_000},50,90,,false,0\r\n`,
    )
    const some = await (await fetch(`${await exportsOf(GIRONA)}/api/fleet.csv`)).text()
    expect(some.split('\r\n').map((line) => line.split(',')[0])).toEqual(['van', 'a', ''])
  })

  it('respect the filter', async () => {
    const url = await exportsOf()
    const rowsOf = async (query: string) => (await (await fetch(`${url}/api/fleet.csv?${query}`)).text()).split('\r\n').length - 2
    expect(await Promise.all(['van=a,b', 'van=a&van=b', 'van=b', 'depot=girona', 'state=moving', 'van=nobody'].map(rowsOf))).toEqual([
      2, 2, 1, 1, 1, 0,
    ])
  })

  it('lead with a byte order mark where asked for', async () => {
    const url = await exportsOf()
    const bytes = async (path: string) => [...new Uint8Array(await (await fetch(url + path)).arrayBuffer()).slice(0, 3)]
    expect(await bytes('/api/no-signal.csv?bom=1')).toEqual([0xef, 0xbb, 0xbf])
    expect(await bytes('/api/no-signal.csv')).toEqual([...Buffer.from('van')])
  })

  it('as GeoJSON have a point where there is a place, longitude first', async () => {
    const answer = await fetch(`${await exportsOf()}/api/fleet.geojson?van=a`)
    expect(answer.headers.get('content-type')).toMatch('application/geo+json')
    expect(await answer.json()).toMatchObject({
      type: 'FeatureCollection',
      features: [{ geometry: { type: 'Point', coordinates: [2.82, 41.98] }, properties: { van: 'a', name: '=A,1', state: 'moving' } }],
    })
    expect(geoJsonOf({ columns: ['van', 'lat', 'lon'], rows: [['c', null, null]] })).toMatchObject({ features: [{ geometry: null }] })
  })

  it('of a track are a line or its points, of a van that somebody may see', async () => {
    const url = await exportsOf()
    expect(await (await fetch(`${url}/api/track.geojson?van=a`)).json()).toMatchObject({
      features: [
        {
          geometry: {
            type: 'LineString',
            coordinates: [
              [2.7, 42],
              [2.8, 42],
            ],
          },
          properties: { van: 'a' },
        },
      ],
    })
    expect((await (await fetch(`${url}/api/track.csv?van=a&day=2026-09-14`)).text()).split('\r\n')).toHaveLength(4)
    const statuses = ['van=', 'van=nobody', 'van=a&day=2026-02-31'].map(
      async (query) => (await fetch(`${url}/api/track.csv?${query}`)).status,
    )
    expect(await Promise.all(statuses)).toEqual([400, 404, 400])
    expect((await fetch(`${await exportsOf(GIRONA)}/api/track.csv?van=b`)).status).toBe(404)
  })

  it('of stock are of a market', () => {
    const episode = {
      product: 'pa',
      startMs: NOW,
      endMs: null,
      minimum: 1,
      threshold: 9,
      lastWindowMs: NOW,
      stock: 2,
      stockMs: NOW,
      acknowledgement: null,
    }
    const episodes = [
      { ...episode, market: 'girona' },
      { ...episode, market: 'vic' },
    ]
    expect(stockTable(episodes, null).rows).toHaveLength(2)
    expect(stockTable(episodes, 'vic').rows.map((row) => row[1])).toEqual(['vic'])
  })
})

/** Events in memory, as the store has them. */
class Events {
  readonly rows: PlatformEvent[] = []
  tell(van: string): void {
    const id = (this.rows.at(-1)?.id ?? 0) + 1
    this.rows.push({ id, key: `returned/${van}/${id}`, kind: 'returned', van, atMs: NOW, foundAtMs: NOW + id, sinceMs: 1, endedMs: 2 })
  }
  async readEvents(scope: Scope, { afterId, limit }: { afterId: number; limit: number }) {
    const seen = (event: PlatformEvent) => scope.kind === 'all' || ('van' in event && event.van === 'mine')
    return this.rows.filter((event) => event.id > afterId && seen(event)).slice(0, limit)
  }
  async findEvent(_scope: Scope, key: string) {
    return this.rows.find((event) => event.key === key)?.id ?? null
  }
  async newestEvent(beforeMs: number | null = null) {
    return Math.max(0, ...this.rows.filter(({ foundAtMs }) => beforeMs === null || foundAtMs < beforeMs).map(({ id }) => id))
  }
}

/** What a client of server-sent events knows. */
class Client {
  text = ''
  lastId: string | null = null
  #abort = new AbortController()

  async open(url: string, headers: Record<string, string> = {}): Promise<number> {
    this.#abort = new AbortController()
    const response = await fetch(url, { headers, signal: this.#abort.signal })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    void (async () => {
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) this.text += part.value
    })().catch(() => undefined)
    return response.status
  }
  get vans(): string[] {
    return [...this.text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data).van)
  }
  get id(): string {
    return [...this.text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
  }
  close(): void {
    this.#abort.abort()
  }
}

function closeAll(...clients: readonly Client[]): void {
  for (const client of clients) client.close()
}

describe('the stream of events', () => {
  const streamOf = async (events: Events, scope?: Scope, more: object = {}) => {
    const streams = new EventStreams({
      store: events,
      state: new MaskingState({ clock: 'machine', placeOf: () => null }),
      onTrouble: () => undefined,
      lookEveryMs: 5,
      ...more,
    })
    ends.push(async () => streams.stop())
    return { streams, url: `${await serve(streams.routes, scope)}/api/events` }
  }

  it('tells what comes, and goes on after the last one without loss or doubles', async () => {
    const events = new Events()
    const { url, streams } = await streamOf(events)
    const client = new Client()
    ends.push(async () => client.close())
    events.tell('before')
    await client.open(url)
    events.tell('one')
    events.tell('two: 1/2')
    await vi.waitFor(() => expect(client.vans).toEqual(['one', 'two: 1/2']))
    client.close()
    await vi.waitFor(() => expect(streams.count).toBe(0))
    events.tell('meanwhile')
    await client.open(url, { 'last-event-id': client.id })
    events.tell('after')
    await vi.waitFor(() => expect(client.vans).toEqual(['one', 'two: 1/2', 'meanwhile', 'after']))
    for (const event of events.rows) expect(answerProblem('GET /api/events', event)).toBeNull()
  })

  it('after a key that is not kept tells all that are; since a time, those found then and later', async () => {
    const events = new Events()
    for (let n = 0; n < 1_203; n += 1) events.tell(`v${n}`)
    const { url } = await streamOf(events)
    const [forgotten, since] = [new Client(), new Client()]
    ends.push(async () => closeAll(forgotten, since))
    await forgotten.open(url, { 'last-event-id': 'returned%2Fgone%2F1' })
    await since.open(`${url}?since=${NOW + 1_202}`)
    await vi.waitFor(() => expect(forgotten.vans).toHaveLength(1_203))
    await vi.waitFor(() => expect(since.vans).toEqual(['v1201', 'v1202']))
    expect(new Set(forgotten.vans).size).toBe(1_203)
  })

  it('tells only what the scope may see, and of the kinds asked for', async () => {
    const events = new Events()
    const { url } = await streamOf(events, GIRONA)
    const [mine, none] = [new Client(), new Client()]
    ends.push(async () => closeAll(mine, none))
    await mine.open(url)
    await none.open(`${url}?kinds=low-stock`)
    events.tell('theirs')
    events.tell('mine')
    await vi.waitFor(() => expect(mine.vans).toEqual(['mine']))
    expect(none.vans).toEqual([])
    const statuses = ['?kinds=x', '?since=yesterday'].map(async (query) => (await fetch(url + query)).status)
    expect(await Promise.all(statuses)).toEqual([400, 400])
    expect((await fetch(url, { headers: { 'last-event-id': '%zz' } })).status).toBe(400)
  })

  it('stays open with a comment now and then, and ends after its life', async () => {
    const { url, streams } = await streamOf(new Events(), EVERYTHING, { heartbeatMs: 1, lifeMs: 60 })
    const client = new Client()
    await client.open(url)
    await vi.waitFor(() => expect(client.text).toContain(': here\n\n'))
    await vi.waitFor(() => expect(streams.count).toBe(0))
    client.close()
  })
})

describe('subscriptions', () => {
  const stored: object[] = []
  const secrets = openSecretBox({ text: newSecretsKey() })
  const store = {
    createSubscription: async (given: object) => {
      stored.push(given)
      return { id: 1 }
    },
    listSubscriptions: async () => [{ id: 1 }],
    removeSubscription: async (_viewer: unknown, id: number) => id === 1,
    listDeliveries: async () => [],
    sendAgain: async (_viewer: unknown, id: number) => id === 1,
    addDeliveries: async (rows: object[]) => void stored.push(...rows),
  } as unknown as SubscriptionsOptions['store']
  const routes = subscriptionsRoutes({
    store,
    secrets,
    channels: async () => ({ webhook: true, email: false, folder: false }),
    nowMs: () => NOW,
  })
  const post = async (body: object, scope?: Scope, path = '/api/subscriptions') => {
    const response = await fetch((await serve(routes, scope)) + path, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
    })
    return { status: response.status, text: await response.text() }
  }
  const hook = { name: 'Torn', channel: 'webhook', target: 'https://example.com/avisos', kinds: ['no-signal'] }

  it('are stored for what their owner may see; the secret is told once', async () => {
    const { status, text } = await post(hook, GIRONA)
    expect(status).toBe(201)
    const { secret } = JSON.parse(text)
    expect(secret).toMatch(/^[\w-]{32}$/)
    const kept = stored.at(-1) as { readonly secret: string }
    expect(kept.secret).not.toContain(secret)
    expect(secrets.open(kept.secret, WEBHOOK_SECRET)).toBe(secret)
    expect(stored.at(-1)).toMatchObject({ scope: GIRONA, leastStepMs: 180_000, owner: { name: 'Marta' }, nowMs: NOW })
    expect((await post({ ...hook, depots: ['girona'] }, GIRONA)).status).toBe(201)
    expect((await post({ ...hook, depots: ['vic'] }, GIRONA)).status).toBe(403)
    expect((await post({ ...hook, depots: ['vic'] })).status).toBe(201)
    expect(stored.at(-1)).toMatchObject({ scope: { kind: 'limited', depots: ['vic'], markets: [] } })
  })

  it('is refused where no key would seal its secret; what has none is not', async () => {
    const without = subscriptionsRoutes({
      store,
      secrets: openSecretBox({}),
      channels: async () => ({ webhook: true, email: true, folder: false }),
    })
    const ask = async (body: object) => {
      const response = await fetch(`${await serve(without, GIRONA)}/api/subscriptions`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
      })
      return { status: response.status, text: await response.text() }
    }
    const refused = await ask(hook)
    expect(refused.status).toBe(503)
    expect(refused.text).toContain('cannot be kept')
    expect((await ask({ ...hook, channel: 'email', target: 'marta@example.com' })).status).toBe(201)
  })

  it.each([
    ['no address', { ...hook, target: 'example.com' }],
    ['another protocol', { ...hook, target: 'file:///etc/passwd' }],
    ['a user name in it', { ...hook, target: 'https://a:b@example.com/' }],
    ['a mail address that is none', { ...hook, channel: 'email', target: 'marta' }],
    ['a second header', { ...hook, channel: 'email', target: 'marta@example.com\r\nBcc: x@example.com' }],
    ['neither events nor a report', { ...hook, kinds: [] }],
    ['events for a folder', { ...hook, channel: 'folder', target: '' }],
    ['a path for a folder', { ...hook, channel: 'folder', target: '../x', kinds: [], reportMinutes: 360 }],
    ['a kind that is none', { ...hook, kinds: ['x'] }],
    ['a step that is none', { ...hook, leastStepMs: 1 }],
    ['no name', { ...hook, name: ' ' }],
  ])('with %s are refused', async (_what, body) => {
    expect((await post(body)).status).toBe(400)
  })

  it('can be tested, taken away, and a delivery sent again', async () => {
    const statuses = async (path: string) => [
      (await post({ id: 1 }, EVERYTHING, path)).status,
      (await post({ id: 2 }, EVERYTHING, path)).status,
    ]
    expect(await statuses('/api/subscriptions/test')).toEqual([202, 404])
    expect(stored.at(-1)).toMatchObject({ kind: 'test', subscriptionId: 1 })
    expect(await statuses('/api/subscriptions/remove')).toEqual([200, 404])
    expect(await statuses('/api/deliveries/again')).toEqual([202, 404])
  })
})
