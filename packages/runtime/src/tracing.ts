import { randomBytes } from 'node:crypto'
import { z } from 'zod'

/** One span that is over. Times in ms since 1970; `parent` and `links` are W3C traceparents. */
export interface Span {
  readonly name: string
  readonly startMs: number
  readonly endMs: number
  readonly parent: string | null
  /** Of a batch: the positions in it. A batch has a trace of its own. */
  readonly links?: readonly string[]
  readonly attributes?: Readonly<Record<string, string | number>>
}

export interface Tracer {
  /** Notes a span; it is sent within a second. Returns its own traceparent, under which others can be noted. */
  note(span: Span): string
  /** Whether the next message that carries no trace is to begin one: one in KM0_TRACE_ONE_IN. */
  samples(): boolean
  close(): Promise<void>
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/
const SEND_EVERY_MS = 250
/** Spans that wait for a collector that is away; more are dropped. */
const MAX_WAITING = 2_000
const SEND_WITHIN_MS = 2_000

const environment = z.object({
  /** OTLP/HTTP endpoint, without /v1/traces; absent: nothing is traced. */
  KM0_OTLP_URL: z.url().optional(),
  /** One in so many positions is traced besides those that ask for it; 0: none. */
  KM0_TRACE_ONE_IN: z.coerce.number().int().min(0).default(0),
})

/** Trace and span id of a traceparent; null when it is none. https://www.w3.org/TR/trace-context/ */
export function parseTraceparent(text: string | undefined): { readonly traceId: string; readonly spanId: string } | null {
  const [, traceId, spanId] = TRACEPARENT.exec(text ?? '') ?? []
  return traceId === undefined || spanId === undefined ? null : { traceId, spanId }
}

export function newTraceparent(traceId = randomBytes(16).toString('hex')): string {
  return `00-${traceId}-${randomBytes(8).toString('hex')}-01`
}

/**
 * The tracer of a program, null while KM0_OTLP_URL is not set. `part` is the service's name. A collector that is away is nobody's trouble:
 * spans are dropped. Throws a ZodError when a variable is wrong.
 */
export function openTracer(part: string, variables: Readonly<Record<string, string | undefined>>): Tracer | null {
  const given = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))
  const { KM0_OTLP_URL: url, KM0_TRACE_ONE_IN: oneIn } = environment.parse(given)
  return url === undefined ? null : new OtlpTracer(part, `${url.replace(/\/+$/, '')}/v1/traces`, oneIn)
}

class OtlpTracer implements Tracer {
  readonly #part: string
  readonly #url: string
  readonly #oneIn: number
  readonly #timer: NodeJS.Timeout
  #waiting: object[] = []
  #asked = 0

  constructor(part: string, url: string, oneIn: number) {
    this.#part = part
    this.#url = url
    this.#oneIn = oneIn
    this.#timer = setInterval(() => void this.#send(), SEND_EVERY_MS)
    this.#timer.unref()
  }

  note({ name, startMs, endMs, parent, links = [], attributes = {} }: Span): string {
    const above = parseTraceparent(parent ?? undefined)
    const own = newTraceparent(above?.traceId)
    if (this.#waiting.length < MAX_WAITING)
      this.#waiting.push({
        ...parseTraceparent(own),
        ...(above === null ? {} : { parentSpanId: above.spanId }),
        name,
        kind: 1,
        startTimeUnixNano: nano(startMs),
        endTimeUnixNano: nano(endMs),
        attributes: attributesOf(attributes),
        links: links.flatMap((link) => parseTraceparent(link) ?? []),
      })
    return own
  }

  samples(): boolean {
    if (this.#oneIn === 0) return false
    this.#asked = (this.#asked + 1) % this.#oneIn
    return this.#asked === 0
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#send()
  }

  async #send(): Promise<void> {
    const spans = this.#waiting
    if (spans.length === 0) return
    this.#waiting = []
    const resource = { attributes: attributesOf({ 'service.name': this.#part }) }
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope: { name: 'km0' }, spans }] }] })
    const headers = { 'content-type': 'application/json' }
    await fetch(this.#url, { method: 'POST', headers, body, signal: AbortSignal.timeout(SEND_WITHIN_MS) }).catch(() => undefined)
  }
}

const nano = (ms: number) => String(BigInt(Math.round(ms * 1_000)) * 1_000n)

function attributesOf(given: Readonly<Record<string, string | number>>): object[] {
  return Object.entries(given).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { doubleValue: value } : { stringValue: value },
  }))
}
