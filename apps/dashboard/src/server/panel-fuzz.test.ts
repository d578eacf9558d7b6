import { connect as connectTcp } from 'node:net'
import { DEFAULT_DISPATCH_LIMITS } from '@km0/contracts'
import { Registry } from '@km0/runtime'
import fc from 'fast-check'
import { io } from 'socket.io-client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { backfillsRoutes } from './backfills/backfills-rest.ts'
import { answerProblem } from './data-out/answer-check.testbench.ts'
import { daysRoutes } from './days/days-rest.ts'
import { dispatchExtension } from './dispatch/dispatch-extension.ts'
import { MaskingState } from './masking/masking-state.ts'
import { backfills, days, dispatch, NOW, StillSource, stock } from './panel-fuzz.testbench.ts'
import { type PanelServer, startPanelServer } from './panel-server.ts'
import { testSignIn } from './sign-in/sessions.testbench.ts'
import { stockExtension } from './stock/stock-extension.ts'

const RUNS = { numRuns: 60, seed: 20260914 }
/** Paths of the panel, and what a prober tries. */
const PATHS = [
  ...['/api/panel', '/api/trail', '/api/trail?van=furgoneta-1', '/api/session', '/api/acknowledgements', '/api/health', '/api/outages'],
  ...['/api/stock', '/api/stock/history?product=p&market=m', '/api/stock/acknowledgements'],
  ...[
    '/api/register',
    '/api/register.csv?kind=vans',
    '/api/register/van',
    '/api/handover?from=12:00',
    '/api/distances/totals',
    '/api/mutes',
  ],
  ...['/api/days', '/api/days?days=31&last=2026-03-29', '/api/days.csv', '/api/days/van?van=furgoneta-1&day=2026-09-14', '/api/backfills'],
  ...['/api/backfills/one?id=1', '/api/backfills/difference?id=1', '/api/backfills/track?id=1&van=v&fromMs=0&toMs=9'],
  ...['/api/backfills/preview', '/api/backfills/publish', '/api/backfills/rollback', '/api/backfills/cancel'],
  ...['/metrics', '/health', '/', '/api', '/api/', '/api/%00', '/api/../metrics', '//', '/\\', '/%', '/%ff', '*', '/socket.io/?EIO=4'],
  ...['/socket.io/', '/socket.io/?EIO=4&transport=polling', '/socket.io/?EIO=9&transport=x', '/socket.io/?EIO=4&transport=polling&sid=x'],
]
const COMMANDS = [
  ...['/api/acknowledgements', '/api/stock/acknowledgements', '/api/backfills', '/api/backfills/preview'],
  ...['/api/backfills/publish', '/api/backfills/rollback', '/api/backfills/cancel'],
  ...['/api/register/van', '/api/register/preview', '/api/register/import', '/api/mutes', '/api/mutes/lift'],
]
/** No more answers are waited for. */
const QUIET_MS = 150
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND', 'BREW', 'get', '']

let panel: PanelServer
let url: string
let source: StillSource
const errors: unknown[] = []
const rejections: unknown[] = []
const onRejection = (reason: unknown) => rejections.push(reason)

/**
 * Writes bytes on a connection of its own and gives what came back, '' when it was only closed. A request that is not whole gets no answer,
 * which is no fault, so by default it waits for a moment only; with `answered`, until something has come.
 */
function raw(bytes: Buffer | string, answered = false): Promise<string> {
  return new Promise((resolve) => {
    const socket = connectTcp(panel.port, '127.0.0.1')
    let text = ''
    const end = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(text)
    }
    let timer = setTimeout(end, answered ? 30_000 : QUIET_MS)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      clearTimeout(timer)
      timer = setTimeout(end, QUIET_MS)
    })
    socket.on('error', end)
    socket.on('close', end)
    socket.write(bytes)
  })
}
const statuses = (answer: string) => [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))

/** A frame as a browser sends it (RFC 6455, section 5.2), masked with zeros. */
function webSocketFrame(payload: Buffer, kind: number): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt8(0x80 | kind, 0)
  head.writeUInt8(0x80 | Math.min(payload.length, 126), 1)
  head.writeUInt16BE(payload.length, 2)
  return Buffer.concat([payload.length < 126 ? head.subarray(0, 2) : head, Buffer.alloc(4), payload])
}

/** The panel still works: a person may take a van on. */
async function works(): Promise<void> {
  const before = source.stored.length
  const command = { van: 'furgoneta-1', sinceMs: NOW, note: 'trucat' }
  const taken = await fetch(`${url}/api/acknowledgements`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify(command),
  })
  expect(taken.status).toBe(201)
  expect(source.stored.length).toBe(before + 1)
  expect((await fetch(`${url}/metrics`)).status).toBe(200)
}

beforeAll(async () => {
  process.on('unhandledRejection', onRejection)
  source = new StillSource()
  const state = new MaskingState({ clock: 'machine', placeOf: () => null })
  panel = await startPanelServer({
    signIn: testSignIn(),
    host: '127.0.0.1',
    port: 0,
    allowedNames: [],
    state,
    source,
    metrics: new Registry(),
    extensions: [
      dispatchExtension({
        store: dispatch,
        state,
        limits: DEFAULT_DISPATCH_LIMITS,
        nowMs: () => NOW,
        onTrouble: (error) => errors.push(error),
      }),
      stockExtension(stock as unknown as Parameters<typeof stockExtension>[0], (error) => errors.push(error)),
      { routes: daysRoutes(days) },
      { routes: backfillsRoutes(backfills) },
    ],
    mapStyleUrl: null,
    pages: async () => async (_request, response) => void response.end('page'),
    onError: (error) => errors.push(error),
    machineNowMs: () => NOW,
  })
  url = `http://127.0.0.1:${panel.port}`
})
afterEach(() => {
  expect(errors).toEqual([])
  expect(rejections).toEqual([])
})
afterAll(async () => {
  process.off('unhandledRejection', onRejection)
  await panel.close()
})

const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.constantFrom('', '\u0000', '🚚', '%', '..', 'x'.repeat(4_000)))
/** Half a surrogate pair cannot be percent-encoded. */
const wellFormed = (word: string) => Buffer.from(word).toString()
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
const path = fc.oneof(
  fc.constantFrom(...PATHS),
  fc.tuple(fc.constantFrom(...PATHS), text).map(([known, more]) => `${known}?${encodeURI(wellFormed(more))}`),
  bytes.map((noise) => `/${noise.toString('latin1').replace(/[\r\n ]/g, '')}`),
)
const headers = fc.dictionary(
  fc.constantFrom(
    'Origin',
    'Cookie',
    'Content-Type',
    'Content-Length',
    'Transfer-Encoding',
    'Host',
    'Upgrade',
    'Connection',
    'Expect',
    'X',
  ),
  fc.oneof(
    fc.constantFrom(
      'application/json',
      'chunked',
      '5',
      '-1',
      '999999999',
      'websocket',
      'upgrade',
      '100-continue',
      'localhost',
      'null',
      'evil.example',
    ),
    fc.constantFrom('km0.session_token=%%%', 'km0_wall=e30', ';;;=;', 'application/json; charset=utf-16'),
    bytes.map((noise) => noise.toString('latin1').replace(/[\r\n]/g, '')),
  ),
)

describe('any HTTP request', () => {
  it('is answered below 500, or its connection ended, and the next good one works', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...METHODS), path, headers, bytes, async (method, where, given, body) => {
        const lines = Object.entries({ Host: `127.0.0.1:${panel.port}`, ...given }).map(([name, value]) => `${name}: ${value}\r\n`)
        const head = Buffer.from(`${method} ${where} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
        for (const status of statuses(await raw(Buffer.concat([head, body])))) expect(status).toBeLessThan(500)
      }),
      RUNS,
    )
    await works()
  })

  it('that is no HTTP at all is ended', async () => {
    await fc.assert(
      fc.asyncProperty(bytes, async (noise) => {
        for (const status of statuses(await raw(Buffer.concat([noise, Buffer.from('\r\n\r\n')])))) expect(status).toBeLessThan(500)
      }),
      { ...RUNS, numRuns: 20 },
    )
    await works()
  })

  it('with any body for a command is carried out only when it fits', async () => {
    const body = fc.oneof(
      bytes,
      fc.anything().map((value) => Buffer.from(JSON.stringify(value) ?? '')),
      fc
        .record({ van: fc.oneof(text, fc.constant('furgoneta-1')), sinceMs: fc.anything(), note: fc.oneof(text, fc.anything()) })
        .map((value) => Buffer.from(JSON.stringify(value))),
      fc.record({ product: text, market: text, startMs: fc.nat(), note: text }).map((value) => Buffer.from(JSON.stringify(value))),
      fc.record({ id: fc.oneof(fc.nat(), fc.anything()), reason: text }).map((value) => Buffer.from(JSON.stringify(value))),
      fc
        .record({
          request: fc.record({
            pipeline: fc.constantFrom('positions', 'stock', 'x'),
            fromMs: fc.constant(0),
            toMs: fc.constantFrom(3_600_000, 1),
            owners: fc.option(fc.array(text)),
          }),
          reason: text,
        })
        .map((value) => Buffer.from(JSON.stringify(value))),
      fc.record({ name: fc.oneof(text, fc.anything()) }).map((value) => Buffer.from(JSON.stringify(value))),
      fc.constant(Buffer.alloc(100_000, '{"note":"')),
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...COMMANDS), body, async (where, sent) => {
        const before = source.stored.length
        const answer = await fetch(`${url}${where}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', origin: url },
          body: new Uint8Array(sent),
        })
        expect([200, 201, 400, 404, 409, 413]).toContain(answer.status)
        expect(source.stored.length).toBe(answer.status === 201 && where === '/api/acknowledgements' ? before + 1 : before)
        if (answer.status >= 400) expect(answerProblem('refusal', await answer.json())).toBeNull()
      }),
      RUNS,
    )
    await works()
  })

  it('asks for a trail of any name, and for outages of any span', async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (one, other) => {
        const [a, b] = [one, other].map((word) => encodeURIComponent(wellFormed(word)))
        for (const where of [
          `/api/stock/history?product=${a}&market=${b}`,
          `/api/trail?van=${a}`,
          `/api/outages?from=${a}&to=${b}`,
          `/api/outages?to=${b}`,
        ])
          expect((await fetch(`${url}${where}`)).status).toBeLessThan(500)
      }),
      { ...RUNS, numRuns: 30 },
    )
  })

  it('that never ends takes bounded memory', async () => {
    const head = `POST /api/acknowledgements HTTP/1.1\r\nHost: 127.0.0.1:${panel.port}\r\nOrigin: ${url}\r\nContent-Type: application/json\r\n`
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const answers = await Promise.all([
      raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(40)}`),
      raw(`${head}Content-Length: 100000000\r\n\r\n${'x'.repeat(200_000)}`),
      raw(`GET / HTTP/1.1\r\nHost: localhost\r\n${`X: ${'y'.repeat(1_000)}\r\n`.repeat(200)}\r\n`),
      raw(`GET /${'z'.repeat(200_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`),
    ])
    for (const status of answers.flatMap(statuses)) expect([413, 431]).toContain(status)
    await works()
  })
})

describe('any message on the socket', () => {
  it('is passed over; a browser beside it goes on', async () => {
    const good = io(url, { transports: ['websocket'], forceNew: true, reconnection: false })
    await new Promise((resolve) => good.once('snapshot', resolve))
    const word = fc.oneof(fc.constantFrom('resync', 'snapshot', 'delta', '__proto__', 'hasOwnProperty', ''), fc.string())
    const value = fc.oneof(fc.jsonValue(), bytes, fc.constant('x'.repeat(3_000)))
    const listeners = ['connect', 'connect_error', 'disconnect', 'disconnecting', 'newListener', 'removeListener']
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(word, fc.array(value, { maxLength: 3 })), { minLength: 1, maxLength: 8 }), async (messages) => {
        const socket = io(url, { transports: ['websocket'], forceNew: true, reconnection: false })
        await new Promise((resolve) => socket.once('connect', () => resolve(null)))
        for (const [event, values] of messages) if (!listeners.includes(event)) socket.emit(event, ...values)
        socket.emit('resync', ...messages.map(([event]) => event))
        socket.disconnect()
      }),
      { ...RUNS, numRuns: 25 },
    )
    const again = new Promise((resolve) => good.once('snapshot', resolve))
    good.emit('resync')
    await again
    expect(good.connected).toBe(true)
    good.disconnect()
    await works()
  })

  it('that breaks the protocol, or is too large, ends its own connection alone', async () => {
    const frames = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.constantFrom(
        '0',
        '2',
        '3probe',
        '40',
        '42',
        '42[',
        '42["resync"',
        '451-["resync",{"_placeholder":true,"num":9}]',
        '49',
        `42["resync","${'x'.repeat(10_000)}"]`,
      ),
      bytes,
    )
    const opening = [
      'GET /socket.io/?EIO=4&transport=websocket HTTP/1.1',
      `Host: 127.0.0.1:${panel.port}`,
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ]
    const head = Buffer.from(`${opening.join('\r\n')}\r\n\r\n`)
    await fc.assert(
      fc.asyncProperty(fc.array(frames, { minLength: 1, maxLength: 5 }), fc.nat(15), bytes, async (list, kind, noise) => {
        const sent = list.map((one) => (typeof one === 'string' ? webSocketFrame(Buffer.from(one), 1) : webSocketFrame(one, kind)))
        const answer = await raw(Buffer.concat([head, ...sent, noise]), true)
        expect(statuses(answer)).toEqual([101])
      }),
      { ...RUNS, numRuns: 30 },
    )
    await works()
  })
})
