import { createConnection } from 'node:net'
import { type AcknowledgementView, decodeDelta, type PanelSnapshot, type WireDelta } from '@km0/contracts'
import { Registry } from '@km0/runtime'
import { io, type Socket } from 'socket.io-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MaskingState } from './masking/masking-state.ts'
import type { PanelEvent } from './panel-events.ts'
import { type PanelServer, startPanelServer } from './panel-server.ts'
import type { PanelSource } from './panel-source.ts'
import { sessionFor, type TestSignIn, testSignIn } from './sign-in/sessions.testbench.ts'

const NOW = 1_789_380_000_000
const point = (van: string, eventMs: number): PanelEvent => ({
  kind: 'point',
  source: { epoch: 1, partition: 0, offset: eventMs - NOW + 1_000_000 },
  value: {
    repartidor: van,
    lat: 42,
    lon: 2.8,
    data_ms: eventMs,
    arribada_ms: eventMs,
    velocitat_mm_s: null,
    rumb_graus: null,
    dubtos: false,
    estat: 'en-moviment',
  },
})

/** Gives what the test tells it to; stored are the acknowledgements. */
class ToldSource implements PanelSource {
  give: (event: PanelEvent) => void = () => undefined
  finish: () => void = () => undefined
  readonly stored: AcknowledgementView[] = []
  storeIsAway = false

  start(give: (event: PanelEvent) => void): Promise<void> {
    this.give = give
    return new Promise((resolve) => {
      this.finish = resolve
    })
  }
  async stop(): Promise<void> {}
  async acknowledge(_scope: unknown, view: AcknowledgementView): Promise<boolean> {
    if (this.storeIsAway) throw new Error('away')
    this.stored.push(view)
    return true
  }
  async readTrail() {
    return [[2.7, 42, NOW - 60_000] as const]
  }
  async readOutages(_scope: unknown, fromMs: number, toMs: number) {
    if (this.storeIsAway) throw new Error('away')
    return { fromMs, toMs, outages: [], silences: { counted: 2, overOutages: 1 } }
  }
  endOffsets() {
    return null
  }
  health() {
    return { kafka: { status: 'ok' as const } }
  }
}

let source: ToldSource
let signIn: TestSignIn
let panel: PanelServer
let url: string
const sockets: Socket[] = []
const errors: unknown[] = []
/** The policy as the pages are told it. */
const told: unknown[] = []

beforeEach(async () => {
  errors.length = 0
  told.length = 0
  source = new ToldSource()
  signIn = testSignIn([], sessionFor('Marta', 'dispatcher'))
  panel = await startPanelServer({
    signIn,
    host: '127.0.0.1',
    port: 0,
    allowedNames: [],
    state: new MaskingState({ clock: 'machine', placeOf: () => 'Salt' }),
    source,
    metrics: new Registry(),
    mapStyleUrl: null,
    pages: async () => async (request, response) => {
      told.push(request.headers['content-security-policy'])
      response.end('page')
    },
    onError: (error) => errors.push(error),
    machineNowMs: () => NOW,
  })
  url = `http://127.0.0.1:${panel.port}`
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.disconnect()
  await panel.close()
})

const connect = (headers: Record<string, string> = {}) => {
  const socket = io(url, { transports: ['websocket'], reconnection: false, extraHeaders: headers, forceNew: true })
  sockets.push(socket)
  return socket
}
const next = <Value>(socket: Socket, event: string) => new Promise<Value>((resolve) => socket.once(event, resolve))
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

describe('outages', () => {
  const ask = async (query: string) => {
    const response = await fetch(`${url}/api/outages${query}`)
    return [response.status, await response.json()] as const
  }

  test('are told for a span: the last day, or the one that is asked for', async () => {
    expect(await ask('')).toEqual([200, { fromMs: NOW - 86_400_000, toMs: NOW, outages: [], silences: { counted: 2, overOutages: 1 } }])
    expect(await ask('?from=5&to=9')).toMatchObject([200, { fromMs: 5, toMs: 9 }])
  })

  test('a span that is none is refused, and a store that is away is said', async () => {
    for (const query of ['?from=9&to=5', '?from=x', '?from=-1', '?to=1e9', '?from=0&to=9999999999'])
      expect((await ask(query))[0], query).toBe(400)
    source.storeIsAway = true
    expect(await ask('')).toMatchObject([503, { hint: expect.any(String) }])
  })
})

describe('the socket', () => {
  test('waits with the snapshot until what is stored has been read, then sends deltas in order', async () => {
    const socket = connect()
    const snapshot = next<PanelSnapshot>(socket, 'snapshot')
    source.give(point('a', NOW))
    const early = await Promise.race([snapshot, new Promise((resolve) => setTimeout(() => resolve('none'), 300))])
    expect(early).toBe('none')
    source.finish()
    const first = await snapshot
    expect(first.points.map((one) => [one.van, one.place])).toEqual([['a', 'Salt']])
    source.give(point('a', NOW + 5_000))
    const delta = await next<WireDelta>(socket, 'delta')
    expect(delta.sequence).toBe(first.sequence + 1)
    expect(decodeDelta(delta).points?.map((one) => one.eventMs)).toEqual([NOW + 5_000])
  })

  test('sends a snapshot again to who asks, and on every connect', async () => {
    source.finish()
    const socket = connect()
    await next(socket, 'snapshot')
    source.give(point('b', NOW))
    const again = next<PanelSnapshot>(socket, 'snapshot')
    socket.emit('resync')
    expect((await again).points.map((one) => one.van)).toEqual(['b'])
    expect((await next<PanelSnapshot>(connect(), 'snapshot')).points).toHaveLength(1)
  })

  test('is not opened for a page elsewhere', async () => {
    source.finish()
    const refused = await next<Error>(connect({ origin: 'http://evil.example' }), 'connect_error')
    expect(refused).toBeInstanceOf(Error)
    await next(connect({ origin: url }), 'snapshot')
  })

  test('an acknowledgement reaches every browser', async () => {
    source.finish()
    source.give(point('a', NOW))
    const both = [connect(), connect()]
    await Promise.all(both.map((socket) => next(socket, 'snapshot')))
    const told = Promise.all(
      both.map(
        (socket) =>
          new Promise<string | undefined>((resolve) => {
            socket.on('delta', (delta: WireDelta) => {
              if (delta.acknowledgements !== undefined) resolve(delta.acknowledgements[0]?.note)
            })
          }),
      ),
    )
    const answer = await post('/api/acknowledgements', { van: 'a', sinceMs: NOW, note: ' mine ' })
    expect(answer.status).toBe(201)
    expect(await answer.json()).toMatchObject({ van: 'a', note: 'mine', atMs: NOW, actor: { name: 'Marta', roles: ['dispatcher'] } })
    expect(signIn.audited).toEqual([
      {
        atMs: NOW,
        actorId: 'test:Marta',
        actorName: 'Marta',
        action: 'acknowledgements',
        detail: `van: a, sinceMs: ${NOW}, note: mine`,
        address: '127.0.0.1',
      },
    ])
    expect(await told).toEqual(['mine', 'mine'])
    expect(source.stored).toHaveLength(1)
  })
})

describe('the REST interface', () => {
  test('health needs no name and tells none', async () => {
    source.give(point('secret-van', NOW))
    const before = await fetch(`${url}/api/health`)
    expect(await before.json()).toMatchObject({ status: 'degraded', ready: false })
    source.finish()
    await expect.poll(async () => (await (await fetch(`${url}/api/health`)).json()).ready).toBe(true)
    const text = await (await fetch(`${url}/api/health`)).text()
    expect(JSON.parse(text)).toMatchObject({ status: 'ok', parts: { kafka: { status: 'ok' }, feed: {}, panel: {} } })
    expect(text).not.toContain('secret-van')
  })

  test('refuses with what to do: nobody, unknown van, wrong body, wrong origin, wrong method, wrong path', async () => {
    source.finish()
    source.give(point('a', NOW))
    const command = { van: 'a', sinceMs: NOW, note: '' }
    const refusals = [
      [await post('/api/acknowledgements', command, { cookie: 'who=nobody' }), 401],
      [await fetch(`${url}/api/panel`, { headers: { cookie: 'who=nobody' } }), 401],
      [await post('/api/ledger', {}), 404],
      [await post('/api/acknowledgements', { ...command, van: 'b' }), 404],
      [await post('/api/acknowledgements', { ...command, sinceMs: 'x' }), 400],
      [await post('/api/acknowledgements', { ...command, note: 'x'.repeat(501) }), 400],
      [await post('/api/acknowledgements', { ...command, note: 'a\u0000b' }), 400],
      [await post('/api/acknowledgements', '{'), 400],
      [await post('/api/acknowledgements', command, { origin: 'http://evil.example' }), 403],
      [await post('/api/acknowledgements', 'x'.repeat(20_000)), 413],
      [await fetch(`${url}/api/acknowledgements`), 405],
      [await fetch(`${url}/api/nothing`), 404],
      [await fetch(`${url}/api/trail`), 400],
      [await fetch(`${url}/api/trail?van=b`), 404],
    ] as const
    for (const [answer, status] of refusals) {
      expect(answer.status).toBe(status)
      expect(await answer.json()).toEqual({ error: expect.stringMatching(/./), hint: expect.stringMatching(/./) })
    }
    expect(source.stored).toEqual([])
    expect(errors).toEqual([])
  })

  test('says that nothing was stored while the store is away, and tells nobody', async () => {
    source.finish()
    source.give(point('a', NOW))
    source.storeIsAway = true
    const answer = await post('/api/acknowledgements', { van: 'a', sinceMs: NOW, note: '' })
    expect(answer.status).toBe(503)
    expect((await answer.json()).hint).toMatch(/Nothing was stored/)
    const panelNow = (await (await fetch(`${url}/api/panel`)).json()) as PanelSnapshot
    expect(panelNow.acknowledgements).toEqual([])
    expect(errors).toHaveLength(1)
  })

  test('a trail is what was heard and, before it, what is stored', async () => {
    source.finish()
    source.give(point('a', NOW))
    const answer = await (await fetch(`${url}/api/trail?van=a`)).json()
    expect(answer).toEqual({
      van: 'a',
      points: [
        [2.7, 42, NOW - 60_000],
        [2.8, 42, NOW],
      ],
    })
  })

  test('metrics, pages, and the headers that keep strangers out', async () => {
    expect(await (await fetch(`${url}/metrics`)).text()).toContain('km0_panel_browsers 0')
    const page = await fetch(`${url}/`)
    expect(await page.text()).toBe('page')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("frame-ancestors 'none'")
    const scripts = policy.split('; ').filter((directive) => directive.startsWith('script-src'))
    expect(scripts).toEqual([expect.stringMatching(/^script-src 'self' 'nonce-[\w+/=]{24}'$/), "script-src-attr 'none'"])
    // Of this answer alone, and Next is told it, whatever the sender says: nobody else's scripts run.
    const again = await fetch(`${url}/`, { headers: { 'content-security-policy': "script-src 'nonce-mine'" } })
    expect(again.headers.get('content-security-policy')).not.toBe(policy)
    expect(told).toEqual([policy, again.headers.get('content-security-policy')])
    expect(page.headers.get('strict-transport-security')).toBeNull()
    const { securityHeaders } = await import('./security-headers.ts')
    expect(securityHeaders({ nonce: 'n', mapStyleUrl: null, hstsSeconds: 60 })).toContainEqual(['strict-transport-security', 'max-age=60'])
  })
  test('a browser that sends more than it may on a socket is let go', async () => {
    const socket = connect()
    await new Promise<void>((resolve) => socket.on('connect', () => resolve()))
    const gone = new Promise<string>((resolve) => socket.on('disconnect', resolve))
    socket.emit('anything', 'x'.repeat(5_000))
    expect(await gone).toMatch(/transport/)
  })
  test('a path that is no address, and an upgrade that nobody takes, are answered and let go', async () => {
    expect(await rawAnswer('GET // HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')).toContain('400')
    // Resolves when the server hangs up; a socket that stays would also keep it from stopping.
    await rawAnswer('GET /elsewhere HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    expect(errors).toEqual([])
  })
})

/** First line of what the server says, once it has hung up. */
function rawAnswer(request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(panel.port, '127.0.0.1', () => socket.write(request))
    let heard = ''
    socket.on('data', (data) => {
      heard += data
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(heard.split('\r\n')[0] ?? ''))
  })
}
