import type { IncomingMessage, ServerResponse } from 'node:http'
import { EVENT_KINDS, type EventKind, type PlatformEvent, type Scope } from '@km0/contracts'
import type { DataOut } from '@km0/serving'
import { Refusal } from '../guard.ts'
import { eventOfMaskedKey } from '../masking/masked-views.ts'
import type { MaskingState } from '../masking/masking-state.ts'
import { type Routes, sessionOf } from '../rest.ts'

/** How often the store is asked for new events while somebody listens. */
const LOOK_EVERY_MS = 1_000
/** A comment now and then keeps proxies from ending a quiet stream. */
const HEARTBEAT_MS = 15_000
/** A stream ends after it: whoever comes back passes the door again, and goes on where it was. */
const LIFE_MS = 15 * 60_000
const STREAMS_MAX = 200
const EVENTS_AT_A_TIME = 500

export interface EventStreamOptions {
  readonly store: Pick<DataOut, 'readEvents' | 'findEvent' | 'newestEvent'>
  readonly state: Pick<MaskingState, 'eventFor'>
  readonly onTrouble: (error: unknown) => void
  readonly lookEveryMs?: number
  readonly heartbeatMs?: number
  readonly lifeMs?: number
}

interface Stream {
  readonly response: ServerResponse
  readonly scope: Scope
  readonly kinds: ReadonlySet<EventKind>
  readonly endsAtMs: number
  afterId: number
  writtenAtMs: number
  busy: boolean
}

/**
 * Events as they are found, over server-sent events. The id of each is its natural key: whoever comes back with `Last-Event-ID` gets what came after
 * it, none twice and none left out. A key that is not kept any more gets all that are kept: rather once too often than never.
 */
export class EventStreams {
  readonly #options: EventStreamOptions
  readonly #streams = new Set<Stream>()
  #timer: NodeJS.Timeout | undefined
  #looking = false

  constructor(options: EventStreamOptions) {
    this.#options = options
  }

  get routes(): Routes {
    return new Map([['/api/events', { GET: (request, response, url) => this.#open(request, response, url) }]])
  }

  get count(): number {
    return this.#streams.size
  }

  async #open(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { scope } = sessionOf(request)
    const kinds = kindsOf(url.searchParams.get('kinds'))
    if (this.#streams.size >= STREAMS_MAX)
      throw new Refusal(503, 'many listen already', 'Close streams that nobody reads, or come back later.')
    const afterId = await this.#placeOf(
      scope,
      request.headers['last-event-id']?.toString() ?? url.searchParams.get('after'),
      url.searchParams.get('since'),
    )
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Proxies that gather answers would hold events back.
      'x-accel-buffering': 'no',
    })
    response.write('retry: 2000\n\n')
    const nowMs = performance.now()
    const endsAtMs = nowMs + (this.#options.lifeMs ?? LIFE_MS)
    const stream: Stream = { response, scope, kinds, endsAtMs, afterId, writtenAtMs: nowMs, busy: false }
    this.#streams.add(stream)
    response.on('close', () => this.#forget(stream))
    this.#timer ??= setInterval(() => void this.#look(), this.#options.lookEveryMs ?? LOOK_EVERY_MS)
    void this.#look()
  }

  async #placeOf(scope: Scope, key: string | null, since: string | null): Promise<number> {
    const { store } = this.#options
    if (key !== null && key !== '') return eventOfMaskedKey(decoded(key)) ?? (await store.findEvent(scope, decoded(key))) ?? 0
    if (since === null) return store.newestEvent()
    if (!/^\d{1,13}$/.test(since))
      throw new Refusal(400, 'since is no time', 'Times are milliseconds since 1970, e.g. since=1789380000000.')
    return store.newestEvent(Number(since))
  }

  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    try {
      const newest = await this.#options.store.newestEvent()
      await Promise.all([...this.#streams].map((stream) => this.#serve(stream, newest)))
    } catch (error) {
      this.#options.onTrouble(error)
    } finally {
      this.#looking = false
    }
  }

  async #serve(stream: Stream, newest: number): Promise<void> {
    // A reader that does not keep up is waited for: what it has not got is in the store.
    if (stream.busy || stream.response.writableNeedDrain) return
    stream.busy = true
    try {
      while (stream.afterId < newest && !stream.response.writableNeedDrain) {
        const events = await this.#options.store.readEvents(stream.scope, { afterId: stream.afterId, limit: EVENTS_AT_A_TIME })
        const text = events
          .filter(({ kind }) => stream.kinds.has(kind))
          .map((event) => written(this.#options.state.eventFor(stream.scope, event)))
          .join('')
        stream.afterId = events.length < EVENTS_AT_A_TIME ? Math.max(newest, events.at(-1)?.id ?? 0) : (events.at(-1)?.id ?? newest)
        if (text !== '') this.#write(stream, text)
      }
    } finally {
      stream.busy = false
    }
    const nowMs = performance.now()
    if (nowMs - stream.writtenAtMs >= (this.#options.heartbeatMs ?? HEARTBEAT_MS)) this.#write(stream, ': here\n\n')
    if (nowMs >= stream.endsAtMs) stream.response.end()
  }

  #write(stream: Stream, text: string): void {
    if (stream.response.writableEnded || stream.response.destroyed) return
    stream.response.write(text)
    stream.writtenAtMs = performance.now()
  }

  #forget(stream: Stream): void {
    this.#streams.delete(stream)
    if (this.#streams.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    for (const { response } of this.#streams) response.end()
  }
}

const written = (event: PlatformEvent) => `id: ${encodeURIComponent(event.key)}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`

function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    throw new Refusal(400, 'Last-Event-ID cannot be read', 'Send the id of an event as the stream had it.')
  }
}

function kindsOf(text: string | null): ReadonlySet<EventKind> {
  if (text === null) return new Set(EVENT_KINDS)
  const kinds = text.split(',')
  const wrong = kinds.find((kind) => !EVENT_KINDS.some((known) => known === kind))
  if (wrong !== undefined) throw new Refusal(400, `"${wrong.slice(0, 40)}" is no kind of event`, `Kinds are ${EVENT_KINDS.join(', ')}.`)
  return new Set(kinds as EventKind[])
}
