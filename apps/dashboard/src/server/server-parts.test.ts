import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { BODY_LIMITS, checkHost, checkOrigin, limitBody, Refusal, readBody } from './guard.ts'
import { panelHealth, QUIET_START_MS } from './panel-health.ts'
import { placesOf } from './places.ts'
import { roomOf } from './scope.ts'
import { TRAIL_MAX_POINTS, Trails } from './trails.ts'

const statusOf = async (work: () => unknown): Promise<number> => {
  try {
    await work()
    return 200
  } catch (error) {
    if (error instanceof Refusal) return error.status
    throw error
  }
}
const request = (body: string | Buffer, headers: Record<string, string> = { 'content-type': 'application/json' }) =>
  Object.assign(Readable.from([Buffer.from(body)]), { headers }) as unknown as IncomingMessage

describe('guard', () => {
  test.each([
    ['127.0.0.1:8080', 200],
    ['localhost:3000', 200],
    ['[::1]:3000', 200],
    ['192.168.1.7', 200],
    ['panel.example', 200],
    ['PANEL.example:80', 200],
    ['evil.example', 403],
    ['127.0.0.1.evil.example', 403],
    ['', 403],
  ])('host %s gets %d', async (host, status) => {
    expect(await statusOf(() => checkHost({ host }, ['panel.example']))).toBe(status)
  })

  test.each([
    ['http://127.0.0.1:8080', 200],
    ['https://127.0.0.1:8080', 200],
    ['http://127.0.0.1:8081', 403],
    ['http://evil.example', 403],
    ['null', 403],
    [undefined, 403],
  ])('a command from origin %s gets %d', async (origin, status) => {
    expect(await statusOf(() => checkOrigin({ host: '127.0.0.1:8080', ...(origin === undefined ? {} : { origin }) }))).toBe(status)
  })

  test('a body is JSON of the schema, and short', async () => {
    const schema = z.strictObject({ name: z.string() })
    expect(await readBody(request('{"name":"Marta"}'), schema)).toEqual({ name: 'Marta' })
    expect(await statusOf(() => readBody(request('{"name":"M"}', { 'content-type': 'text/plain' }), schema))).toBe(415)
    expect(await statusOf(() => readBody(request('{"name":"M"}', {}), schema))).toBe(415)
    expect(await statusOf(() => readBody(request('{'), schema))).toBe(400)
    expect(await statusOf(() => readBody(request('{"name":1}'), schema))).toBe(400)
    expect(await statusOf(() => readBody(request('{"name":"M","role":"admin"}'), schema))).toBe(400)
    const { bodyMaxBytes, uploadMaxBytes } = BODY_LIMITS
    expect(await statusOf(() => readBody(request(Buffer.alloc(bodyMaxBytes + 1, 32)), schema))).toBe(413)
    // A file may be longer; how long both may be is set.
    const named = (bytes: number) => request(`{"name":"M"}${' '.repeat(bytes - 12)}`)
    expect(await readBody(named(bodyMaxBytes + 1), schema, 'upload')).toEqual({ name: 'M' })
    expect(await statusOf(() => readBody(named(uploadMaxBytes + 1), schema, 'upload'))).toBe(413)
    const set = named(200)
    limitBody(set, { bodyMaxBytes: 100, uploadMaxBytes: 150 })
    expect(await statusOf(() => readBody(set, schema))).toBe(413)
    const declared = { 'content-type': 'application/json', 'content-length': '99999999' }
    expect(await statusOf(() => readBody(request('{}', declared), schema))).toBe(413)
  })

  test('a refusal says what is wrong', async () => {
    await expect(readBody(request('{"name":1}'), z.object({ name: z.string() }))).rejects.toMatchObject({
      hint: expect.stringContaining('name:'),
    })
  })
})

describe('health', () => {
  const NOW = 1_789_380_000_000
  const partition = { partition: 0, watermarkMs: null, progressMs: null, newestHeartbeatMs: NOW, newestRecordMs: NOW }
  const good = {
    source: { kafka: { status: 'ok' as const }, postgres: { status: 'ok' as const } },
    feed: { state: 'live' as const, noDataSinceMs: null, trouble: null, partitions: [partition] },
    nowMs: NOW,
    uptimeMs: QUIET_START_MS * 2,
    loaded: true,
    vansHeard: 3,
  }

  test('ok while nothing is wrong, ready once a position has come', () => {
    expect(panelHealth(good)).toMatchObject({ status: 'ok', ready: true })
    expect(Object.keys(panelHealth(good).parts).sort()).toEqual(['feed', 'kafka', 'panel', 'postgres'])
  })

  test('an idle fleet is no fault, but not ready', () => {
    expect(panelHealth({ ...good, vansHeard: 0 })).toMatchObject({ status: 'ok', ready: false })
  })

  test("the bridge's first seconds are no fault; silence after them is", () => {
    const silent = { ...good, feed: { state: 'none' as const, noDataSinceMs: null, trouble: null, partitions: [] } }
    expect(panelHealth({ ...silent, uptimeMs: 30_000 }).status).toBe('ok')
    expect(panelHealth(silent).status).toBe('degraded')
    const stale = {
      ...good,
      feed: {
        state: 'stale' as const,
        noDataSinceMs: NOW - 600_000,
        trouble: { cause: 'bridge' as const, sinceMs: NOW - 600_000, partitions: null },
        partitions: [{ ...partition, newestRecordMs: NOW - 600_000 }],
      },
    }
    expect(panelHealth(stale)).toMatchObject({ status: 'degraded', parts: { feed: { detail: expect.stringContaining('the bridge') } } })
    expect(panelHealth({ ...stale, feed: { ...stale.feed, partitions: [partition] } }).status).toBe('ok')
  })

  test('one partition that is behind is told', () => {
    const behind = { ...partition, partition: 4, newestHeartbeatMs: NOW - 600_000 }
    const report = panelHealth({
      ...good,
      feed: { ...good.feed, trouble: { cause: 'partition', sinceMs: NOW - 600_000, partitions: [4] }, partitions: [partition, behind] },
    })
    expect(report).toMatchObject({ status: 'degraded', parts: { feed: { detail: expect.stringContaining('4') } } })
  })

  test('as bad as the worst part', () => {
    expect(panelHealth({ ...good, source: { kafka: { status: 'down', detail: 'away' } } }).status).toBe('down')
    expect(panelHealth({ ...good, loaded: false }).status).toBe('degraded')
  })
})

describe('trails', () => {
  test('hold 15 minutes, forward only', () => {
    const trails = new Trails()
    for (let minute = 0; minute <= 20; minute += 1) trails.add('a', [2, 42, minute * 60_000])
    trails.add('a', [9, 9, 60_000])
    trails.add('a', [9, 9, 20 * 60_000])
    const points = trails.of('a')
    expect(points[0]?.[2]).toBe(5 * 60_000)
    expect(points).toHaveLength(16)
    expect(points.some(([lon]) => lon === 9)).toBe(false)
    expect(trails.of('b')).toEqual([])
  })

  test('are bounded in points', () => {
    const trails = new Trails()
    for (let n = 0; n < TRAIL_MAX_POINTS + 50; n += 1) trails.add('a', [2, 42, n])
    expect(trails.of('a')).toHaveLength(TRAIL_MAX_POINTS)
    expect(trails.of('a').at(-1)?.[2]).toBe(TRAIL_MAX_POINTS + 49)
  })
})

describe('places', () => {
  const square = (name: string, west: number, south: number) => ({
    type: 'Feature',
    properties: { name },
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [west, south],
          [west + 0.1, south],
          [west + 0.1, south + 0.1],
          [west, south + 0.1],
          [west, south],
        ],
      ],
    },
  })
  const placeOf = placesOf({ type: 'FeatureCollection', features: [square('Salt', 2.7, 41.9), square('Roses', 3.1, 42.2)] })

  test('the municipality that holds the point, else one whose edge is near, else none', () => {
    expect(placeOf(41.95, 2.75)).toBe('Salt')
    expect(placeOf(42.205, 3.21)).toBe('Roses')
    expect(placeOf(40, 0)).toBeNull()
  })
})

describe('rooms', () => {
  test('equal scopes share one, different ones do not', () => {
    expect(roomOf({ kind: 'limited', depots: ['b', 'a'], markets: [] })).toBe(roomOf({ kind: 'limited', depots: ['a', 'b'], markets: [] }))
    expect(roomOf({ kind: 'limited', depots: ['a'], markets: [] })).not.toBe(roomOf({ kind: 'limited', depots: [], markets: ['a'] }))
    expect(roomOf({ kind: 'all' })).not.toBe(roomOf({ kind: 'limited', depots: [], markets: [] }))
  })
})
