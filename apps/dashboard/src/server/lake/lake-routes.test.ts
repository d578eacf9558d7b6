import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DEFAULT_POSITIONS_SETTINGS, type Scope } from '@km0/contracts'
import { decodePacked, encodePacked, UNKNOWN_INT32 } from '@km0/contracts/packed-columns'
import type { ReplayView, VanDayView, VanTrackHeader } from '@km0/contracts/van-day-panel'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Refusal } from '../guard.ts'
import { json } from '../rest.ts'
import { keepSession } from '../sign-in/session.ts'
import { sessionFor } from '../sign-in/sessions.testbench.ts'
import { evenly, sampleFor } from './lake-answers.ts'
import { lakeExtension } from './lake-extension.ts'
import { LakeTroubleError, type ReplayQuery } from './lake-reads.ts'

const HOUR = 3_600_000
/** Tuesday 24 November 2026 in Madrid. */
const DAY = { startMs: Date.UTC(2026, 10, 23, 23), endMs: Date.UTC(2026, 10, 24, 23) }
const NOW = DAY.startMs + 10 * HOUR
const GIRONA: Scope = { kind: 'limited', depots: ['girona'], markets: [] }
const ROWS = { van: { van: 'v', name: null, plate: null, depot: null }, partition: 3, windows: [], latePoints: [] }

let scope: Scope
let away: boolean
const asked: ReplayQuery[] = []
let hang: ((signal: AbortSignal) => void) | null
let server: Server
const url = (path: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`

beforeAll(async () => {
  const { routes } = lakeExtension({
    serving: {
      readVanDay: async (given: Scope, van: string) => (given.kind === 'limited' && van !== 'v' ? null : { ...ROWS, day: DAY }),
      readTrack: async () => [[2.5, 41.5, DAY.startMs + 7_000]],
      readRegister: async (given: Scope) => ({
        depots: [{ id: 'girona', name: 'Girona' }],
        registered: (given.kind === 'all' ? ['w', 'v'] : ['v']).map((van) => ({ van, name: van, plate: null, depotId: 'girona' })),
      }),
      readOutages: async () => ({ outages: [] }),
    } as never,
    lake: {
      vanDay: async ({ van, fromMs, toMs }) => {
        if (away) throw new LakeTroubleError({ kind: 'not-installed', says: 'install it' })
        return encodePacked({ van, fromMs, toMs, source: 'lake', why: null }, [
          Int32Array.of(1),
          Int32Array.of(2),
          Int32Array.of(3),
          Int32Array.of(4),
        ])
      },
      replay: async (query, signal) => {
        asked.push(query)
        if (away) throw new LakeTroubleError({ kind: 'not-installed', says: 'install it' })
        if (hang !== null) {
          hang(signal)
          await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))))
        }
        return encodePacked({ fromMs: query.fromMs, vans: [], places: [] }, [])
      },
    },
    state: {
      feed: () => ({ partitions: [{ partition: 3, progressMs: 9, watermarkMs: 4, newestHeartbeatMs: 9, newestRecordMs: 9 }] }),
      trail: () => ({ van: 'v', points: [[2, 41, NOW - 1_000]] }),
      nextOffsets: () => new Map([[3, 10]]),
      newestOf: () => [{ van: 'v', eventMs: 9 }],
      trackFor: (_scope: unknown, _van: string, bytes: Uint8Array) => bytes,
      replayFor: (_scope: unknown, bytes: Uint8Array) => bytes,
    } as never,
    endOffsets: () => new Map([[3, 12]]),
    rules: DEFAULT_POSITIONS_SETTINGS,
    outageAfterMs: 60_000,
    nowMs: () => NOW,
  })
  server = createServer((request, response) => {
    keepSession(request, sessionFor('Marta', 'dispatcher', scope))
    const path = new URL(request.url ?? '', 'http://panel')
    Promise.resolve(routes.get(path.pathname)?.GET?.(request, response, path)).catch((error: unknown) => {
      const refusal = error instanceof Refusal ? error : new Refusal(500, String(error), '')
      json(response, refusal.status, { error: refusal.message, hint: refusal.hint })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
beforeEach(() => {
  scope = { kind: 'all' }
  away = false
  hang = null
  asked.length = 0
})
const track = async (path: string) => decodePacked<VanTrackHeader>(await (await fetch(url(path))).arrayBuffer())

describe('a day of a van', () => {
  it('has what is stored, how far its partition has come, and while it goes on what was heard', async () => {
    const view = (await (await fetch(url('/api/van-day?van=v'))).json()) as VanDayView
    expect(view).toMatchObject({ nowMs: NOW, day: DAY, live: [[2, 41, NOW - 1_000]], rules: { delayMs: 45_000, outageAfterMs: 60_000 } })
    expect(view.progress).toEqual({
      feed: expect.objectContaining({ partition: 3, watermarkMs: 4 }),
      behindRecords: 2,
      newestVans: [{ van: 'v', eventMs: 9 }],
    })
  })

  it('is refused to who may not see the van, the track too', async () => {
    scope = GIRONA
    for (const path of ['/api/van-day', '/api/van-day/track']) {
      expect((await fetch(url(`${path}?van=w&day=2026-11-24`))).status).toBe(404)
      expect((await fetch(url(`${path}?van=v&day=2026-11-24`))).status).toBe(200)
    }
  })

  it.each(['?van=', '?day=2026-11-24', '?van=v&day=2026-02-31', '?van=v&day=today'])('%s is refused', async (query) => {
    for (const path of ['/api/van-day', '/api/van-day/track']) expect((await fetch(url(path + query))).status).toBe(400)
  })

  it('has the track of the lake, and without one that of the store, with the reason', async () => {
    expect((await track('/api/van-day/track?van=v&day=2026-11-23')).columns.map((column) => column[0])).toEqual([1, 2, 3, 4])
    away = true
    const { header, columns } = await track('/api/van-day/track?van=v&day=2026-11-22')
    expect(header).toMatchObject({ source: 'store', why: { kind: 'not-installed', says: 'install it' } })
    expect(columns[1]?.[0]).toBe(41_500_000)
    expect(columns[3]?.[0]).toBe(UNKNOWN_INT32)
  })
})

describe('an hour of the fleet', () => {
  const hour = (n: number) => `/api/replay/hour?from=${DAY.startMs + n * HOUR}`

  it('is asked once for the vans of the scope, and of others for theirs', async () => {
    for (const _ of [1, 2]) expect((await fetch(url(hour(1)))).status).toBe(200)
    expect(asked.map(({ vans }) => vans)).toEqual([null])
    scope = GIRONA
    await fetch(url(hour(1)))
    expect(asked.map(({ vans }) => vans)).toEqual([null, ['v']])
  })

  it('is given up when who asked has gone', async () => {
    const abort = new AbortController()
    const hanging = new Promise<AbortSignal>((resolve) => {
      hang = resolve
    })
    const answer = fetch(url(hour(2)), { signal: abort.signal }).catch(() => 'gone')
    const signal = await hanging
    abort.abort()
    expect(await answer).toBe('gone')
    await expect.poll(() => signal.aborted, { timeout: 10_000 }).toBe(true)
  })

  it('says what to install', async () => {
    away = true
    const response = await fetch(url(hour(3)))
    expect(response.status).toBe(503)
    expect(await response.json()).toMatchObject({ error: 'install it', hint: expect.stringContaining('docs/lake.md') })
  })

  it.each(['/api/replay/hour', `/api/replay/hour?from=${NOW + 1}`, '/api/replay?from=0&to=0', `/api/replay?from=0&to=${30 * HOUR}`])(
    '%s is refused',
    async (path) => {
      expect((await fetch(url(path))).status).toBe(400)
    },
  )

  it('comes with the register and our outages', async () => {
    const view = (await (await fetch(url(`/api/replay?from=${DAY.startMs}&to=${DAY.endMs}`))).json()) as ReplayView
    expect(view).toEqual({ nowMs: NOW, vans: ['w', 'v'].map((van) => ({ van, name: van, plate: null, depot: 'Girona' })), outages: [] })
  })
})

describe('limits', () => {
  it('keep the first and the last point', () => {
    expect(evenly(3, 10)).toEqual([0, 1, 2])
    const kept = evenly(1_000, 10)
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([10, 0, 999])
  })

  it('make samples longer when there are many vans', () => {
    const limits = { points: 50_000, queryMs: 1, sampleMs: 15_000 }
    expect([140, 200, 1_000, 10_000].map((vans) => sampleFor(limits, vans))).toEqual([15_000, 15_000, 72_000, 720_000])
  })
})
