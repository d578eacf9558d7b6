import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AcknowledgementView, Scope } from '@km0/contracts'
import { Counter, closeServer, Gauge, listen, type Registry } from '@km0/runtime'
import { Server as SocketServer } from 'socket.io'
import { BODY_LIMITS, type BodyLimits, checkHost, checkOrigin, limitBody, Refusal } from './guard.ts'
import type { MaskingState } from './masking/masking-state.ts'
import { findCause } from './outage-cause.ts'
import { outagesRoutes } from './outages-rest.ts'
import { panelHealth } from './panel-health.ts'
import { PanelHub, type PanelSockets } from './panel-hub.ts'
import type { PanelSource } from './panel-source.ts'
import { ProgramsHealth } from './programs-health.ts'
import { createRest, type Routes } from './rest.ts'
import { securityHeaders, tellNonce } from './security-headers.ts'
import { addressOf } from './sign-in/address.ts'
import { Door, type DoorOptions } from './sign-in/door.ts'
import { PageGuard } from './sign-in/page-guard.ts'
import { keepSession, type Sessions } from './sign-in/session.ts'
import { SessionWatch } from './sign-in/session-watch.ts'
import { guardSockets } from './sign-in/socket-guard.ts'

export type PageHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** What another feature adds to the server: routes of REST, and where it is live a namespace of the socket. */
export interface PanelExtension {
  readonly routes: Routes
  attach?(sockets: PanelSockets): void
  stop?(): void
}

export interface PanelServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Names besides numbers and `localhost` under which the panel is reached. */
  readonly allowedNames: readonly string[]
  readonly state: MaskingState
  readonly source: PanelSource
  readonly metrics: Registry
  /** Health addresses of the platform's other programs, by name. */
  readonly programs?: ReadonlyMap<string, string>
  readonly extensions?: readonly PanelExtension[]
  readonly signIn: PanelSignIn
  /** Address of what the customer brings to the map; null for none, and then nothing may be loaded from elsewhere. */
  readonly mapStyleUrl: string | null
  /** By default DOOR_LIMITS. */
  readonly limits?: DoorLimits
  /** Makes what answers everything that is neither /api nor the socket. `loaded` resolves when what is stored has been read. */
  readonly pages: (server: Server, loaded: Promise<void>) => Promise<PageHandler>
  readonly onError: (error: unknown, what: string) => void
  readonly machineNowMs?: () => number
  /** How often browsers are told what changed, and where vans have moved; for measurements. */
  readonly tickMs?: number | undefined
  readonly batchMs?: number | undefined
}

/** How people, screens and programs come in. */
export interface PanelSignIn {
  readonly sessions: Sessions
  readonly audit: DoorOptions['audit']
  /** Requests a minute that one token may make. Default 600. */
  readonly tokenRequestsPerMinute?: number
  /** How often the sessions of open sockets are looked at. Default 5 s. */
  readonly socketCheckMs?: number
  /** A proxy of ours stands in front: the last address of X-Forwarded-For is the sender's. */
  readonly behindProxy?: boolean
}

export interface DoorLimits extends BodyLimits {
  /** Of a person or a wall screen, all its pages together. */
  readonly sessionRequestsPerMinute: number
  /** What a browser may send on a socket: one word. */
  readonly socketMessageMaxBytes: number
  /** For so long browsers come by https alone; 0: not told. */
  readonly hstsSeconds: number
}

export const DOOR_LIMITS: DoorLimits = { ...BODY_LIMITS, sessionRequestsPerMinute: 3_000, socketMessageMaxBytes: 4_096, hstsSeconds: 0 }

const TOKEN_REQUESTS_PER_MINUTE = 600
const SOCKET_CHECK_MS = 5_000

export interface PanelServer {
  readonly port: number
  close(): Promise<void>
}

/** One process, one port: pages, REST and the socket. REST and the socket answer first. Resolves when the pages do too; what is stored may still be on its way. */
export async function startPanelServer(options: PanelServerOptions): Promise<PanelServer> {
  const machineNowMs = options.machineNowMs ?? Date.now
  const { state, extensions = [], signIn, limits = DOOR_LIMITS } = options
  const startedMs = performance.now()
  let loaded = false

  const server = createServer()
  const sockets: PanelSockets = new SocketServer(server, {
    serveClient: false,
    maxHttpBufferSize: limits.socketMessageMaxBytes,
    perMessageDeflate: { threshold: 16_384 },
    allowRequest: (request, decide) => {
      admit(request, options).then(
        (isOurs) => decide(null, isOurs),
        () => decide('nobody knows who is signed in', false),
      )
    },
  })
  const watch = new SessionWatch({
    sessions: signIn.sessions,
    nowMs: machineNowMs,
    everyMs: signIn.socketCheckMs ?? SOCKET_CHECK_MS,
  })
  guardSockets(sockets as unknown as Parameters<typeof guardSockets>[0], watch)
  const programs = new ProgramsHealth(options.programs ?? new Map())
  state.explainWith((partitions, whole) =>
    findCause(partitions, whole, {
      programs: programs.reports(),
      source: options.source.health(),
      endOffsets: options.source.endOffsets(),
      nextOffsets: state.nextOffsets(),
    }),
  )
  const hub = new PanelHub({ state, sockets, machineNowMs, tickMs: options.tickMs, batchMs: options.batchMs })
  const counted = instruments(options.metrics, state, hub, machineNowMs)
  const door = new Door({
    sessions: signIn.sessions,
    watch,
    audit: signIn.audit,
    nowMs: machineNowMs,
    addressOf: (request) => addressOf(request, signIn.behindProxy ?? false),
    tokenRequestsPerMinute: signIn.tokenRequestsPerMinute ?? TOKEN_REQUESTS_PER_MINUTE,
    sessionRequestsPerMinute: limits.sessionRequestsPerMinute,
    onError: options.onError,
  })
  const pageGuard = new PageGuard(signIn.sessions)
  const rest = createRest({
    door,
    state,
    machineNowMs,
    health: () =>
      panelHealth({
        source: { ...options.source.health(), ...programs.parts() },
        feed: state.feed(machineNowMs()),
        nowMs: state.nowMs(machineNowMs()),
        uptimeMs: performance.now() - startedMs,
        loaded,
        vansHeard: state.vansHeard,
      }),
    metrics: async () => ({ text: await options.metrics.metrics(), contentType: options.metrics.contentType }),
    acknowledge: async (scope: Scope, view: AcknowledgementView) => {
      const stored = await options.source.acknowledge(scope, view)
      if (stored) state.apply({ kind: 'acknowledgement', view })
      return stored
    },
    readTrail: (scope, van, fromMs, toMs) => options.source.readTrail(scope, van, fromMs, toMs),
    routes: new Map([
      ...outagesRoutes({
        read: (scope, fromMs, toMs) => options.source.readOutages(scope, fromMs, toMs),
        nowMs: () => state.nowMs(machineNowMs()),
      }),
      ...extensions.flatMap(({ routes }) => [...routes]),
    ]),
  })

  let havePages: (pages: PageHandler) => void = () => undefined
  const pages = new Promise<PageHandler>((resolve) => {
    havePages = resolve
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if ((request.url ?? '').startsWith('/socket.io/')) return
    answer(request, response).catch((error: unknown) => {
      options.onError(error, 'a request failed')
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' })
      response.end()
    })
  })
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const nonce = randomBytes(16).toString('base64')
    const headers = securityHeaders({ nonce, mapStyleUrl: options.mapStyleUrl, hstsSeconds: limits.hstsSeconds })
    for (const [name, value] of headers) response.setHeader(name, value)
    tellNonce(request.headers, headers)
    limitBody(request, limits)
    try {
      checkHost(request.headers, options.allowedNames)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      response.writeHead(error.status, { 'content-type': 'text/plain; charset=utf-8' })
      response.end(`${error.message}. ${error.hint}\n`)
      return
    }
    if (await rest(request, response)) return
    if (await pageGuard.mayPass(request, response)) await (await pages)(request, response)
  }

  hub.start()
  watch.start()
  for (const extension of extensions) extension.attach?.(sockets)
  programs.start()
  await listen(server, options.host, options.port)
  const loading = options.source
    .start((event) => {
      const news = state.apply(event)
      counted.inc({ kind: event.kind, news: String(news) })
    })
    .then(() => {
      loaded = true
      hub.loaded()
    })
    .catch((error: unknown) => options.onError(error, 'the panel could not read what is stored'))
  havePages(await options.pages(server, loading))

  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      hub.stop()
      watch.stop()
      for (const extension of extensions) extension.stop?.()
      programs.stop()
      await options.source.stop()
      // The transports only: a disconnect packet would tell browsers not to come back.
      sockets.engine.close()
      await closeServer(server)
    },
  }
}

/**
 * A socket is as good as a read of everything, so a page elsewhere may not open one. Whose it is, is found out here, once for all namespaces:
 * the guard refuses it there, where it can be said why. Rejects while nobody knows.
 */
async function admit(request: IncomingMessage, options: PanelServerOptions): Promise<boolean> {
  try {
    checkHost(request.headers, options.allowedNames)
    // Programs that are no browser send no Origin; a browser always does when the page is elsewhere.
    if (request.headers.origin !== undefined) checkOrigin(request.headers)
  } catch {
    return false
  }
  keepSession(request, await options.signIn.sessions.find(request.headers))
  return true
}

function instruments(metrics: Registry, state: MaskingState, hub: PanelHub, machineNowMs: () => number): Counter<'kind' | 'news'> {
  new Gauge({
    name: 'km0_panel_browsers',
    help: 'Browsers connected to the panel.',
    registers: [metrics],
    collect() {
      this.set(hub.connected)
    },
  })
  new Gauge({
    name: 'km0_panel_deaf_partitions',
    help: 'Source partitions of which no heartbeat is known for too long: an outage of ours.',
    registers: [metrics],
    collect() {
      const { trouble, partitions } = state.feed(machineNowMs())
      this.set(trouble === null ? 0 : (trouble.partitions ?? partitions).length)
    },
  })
  new Gauge({
    name: 'km0_panel_vans_heard',
    help: 'Vans of which a point is known.',
    registers: [metrics],
    collect() {
      this.set(state.vansHeard)
    },
  })
  return new Counter({
    name: 'km0_panel_events_total',
    help: 'Events that the panel read, by kind; news=false were known already.',
    labelNames: ['kind', 'news'],
    registers: [metrics],
  })
}
