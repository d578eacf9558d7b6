import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AcknowledgementView, HealthReport, PanelError, Scope, TrailPoint } from '@km0/contracts'
import { z } from 'zod'
import { Refusal, readBody } from './guard.ts'
import { Idempotency } from './idempotency.ts'
import type { MaskingState } from './masking/masking-state.ts'
import type { PanelSource } from './panel-source.ts'
import type { Door } from './sign-in/door.ts'
import { keptSession, sessionOf } from './sign-in/session.ts'
import { TRAIL_MS } from './trails.ts'

export const NOTE_MAX_CHARACTERS = 500

/** The store takes no NUL, and nobody types the others; lines and tabs may be pasted. */
const isControl = (character: string) => character < ' ' && !'\n\r\t'.includes(character)
export const noteText = z
  .string()
  .trim()
  .max(NOTE_MAX_CHARACTERS)
  .refine((note) => ![...note].some(isControl), 'no control characters')

export const acknowledgementBody = z.strictObject({
  van: z.string().min(1).max(64),
  sinceMs: z.number().int().min(0).max(4_102_444_800_000),
  note: noteText,
})

export interface RestOptions {
  /** Passed by every request. */
  readonly door: Pick<Door, 'enter' | 'note'>
  readonly state: MaskingState
  readonly machineNowMs: () => number
  readonly health: () => HealthReport
  /** Prometheus text and its content type. */
  readonly metrics: () => Promise<{ readonly text: string; readonly contentType: string }>
  /** Stores it, then lets everybody know; false when the scope may not see the van. */
  readonly acknowledge: (scope: Scope, view: AcknowledgementView) => Promise<boolean>
  readonly readTrail: PanelSource['readTrail']
  /** Of other features. */
  readonly routes?: Routes
}

export { exportScopeOf, requireEverything, requireRole, sessionOf } from './sign-in/session.ts'

/** Where every program of the platform answers, and where a wall screen comes in. */
const BESIDES_API: ReadonlySet<string> = new Set(['/health', '/metrics', '/paret'])

export type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<void> | void

/** What is answered, by path and method. */
export type Routes = ReadonlyMap<string, Readonly<Record<string, Handler>>>

/** Answers /api/…, /health, /metrics and /paret; resolves to false for any other path, which is then the pages'. */
export function createRest(options: RestOptions): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  const routes = routesOf(options)
  const idempotency = new Idempotency()
  return async (request, response) => {
    const path = request.url ?? '/'
    // `//` is no address at all.
    if (!URL.canParse(path, 'http://panel')) {
      answerError(request, response, new Refusal(400, 'the path cannot be read', 'Ask for /, or for a path that begins with /api/.'))
      return true
    }
    const url = new URL(path, 'http://panel')
    if (!url.pathname.startsWith('/api/') && !BESIDES_API.has(url.pathname)) return false
    try {
      const methods = routes.get(url.pathname)
      if (methods === undefined) throw new Refusal(404, `there is no ${url.pathname}`, `Here are: ${[...routes.keys()].join(', ')}.`)
      const handler = methods[request.method ?? '']
      if (handler === undefined) {
        response.setHeader('allow', Object.keys(methods).join(', '))
        throw new Refusal(405, `${request.method} is not possible here`, `Possible: ${Object.keys(methods).join(', ')}.`)
      }
      await options.door.enter(request, response, url.pathname)
      await idempotency.run(request, response, keptSession(request)?.id ?? '', url.pathname, async () => handler(request, response, url))
      await options.door.note(request, response, url.pathname)
    } catch (error) {
      answerError(request, response, error)
      if (!(error instanceof Refusal)) throw error
    }
    return true
  }
}

function routesOf(options: RestOptions): Map<string, Readonly<Record<string, Handler>>> {
  const { state } = options
  const acknowledge: Handler = async (request, response) => {
    const { scope, operator } = sessionOf(request)
    const command = await readBody(request, acknowledgementBody)
    if (!state.isKnown(command.van) || !state.mayPassVan(scope, command.van)) throw unknownVan(command.van)
    const view: AcknowledgementView = { ...command, actor: operator, atMs: state.nowMs(options.machineNowMs()) }
    if (!(await options.acknowledge(scope, view))) throw unknownVan(command.van)
    json(response, 201, view)
  }
  const trail: Handler = async (request, response, url) => {
    const name = url.searchParams.get('van')
    if (name === null || name === '') throw new Refusal(400, 'which van?', 'Ask for /api/trail?van=NAME.')
    const { scope } = sessionOf(request)
    const van = state.vanNamed(scope, name)
    const heard = van === null ? null : state.trail(scope, van)
    if (van === null || heard === null || !state.isKnown(van)) throw unknownVan(name)
    json(response, 200, { van: heard.van, points: await wholeTrail(options, scope, van, heard.points) })
  }
  const metrics: Handler = async (_request, response) => {
    const { text, contentType } = await options.metrics()
    response.writeHead(200, { 'content-type': contentType })
    response.end(text)
  }
  const health: Handler = (_request, response) => {
    const report = options.health()
    json(response, report.status === 'down' ? 503 : 200, report)
  }
  return new Map<string, Readonly<Record<string, Handler>>>([
    ['/health', { GET: health }],
    ['/api/health', { GET: health }],
    ['/api/panel', { GET: (request, response) => json(response, 200, state.snapshot(sessionOf(request).scope, options.machineNowMs())) }],
    ['/api/trail', { GET: trail }],
    ['/api/acknowledgements', { POST: acknowledge }],
    ['/metrics', { GET: metrics }],
    ...(options.routes ?? []),
  ])
}

/** What was heard, and before it what is stored; without the store, what was heard. */
async function wholeTrail(options: RestOptions, scope: Scope, van: string, heard: readonly TrailPoint[]): Promise<readonly TrailPoint[]> {
  const newestMs = heard.at(-1)?.[2]
  const oldestMs = heard[0]?.[2]
  if (newestMs === undefined || oldestMs === undefined || oldestMs <= newestMs - TRAIL_MS) return heard
  try {
    const stored = await options.readTrail(scope, van, newestMs - TRAIL_MS, oldestMs)
    return [...options.state.pointsFor(scope, van, stored), ...heard]
  } catch {
    return heard
  }
}

function unknownVan(van: string): Refusal {
  return new Refusal(404, `no van ${van} is known`, 'Use the name as GET /api/panel has it.')
}

export function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(JSON.stringify(value))
}

function answerError(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const body: PanelError =
    error instanceof Refusal
      ? { error: error.message, hint: error.hint }
      : { error: 'the command could not be carried out', hint: 'Nothing was stored. Try again; GET /api/health says which part is away.' }
  // The rest of a body that nobody reads would hold the connection.
  if (!request.complete) response.setHeader('connection', 'close')
  json(response, error instanceof Refusal ? error.status : 503, body)
}
